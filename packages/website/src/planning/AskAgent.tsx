import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { client, serviceUrl } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useMe } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { TextArea } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import Command from "../ui/Command.tsx"
import { agentsQuery } from "./queries.ts"

interface Props {
  readonly slug: string
  readonly ticket: string
  /** The agent to begin with: the one that is answered. */
  readonly agent?: string | undefined
  readonly onClose: () => void
}

const asks = [
  { value: "build", label: "Build it" },
  { value: "plan", label: "Plan it" },
  { value: "refine", label: "Refine the ticket" },
  { value: "draft", label: "Draft the ticket" }
] as const

type Ask = (typeof asks)[number]["value"]

/** Sends a message about a ticket to an agent. */
const AskAgent = ({ agent: first, onClose, slug, ticket }: Props) => {
  const me = useMe()?.id
  const { data } = useQuery(agentsQuery(slug))
  const all = data?.agents ?? []
  const agents = [...all.filter(({ person }) => person.id === me), ...all.filter(({ person }) => person.id !== me)]
  const [chosen, setAgent] = useState(first)
  const [ask, setAsk] = useState<Ask>("build")
  const [note, setNote] = useState("")
  const agent = chosen ?? agents[0]?.id ?? ""
  const send = useAction({
    act: () =>
      client.messages.send({
        params: { slug },
        payload: { agent, ticket, ask, note: note.trim() === "" ? null : note }
      }),
    changes: [workspaceKey(slug, "trace"), workspaceKey(slug, "notifications")],
    done: (message) => ({ title: `${message.agent.name} was asked`, tone: "success" }),
    onDone: onClose
  })
  if (data !== undefined && agents.length === 0) {
    return (
      <Dialog description="No agent is connected yet. This connects one:" onClose={onClose} title="Ask an agent">
        <Command text={`claude mcp add --transport http delivery ${serviceUrl}/agent/mcp`} />
      </Dialog>
    )
  }
  return (
    <FormDialog
      action="Send"
      doing={send}
      fields={["note"]}
      isReady={agent !== ""}
      onClose={onClose}
      title={`Ask an agent about ${ticket}`}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label="Agent"
          onChange={setAgent}
          options={agents.map(({ id, name, person }) => ({
            value: id,
            label: actorName({ kind: "agent", id, name, person })
          }))}
          value={agent}
        />
        <Select label="To" onChange={setAsk} options={asks} value={ask} />
      </div>
      <TextArea
        autoFocus
        hint="Markdown. The agent also gets the ticket."
        issue={issueAt(send.error, "note")}
        label="Note"
        maxLength={10_000}
        onChange={(event) => setNote(event.target.value)}
        rows={6}
        value={note}
      />
    </FormDialog>
  )
}

export default AskAgent
