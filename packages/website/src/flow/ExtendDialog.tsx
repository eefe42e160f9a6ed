import type { ListedMute } from "@delivery/domain/flow/Mute"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { counted } from "../ui/format.ts"
import { changedByMutes } from "./changedByMutes.ts"
import { differenceOf, isLatest, momentOf } from "./mute.ts"
import { UntilField, useUntil } from "./UntilField.tsx"

interface Props {
  readonly slug: string
  readonly ticket: string
  readonly mute: Pick<ListedMute, "product" | "cases" | "overdue" | "until">
  readonly onClose: () => void
}

/** When it ends so far, and when it will. */
const Ends = ({ from, isOver, to }: { readonly from: string; readonly isOver: boolean; readonly to?: string }) => (
  <p aria-live="polite">
    {isOver ? "Ended" : "Muted until"} <time dateTime={from}>{momentOf(from)}</time>
    {isOver ? "" : " so far"}
    {to !== undefined && (
      <>
        , then until{" "}
        <strong className="font-semibold">
          <time dateTime={to}>{momentOf(to)}</time>
        </strong>
        {!isOver && `: ${differenceOf(from, to) ?? "as before"}`}
      </>
    )}
    .{to !== undefined && isLatest(to, Date.now()) && " It may not end later: 90 days from now are the most."}
  </p>
)

/** Mutes what a ticket mutes, or has muted, until another time. */
const ExtendDialog = ({ mute: { cases, overdue, product, until: from }, onClose, slug, ticket }: Props) => {
  const until = useUntil(from)
  const end = until.until()
  const isOver = overdue || !until.isMore
  const isShorter = !isOver && end !== undefined && Date.parse(end) < Date.parse(from)
  const extend = useAction({
    act: ({ to }: { readonly to: string; readonly was: string | undefined }) =>
      client.mutes.set({ params: { slug, ticket }, payload: { product, cases: [...cases], until: to } }),
    changes: changedByMutes.map((kind) => workspaceKey(slug, kind)),
    done: (_, { to, was }) => ({
      title: `${ticket} mutes ${counted(cases.length, "test")} until ${momentOf(to)}`,
      ...(was === undefined ? {} : { detail: `${differenceOf(was, to)} than before.` }),
      tone: "success"
    }),
    onDone: onClose
  })
  return (
    <FormDialog
      action={isOver ? "Mute again" : isShorter ? "Shorten" : "Extend"}
      description={`${counted(cases.length, "test")} of ${product}, by ${ticket}.`}
      doing={{
        ...extend,
        mutate: () => end !== undefined && extend.mutate({ to: end, was: isOver ? undefined : from })
      }}
      fields={["until"]}
      missing={end === undefined ? ["a day to come"] : end === from ? ["another end"] : []}
      onClose={onClose}
      title={isOver ? "Mute again" : "Extend the mute"}
    >
      <UntilField issue={issueAt(extend.error, "until")} value={until} />
      <Ends from={from} isOver={isOver} {...(end === undefined ? {} : { to: end })} />
    </FormDialog>
  )
}

export default ExtendDialog
