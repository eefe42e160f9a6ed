import type { Environment } from "@delivery/domain/catalog/Environment"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { approvalsQuery } from "./approvalsQuery.ts"

interface Props {
  readonly slug: string
  readonly environment: Environment
  readonly onClose: () => void
}

const times = [
  { value: "5", label: "5 minutes" },
  { value: "30", label: "30 minutes" },
  { value: "120", label: "2 hours" },
  { value: "480", label: "8 hours" }
] as const

/** Asks for a second person's approval to write in an environment. */
const AskApproval = ({ environment, onClose, slug }: Props) => {
  const [reason, setReason] = useState("")
  const [minutes, setMinutes] = useState<(typeof times)[number]["value"]>("30")
  const ask = useAction({
    act: () =>
      client.approvals.request({
        params: { slug },
        payload: { environment: environment.id, reason: reason.trim(), minutes: Number(minutes) }
      }),
    changes: [approvalsQuery(slug, environment.slug).queryKey],
    done: () => ({
      title: "You have asked for an approval",
      detail: "It waits for another admin, and lapses after 24 hours."
    }),
    onDone: onClose
  })
  return (
    <FormDialog
      action="Ask"
      description="Once another admin has approved it, you alone may write here for this time."
      doing={ask}
      fields={["reason"]}
      isReady={reason.trim() !== ""}
      onClose={onClose}
      title={`Ask to write in ${environment.name}`}
    >
      <Input
        autoComplete="off"
        hint="Whoever approves reads it"
        issue={issueAt(ask.error, "reason")}
        label="Reason"
        maxLength={500}
        onChange={(event) => setReason(event.target.value)}
        value={reason}
      />
      <Select label="For" onChange={setMinutes} options={times} value={minutes} />
    </FormDialog>
  )
}

export default AskApproval
