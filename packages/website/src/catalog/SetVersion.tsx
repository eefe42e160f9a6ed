import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { Input } from "../ui/Field.tsx"
import { shortSha } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { toast } from "../ui/toast.ts"
import { useKnownVersions } from "./useKnownVersions.ts"
import { wholeOf } from "./wholeVersion.ts"

const VersionWarning = later(() => import("../flow/VersionWarning.tsx"))

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string
  readonly name: string
  readonly version: string | null
  readonly onClose: () => void
}

interface Setting {
  readonly typed: string
  readonly isAsTyped: boolean
  readonly force: boolean
}

/** Sets a version: a short id of a commit that is known for the whole one, unless the person says that it is none. */
const useSetVersion = ({ environment, name, onClose, product, slug, version }: Props) => {
  const [text, setText] = useState(version ?? "")
  const [isAsTyped, setAsTyped] = useState(false)
  const typed = text.trim()
  const queries = useQueryClient()
  const read = useKnownVersions(slug, product)
  const { data: known = [] } = useQuery({
    queryKey: workspaceKey(slug, "releases", product, "known"),
    queryFn: read,
    enabled: typed !== version
  })
  const set = useMutation({
    mutationFn: async ({ force, isAsTyped, typed }: Setting) => {
      const version = isAsTyped ? typed : wholeOf(await read(), typed)
      return client.deployments.update({ params: { slug, product, environment }, payload: { version, force } })
    },
    onSuccess: async ({ version }) => {
      await Promise.all(
        ["deployments", "releases"].map((kind) => queries.invalidateQueries({ queryKey: workspaceKey(slug, kind) }))
      )
      toast({ title: `${name} runs ${version === null ? "an unknown version" : shortSha(version)}` })
      onClose()
    }
  })
  return {
    set,
    text,
    typed,
    /** What is set. */
    shown: isAsTyped ? typed : wholeOf(known, typed),
    type: (next: string) => {
      setText(next)
      setAsTyped(false)
    },
    keepTyped: () => setAsTyped(true),
    submit: (force: boolean) => typed !== "" && set.mutate({ typed, isAsTyped, force })
  }
}

interface ShortProps {
  readonly typed: string
  readonly whole: string
  readonly onKeep: () => void
}

const ShortId = ({ onKeep, typed, whole }: ShortProps) => (
  <div className="mt-3 flex flex-wrap items-center gap-2" role="status">
    <p className="min-w-0 flex-1">
      {typed} is short for <span className="font-mono text-xs break-all">{whole}</span>, which is set.
    </p>
    <Button onClick={onKeep}>Set it as typed</Button>
  </div>
)

/** Says which version runs there now. */
const SetVersion = (props: Props) => {
  const { environment, name, onClose, product, slug, version } = props
  const { keepTyped, set, shown, submit, text, type, typed } = useSetVersion(props)
  const failure = set.error === null ? undefined : failureOf(set.error)
  const isLocked = failure?.reason === "run_in_progress"
  return (
    <Dialog
      actions={
        <>
          <Cancel />
          {isLocked && (
            <Button isBusy={set.isPending} look="danger" onClick={() => submit(true)}>
              Set it all the same
            </Button>
          )}
          <Button isBusy={set.isPending} look="primary" onClick={() => submit(false)}>
            Set version
          </Button>
        </>
      }
      description="This records what runs; it deploys nothing. A new version is a new release."
      onClose={onClose}
      title={`Version of ${name}`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit(false)
        }}
      >
        <Input
          autoFocus
          isMono
          issue={issueAt(set.error, "version") ?? (failure === undefined ? undefined : failure.message)}
          label="Version"
          maxLength={200}
          onChange={(event) => type(event.target.value)}
          spellCheck={false}
          value={text}
        />
        {shown !== typed && <ShortId onKeep={keepTyped} typed={typed} whole={shown} />}
        {typed !== "" && shown !== version && (
          <VersionWarning environment={environment} product={product} slug={slug} version={shown} />
        )}
      </form>
    </Dialog>
  )
}

export default SetVersion
