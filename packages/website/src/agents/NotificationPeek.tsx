import type { Notification } from "@delivery/domain/agents/Notification"
import { Facts } from "../ui/Facts.tsx"
import { visible } from "../ui/format.ts"
import { Time } from "../ui/Time.tsx"
import { whatOf } from "./inbox.ts"
import { MessageStatus } from "./MessageStatus.tsx"

/** The message of a notification as it is now: what was asked of the agent, and what it said. */

const NotificationPeek = ({ one }: { readonly one: Notification }) => {
  const { message } = one
  const texts = [
    ["Asked", message.note],
    [message.status === "declined" ? "Reason" : "Reply", message.reply]
  ] as const
  return (
    <>
      <h2 className="flex items-center gap-2 px-4 pt-3 font-semibold">
        {whatOf(one)} <MessageStatus status={message.status} />
      </h2>
      <Facts
        facts={[
          ["Ticket", `${message.ticket.identifier} ${visible(message.ticket.title)}`],
          ["Agent", visible(`${message.agent.name} of ${message.agent.person.name}`)],
          ["Computer", message.computer === null ? "any" : visible(message.computer.name)],
          ["Sent", <Time at={message.createdAt} key="sent" />]
        ]}
      />
      {texts.map(
        ([name, text]) =>
          text !== null && (
            <section aria-label={name} className="border-border border-t px-4 py-3" key={name}>
              <h3 className="text-muted pb-1 text-xs font-medium">{name}</h3>
              <p className="foreign whitespace-pre-wrap">{visible(text)}</p>
            </section>
          )
      )}
    </>
  )
}

export default NotificationPeek
