import type { AgentMessage } from "@delivery/domain/agents/Message"

/** What is shown of a message to an agent wherever it is looked at beside a list. */

export const messageFacts = ({ agent, computer }: AgentMessage) =>
  [
    ["Agent", `${agent.name} of ${agent.person.name}`],
    ["Computer", computer === null ? "any" : computer.name]
  ] as const

export const messageTexts = ({ note, reply, status }: AgentMessage) =>
  [
    ["Asked", note],
    [status === "declined" ? "Reason" : "Reply", reply]
  ] as const
