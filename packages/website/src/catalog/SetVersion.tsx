import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { wholeOf } from "@delivery/domain/catalog/WholeVersion"
import type { Readiness } from "@delivery/domain/flow/Readiness"
import { type KeyboardEvent, useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { readAgain } from "../api/readAgain.ts"
import { readinessQuery } from "../flow/readiness.ts"
import { Button } from "../ui/Button.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { Input } from "../ui/Field.tsx"
import { shortSha } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { toast } from "../ui/toast.ts"
import { useKnownVersions } from "./useKnownVersions.ts"

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
  /** That it is recorded whatever readiness says, which has been shown. */
  readonly isConfirmed: boolean
  readonly reason: string
}

/** A version of which readiness has said something before it is recorded. */
interface Doubted {
  readonly version: string
  readonly readiness: Readiness
}

const isBlocked = ({ reasons }: Readiness): boolean => reasons.some(({ severity }) => severity === "block")

const isDoubtful = (readiness: Readiness): boolean =>
  isBlocked(readiness) || readiness.reasons.some(({ kind }) => kind === "version_unknown")

/**
 * Sets a version: a short id of a commit that is known for the whole one, unless the person says that it is none. What readiness has
 * against it is answered first, however quickly somebody presses Enter, and it is then recorded by a step of its own.
 */
const useSetVersion = ({ environment, name, onClose, product, slug, version }: Props) => {
  const [text, setText] = useState(version ?? "")
  const [isAsTyped, setAsTyped] = useState(false)
  const [reason, setReason] = useState("")
  const [doubted, setDoubted] = useState<Doubted>()
  // What runs there as far as the person was told.
  const [opened] = useState(version)
  const [told, setTold] = useState(version)
  const typed = text.trim()
  const queries = useQueryClient()
  const read = useKnownVersions(slug, product)
  const { data: known = [] } = useQuery({
    queryKey: workspaceKey(slug, "releases", product, "known"),
    queryFn: read,
    enabled: typed !== version
  })
  const set = useMutation({
    mutationFn: async ({ force, isAsTyped, isConfirmed, reason, typed }: Setting) => {
      const { version: now } = await client.deployments.get({ params: { slug, product, environment } })
      const next = isAsTyped ? typed : wholeOf(await read(), typed)
      const readiness =
        isConfirmed || next === now
          ? undefined
          : await readAgain(queries, readinessQuery(slug, product, environment, next))
      const doubt = readiness !== undefined && isDoubtful(readiness) ? readiness : undefined
      if (now !== told || doubt !== undefined) return { version: next, asked: { now, doubt } }
      await client.deployments.update({
        params: { slug, product, environment },
        payload: { version: next, force, ...(reason === "" ? {} : { override: reason }) }
      })
      return { version: next, asked: undefined }
    },
    onSuccess: async ({ asked, version }) => {
      if (asked !== undefined) {
        setTold(asked.now)
        if (asked.doubt !== undefined) setDoubted({ version, readiness: asked.doubt })
        return
      }
      await Promise.all(
        ["deployments", "releases"].map((kind) => queries.invalidateQueries({ queryKey: workspaceKey(slug, kind) }))
      )
      toast({ title: `${name} runs ${shortSha(version)}` })
      onClose()
    }
  })
  const shown = isAsTyped ? typed : wholeOf(known, typed)
  const doubt = doubted?.version === shown ? doubted.readiness : undefined
  const isAsked = doubt !== undefined && isBlocked(doubt)
  return {
    set,
    text,
    typed,
    told,
    isOvertaken: told !== opened,
    reason,
    setReason,
    /** What is set. */
    shown,
    /** What readiness has against it, once it was to be set. */
    doubt,
    /** Whether a reason is to be given for it. */
    isAsked,
    type: (next: string) => {
      setText(next)
      setAsTyped(false)
    },
    keepTyped: () => setAsTyped(true),
    submit: ({ force = false, isConfirmed = false } = {}) => {
      if (typed === "" || (isConfirmed && isAsked && reason.trim() === "")) return
      set.mutate({ typed, isAsTyped, force, isConfirmed, reason: isConfirmed && isAsked ? reason.trim() : "" })
    }
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
      {typed} is short for <span className="font-mono text-xs break-all">{whole}</span>, which will be set.
    </p>
    <Button onClick={onKeep}>Set it as typed</Button>
  </div>
)

/** As in every other dialog, that is Enter where the keyboard is in a field of one line. */
const submitByKeys = (event: KeyboardEvent<HTMLFormElement>) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.requestSubmit()
}

