import type { ListedMute } from "@delivery/domain/flow/Mute"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { counted } from "../ui/format.ts"
import { changedByMutes } from "./changedByMutes.ts"
import { UntilField, useUntil } from "./UntilField.tsx"

interface Props {
  readonly slug: string
  readonly ticket: string
  readonly mute: Pick<ListedMute, "product" | "cases" | "overdue">
  readonly onClose: () => void
}

/** Mutes what a ticket mutes, or has muted, until another time. */
const ExtendDialog = ({ mute: { cases, overdue, product }, onClose, slug, ticket }: Props) => {
  const until = useUntil()
  const end = until.until()
  const extend = useAction({
    act: (to: string) =>
      client.mutes.set({ params: { slug, ticket }, payload: { product, cases: [...cases], until: to } }),
    changes: changedByMutes.map((kind) => workspaceKey(slug, kind)),
    done: () => ({ title: `${ticket} mutes ${counted(cases.length, "test")} for longer`, tone: "success" }),
    onDone: onClose
  })
  return (
    <FormDialog
      action={overdue ? "Mute again" : "Extend"}
      description={`${counted(cases.length, "test")} of ${product}, by ${ticket}. The time counts from now.`}
      doing={{ ...extend, mutate: () => end !== undefined && extend.mutate(end) }}
      fields={["until"]}
      missing={end === undefined ? ["a day to come"] : []}
      onClose={onClose}
      title={overdue ? "Mute again" : "Extend the mute"}
    >
      <UntilField issue={issueAt(extend.error, "until")} value={until} />
    </FormDialog>
  )
}

export default ExtendDialog
