import { useQuery } from "@tanstack/react-query"
import type { RegisteredAgent } from "@delivery/domain/agents/Agent"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import { useRef, useState } from "react"
import { actorName } from "../api/actors.ts"
import { client, serviceUrl } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useMe } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { TextArea } from "../ui/Field.tsx"
import { counted, formatRelative } from "../ui/format.ts"
import { Select } from "../ui/Select.tsx"
import Command from "../ui/Command.tsx"
import { agentsQuery } from "./queries.ts"

interface Props {
  readonly slug: string
  /** Their identifiers. Each gets a message of its own. */
  readonly tickets: ReadonlyArray<string>
  /** The agent to begin with. */
  readonly agent?: string | undefined
  /** The message whose reply is answered. */
  readonly answered?: AgentMessage
  readonly onClose: () => void
  readonly onSent?: () => void
}

const asks = [
  { value: "build", label: "Build it" },
  { value: "plan", label: "Plan it" },
  { value: "refine", label: "Refine the ticket" },
  { value: "draft", label: "Draft the ticket" }
] as const

type Ask = (typeof asks)[number]["value"]

/** When the agent gets what is sent, and what it can do with it. */
const hintOf = ({ computers, lastSeenAt, live, name, serverUrl }: RegisteredAgent): string => {
  const seen = live
    ? `${name} is live.`
    : lastSeenAt === null
      ? `${name} was never seen.`
      : `${name} was last seen ${formatRelative(new Date(lastSeenAt), new Date())}.`
  const byUrl =
    serverUrl && computers.length === 0 ? " It signed in by URL: it can reply, but not change the ticket." : ""
  return `${seen} It gets the note and the ticket when it next takes its messages.${byUrl}`
}

/** Sends a message about each of some tickets to an agent. */
const AskAgent = ({ agent: first, answered, onClose, onSent, slug, tickets }: Props) => {
  const me = useMe()?.id
  const { data } = useQuery(agentsQuery(slug))
  const all = data?.agents ?? []
  const agents = [...all.filter(({ person }) => person.id === me), ...all.filter(({ person }) => person.id !== me)]
  const [chosen, setAgent] = useState(answered?.agent.id ?? first)
  const [ask, setAsk] = useState<Ask>(answered === undefined || answered.ask === "mention" ? "build" : answered.ask)
  const [note, setNote] = useState("")
  const agent = chosen ?? agents[0]?.id ?? ""
  const asked = agents.find(({ id }) => id === agent)
  // Where one of them cannot be sent, the button sends it, and those after it.
  const sent = useRef(0)
  const send = useAction({
    act: async () => {
      const payload = { agent, ask, note: note.trim() === "" ? null : note }
      for (const ticket of tickets.slice(sent.current)) {
        // oxlint-disable-next-line no-await-in-loop -- the agent gets them in the order of the tickets
        await client.messages.send({ params: { slug }, payload: { ...payload, ticket } })
        sent.current++
      }
    },
    changes: [workspaceKey(slug, "trace"), workspaceKey(slug, "notifications"), workspaceKey(slug, "messages")],
    done: () => ({
      title: `${asked === undefined ? "The agent" : asked.name} was asked${tickets.length === 1 ? "" : ` about ${counted(tickets.length, "ticket")}`}`,
      tone: "success"
    }),
    onDone: () => {
      onClose()
      onSent?.()
    }
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
      title={
        answered === undefined
          ? `Ask an agent about ${tickets.length === 1 ? tickets[0] : counted(tickets.length, "ticket")}`
          : `Answer ${answered.agent.name}`
      }
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
        hint={`${asked === undefined ? "Markdown." : hintOf(asked)}${tickets.length === 1 ? "" : " Each ticket gets a message of its own."}`}
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
