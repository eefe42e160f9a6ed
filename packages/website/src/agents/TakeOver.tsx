import type { RegisteredAgent } from "@delivery/domain/agents/Agent"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { useTicketChange } from "../planning/useTicketChange.ts"
import { Button } from "../ui/Button.tsx"

interface Props {
  readonly slug: string
  readonly agent: RegisteredAgent
  readonly ticket: TicketSummary
  /** What was asked of the agent last. */
  readonly message: AgentMessage | undefined
}

/** Makes the person the owner of what an agent works on. What it has not answered is withdrawn, where it is theirs. */
export const TakeOver = ({ agent, message, slug, ticket }: Props) => {
  const me = useMe()
  const role = useRole(slug)
  const change = useTicketChange(slug)
  const withdraw = useAction({
    act: (id: AgentMessage["id"]) =>
      client.messages.decline({ params: { slug, message: id }, payload: { reason: "The ticket was taken over." } }),
    failed: () => `${agent.name} still has the message`,
    changes: [workspaceKey(slug, "messages"), workspaceKey(slug, "notifications")]
  })
  if (me === undefined || !("email" in me) || !mayAct(role, "member")) return null
  const { identifier, owner } = ticket
  const waits =
    message?.ticket.id === ticket.id && (message.status === "queued" || message.status === "delivered")
      ? message
      : undefined
  const isMine = agent.person.id === me.id
  const then =
    waits === undefined
      ? ""
      : isMine
        ? `, and the message to ${agent.name} is withdrawn`
        : `. ${agent.name} still has a message about it, which ${agent.person.name} can decline`
  const take = async () => {
    const mine = { kind: "user", id: me.id, name: me.name, email: me.email } as const
    const isDone = await change(ticket, { owner: mine }, { done: `${identifier} is yours${then}`, from: { owner } })
    if (isDone && waits !== undefined && isMine) withdraw.mutate(waits.id)
  }
  return (
    <Button look="quiet" onClick={() => void take()}>
      Take over<span className="sr-only"> {identifier}</span>
    </Button>
  )
}
