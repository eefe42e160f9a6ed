import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { type Failure, failureOf } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { ApprovalNote } from "../catalog/ApprovalNote.tsx"
import { inWordsOf, isUnapproved } from "../catalog/unapproved.ts"
import { Button } from "../ui/Button.tsx"
import { counted } from "../ui/format.ts"
import { toast } from "../ui/toast.ts"
import { useLeaving } from "../ui/useLeaving.ts"
import { afterWrite, bySecret, type Draft, type Drafts, overConflicts } from "./drafts.ts"
import { inTurn } from "./inTurn.ts"
import { writing } from "./queries.ts"

interface Props {
  readonly slug: string
  readonly drafts: Drafts
  readonly onDrafts: (drafts: Drafts) => void
  readonly onClose: () => void
}

const byEnvironment = <Value,>(drafts: ReadonlyArray<Draft>, valueOf: (draft: Draft) => Value) =>
  Object.fromEntries(drafts.map((draft) => [draft.cell.environment.slug, valueOf(draft)]))

/** Writes the cells, a secret at a time: where somebody else was first, none of its cells is written. */
const useBatch = ({ drafts, onDrafts, slug }: Props) => {
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<Failure>()
  const write = async (sent: Drafts) => {
    setBusy(true)
    const outcomes = await inTurn(bySecret(sent), async ({ drafts, secret }) => {
      const answer = await client.safe.vault.update({
        params: { slug, productSlug: secret.product.slug, name: secret.name },
        query: writing,
        payload: {
          values: byEnvironment(drafts, ({ value }) => value),
          expectedVersions: byEnvironment(drafts, ({ version }) => version)
        }
      })
      return { secret, failure: answer.ok ? undefined : failureOf(answer.error) }
    })
    await queries.invalidateQueries({ queryKey: workspaceKey(slug, "vault") })
    const written = new Set(outcomes.flatMap(({ failure, secret }) => (failure === undefined ? [secret.id] : [])))
    const conflicts = new Map(outcomes.map(({ failure, secret }) => [secret.id, failure?.current ?? {}]))
    const left = afterWrite(sent, written, conflicts)
    setBusy(false)
    setRefusal(outcomes.find(({ failure }) => failure !== undefined && failure.reason !== "version_mismatch")?.failure)
    if (sent.size > left.size) toast({ title: `${counted(sent.size - left.size, "cell")} written` })
    onDrafts(left)
  }
  return { isBusy, refusal, write: () => write(drafts), overwrite: () => write(overConflicts(drafts)) }
}

/** Asks before new values are lost, also where the page is left. */
const useDiscard = ({ drafts, onClose }: Props) => {
  const hasDrafts = drafts.size > 0
  const { isAsking, leave, stay } = useLeaving(hasDrafts)
  const [isClosing, setClosing] = useState(false)
  return {
    isAsking: hasDrafts && (isClosing || isAsking),
    ask: () => (hasDrafts ? setClosing(true) : onClose()),
    reply: (isDiscarded: boolean) => {
      setClosing(false)
      if (!isDiscarded) stay()
      else if (isAsking) leave()
      else onClose()
    }
  }
}

interface LossProps {
  readonly cells: number
  readonly reply: (isDiscarded: boolean) => void
}

const Loss = ({ cells, reply }: LossProps) => (
  <>
    <span className="min-w-40 flex-1" role="alert">
      Discard the new {cells === 1 ? "value of 1 cell" : `values of ${counted(cells, "cell")}`}?
    </span>
    <Button autoFocus onClick={() => reply(false)}>
      Keep editing
    </Button>
    <Button look="danger" onClick={() => reply(true)}>
      Discard
    </Button>
  </>
)

/** How many cells have a new value, and what becomes of them. */
const BatchBar = (props: Props) => {
  const { drafts } = props
  const { isBusy, overwrite, refusal, write } = useBatch(props)
  const { ask, isAsking, reply } = useDiscard(props)
  const environments = [...new Set([...drafts.values()].map(({ cell }) => cell.environment.slug))]
  // Of several, the server does not say which.
  const isTold = environments.length === 1 && isUnapproved(refusal)
  const conflicts = [...drafts.values()].filter(({ conflict }) => conflict !== undefined)
  return (
    <section
      aria-label="Changed cells"
      className="border-border bg-raised flex flex-wrap items-center gap-2 border-t px-4 py-2"
      data-toasts-above
    >
      {isAsking ? (
        <Loss cells={drafts.size} reply={reply} />
      ) : (
        <>
          {environments.map((environment) => (
            <div className="min-w-0 basis-full empty:hidden" key={environment}>
              <ApprovalNote environment={environment} isRefused={isTold} refusal="" slug={props.slug} />
            </div>
          ))}
          <span className="min-w-40 flex-1 max-sm:basis-full" role="status">
            {drafts.size === 0 ? (
              <>
                Choose a cell and type its new value<span className="pointer-coarse:hidden">, Delete clears it</span>.
                Nothing is sent before you say so.
              </>
            ) : (
              `${counted(drafts.size, "cell")} changed, not written yet`
            )}
          </span>
          {conflicts.length > 0 && (
            <span className="text-warning min-w-0 basis-full" role="alert">
              Somebody else was first:{" "}
              {conflicts
                .map(
                  ({ cell, conflict, secret }) => `${secret.name} in ${cell.environment.name} is at version ${conflict}`
                )
                .join(", ")}
              . What you typed is still here.
            </span>
          )}
          {refusal !== undefined && !isTold && (
            <span className="text-danger min-w-0 basis-full" role="alert">
              {
                failureOf(inWordsOf(refusal, "Not all is written: some of it needs the approval of another admin."))
                  .message
              }
            </span>
          )}
          <Button onClick={ask}>{drafts.size === 0 ? "Done" : "Discard"}</Button>
          {conflicts.length > 0 && (
            <Button isBusy={isBusy} onClick={() => void overwrite()}>
              Write over them
            </Button>
          )}
          <Button disabled={drafts.size === 0} isBusy={isBusy} look="primary" onClick={() => void write()}>
            Write {counted(drafts.size, "cell")}
          </Button>
        </>
      )}
    </section>
  )
}

export default BatchBar