/** The field of the version: Enter asks, and never takes the second step. */
const VersionField = ({ setting }: { readonly setting: ReturnType<typeof useSetVersion> }) => {
  const { doubt, isOvertaken, keepTyped, set, shown, submit, text, type, typed } = setting
  const failure = set.error === null ? undefined : failureOf(set.error)
  return (
    <form
      onKeyDown={submitByKeys}
      onSubmit={(event) => {
        event.preventDefault()
        if (doubt === undefined && !isOvertaken) submit()
      }}
    >
      <Input
        autoFocus
        isMono
        issue={issueAt(set.error, "version") ?? failure?.message}
        label="Version"
        maxLength={200}
        onChange={(event) => type(event.target.value)}
        // What runs there is seldom what is to run there next.
        onFocus={(event) => event.target.select()}
        spellCheck={false}
        value={text}
      />
      {shown !== typed && <ShortId onKeep={keepTyped} typed={typed} whole={shown} />}
    </form>
  )
}

const ReasonField = ({ setting }: { readonly setting: ReturnType<typeof useSetVersion> }) => (
  <form
    className="mt-3"
    onKeyDown={submitByKeys}
    onSubmit={(event) => {
      event.preventDefault()
      setting.submit({ isConfirmed: true })
    }}
  >
    <Input
      autoFocus
      hint="The release tells it as its override."
      issue={issueAt(setting.set.error, "override")}
      label="Why it goes out all the same"
      maxLength={2_000}
      onChange={(event) => setting.setReason(event.target.value)}
      value={setting.reason}
    />
  </form>
)

/** Says which version runs there now. */
const SetVersion = (props: Props) => {
  const { environment, name, onClose, product, slug, version } = props
  const setting = useSetVersion(props)
  const { doubt, isAsked, isOvertaken, reason, set, shown, submit, told, typed } = setting
  const isLocked = set.error !== null && failureOf(set.error).reason === "run_in_progress"
  const isConfirmed = doubt !== undefined
  return (
    <Dialog
      actions={
        <>
          <Cancel />
          {isLocked && (
            <Button isBusy={set.isPending} look="danger" onClick={() => submit({ force: true, isConfirmed })}>
              Set it all the same
            </Button>
          )}
          <Button
            disabled={isAsked && reason.trim() === ""}
            isBusy={set.isPending}
            look={isConfirmed || isOvertaken ? "danger" : "primary"}
            onClick={() => submit({ isConfirmed })}
          >
            {isConfirmed || isOvertaken ? "Record anyway" : "Set version"}
          </Button>
        </>
      }
      description="This records what runs; it deploys nothing. A new version is a new release."
      onClose={onClose}
      title={`Version of ${name}`}
    >
      <VersionField setting={setting} />
      {isOvertaken && (
        <p className="bg-warning-soft text-warning foreign mt-3 rounded-md px-3 py-2 break-words" role="alert">
          Meanwhile {told === null ? "no version" : shortSha(told)} was recorded here. Nothing has been set yet.
        </p>
      )}
      {typed !== "" && shown !== version && (
        <VersionWarning environment={environment} known={doubt} product={product} slug={slug} version={shown} />
      )}
      {isAsked && <ReasonField setting={setting} />}
    </Dialog>
  )
}

export default SetVersion
