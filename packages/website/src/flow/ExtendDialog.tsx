import type { ListedMute } from "@delivery/domain/flow/Mute"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { useProductName } from "../catalog/useProductName.ts"
import { counted } from "../ui/format.ts"
import { changedByMutes } from "./changedByMutes.ts"
import { differenceOf, expectedOf, extendedOf, isLatest, momentOf } from "./mute.ts"
import { mutesQuery } from "./queries.ts"
import { UntilField, useUntil } from "./UntilField.tsx"

interface Props {
  readonly slug: string
  readonly ticket: string
  readonly mute: ListedMute
  readonly onClose: () => void
}

interface EndsProps {
  readonly from: string
  readonly isOver: boolean
  readonly isUnmuted: boolean
  readonly ticket: string
  readonly to?: string
}

/** When it ends so far, and when it will. */
const Ends = ({ from, isOver, isUnmuted, ticket, to }: EndsProps) => (
  <p aria-live="polite">
    {isUnmuted ? (
      `Somebody has unmuted them: ${ticket} mutes none of them any more`
    ) : (
      <>
        {isOver ? "Ended" : "Muted until"} <time dateTime={from}>{momentOf(from)}</time>
        {isOver ? "" : " so far"}
      </>
    )}
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

/** What is muted now: somebody else may extend, change or end it while the dialog is open. */
const useExtended = ({ mute, slug }: Pick<Props, "mute" | "slug">) => {
  const [first] = useState(mute)
  const { data } = useQuery(mutesQuery(slug))
  return extendedOf(data?.mutes ?? [first], first)
}

/** Mutes what a ticket mutes, or has muted, until another time: as it is now, or not at all. */
const ExtendDialog = ({ onClose, slug, ticket, ...props }: Props) => {
  const { cases, current, mute } = useExtended({ slug, mute: props.mute })
  const { overdue, product, until: from } = mute
  const isUnmuted = !overdue && current === undefined
  const until = useUntil(current?.until ?? (isUnmuted ? undefined : from))
  const productName = useProductName(slug)
  const end = until.until()
  const isOver = overdue || isUnmuted || !until.isMore
  const isShorter = !isOver && end !== undefined && Date.parse(end) < Date.parse(from)
  const extend = useAction({
    act: ({ to }: { readonly to: string; readonly was: string | undefined }) =>
      client.mutes.set({
        params: { slug, ticket },
        payload: { product, cases: [...cases], until: to, expected: expectedOf(current) }
      }),
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
      description={`${counted(cases.length, "test")} of ${productName(product)}, by ${ticket}.`}
      doing={{
        ...extend,
        mutate: () => end !== undefined && extend.mutate({ to: end, was: isOver ? undefined : from })
      }}
      fields={["until"]}
      missing={end === undefined ? ["a day to come"] : !isOver && end === from ? ["another end"] : []}
      onClose={onClose}
      title={isOver ? "Mute again" : "Extend the mute"}
    >
      <UntilField issue={issueAt(extend.error, "until")} value={until} />
      <Ends
        from={from}
        isOver={isOver}
        isUnmuted={isUnmuted}
        ticket={ticket}
        {...(end === undefined ? {} : { to: end })}
      />
    </FormDialog>
  )
}

export default ExtendDialog
