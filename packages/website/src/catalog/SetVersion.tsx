import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { Input } from "../ui/Field.tsx"
import { later } from "../ui/later.tsx"
import { toast } from "../ui/toast.ts"

const VersionWarning = later(() => import("../flow/VersionWarning.tsx"))

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string
  readonly name: string
  readonly version: string | null
  readonly onClose: () => void
}

/** Says which version runs there now. */
const SetVersion = ({ environment, name, onClose, product, slug, version }: Props) => {
  const [text, setText] = useState(version ?? "")
  const queries = useQueryClient()
  const set = useMutation({
    mutationFn: (payload: { readonly version: string; readonly force: boolean }) =>
      client.deployments.update({ params: { slug, product, environment }, payload }),
    onSuccess: async (_, { version }) => {
      await Promise.all(
        ["deployments", "releases"].map((kind) => queries.invalidateQueries({ queryKey: workspaceKey(slug, kind) }))
      )
      toast({ title: `${name} runs ${version}` })
      onClose()
    }
  })
  const failure = set.error === null ? undefined : failureOf(set.error)
  const isLocked = failure?.reason === "run_in_progress"
  const submit = (force: boolean) => text.trim() !== "" && set.mutate({ version: text.trim(), force })
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
          onChange={(event) => setText(event.target.value)}
          spellCheck={false}
          value={text}
        />
        {text.trim() !== "" && text.trim() !== version && (
          <VersionWarning environment={environment} product={product} slug={slug} version={text.trim()} />
        )}
      </form>
    </Dialog>
  )
}

export default SetVersion
