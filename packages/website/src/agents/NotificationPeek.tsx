import { useParams } from "@tanstack/react-router"
import { Facts } from "../ui/Facts.tsx"
import { later } from "../ui/later.tsx"
import { Time } from "../ui/Time.tsx"
import type { Notice } from "./inbox.ts"
import { messageFacts, messageTexts } from "./messageParts.ts"
import { MessageStatus } from "./MessageStatus.tsx"

/** A notification: what was said, and the message to an agent that it is about, as it is now. */

const Markdown = later(() => import("../ui/Markdown.tsx"))
const NotificationActions = later(() => import("./NotificationActions.tsx"))

const NotificationPeek = ({ one }: { readonly one: Notice }) => {
  const { message, said, ticket, what } = one
  const { slug } = useParams({ from: "/w/$slug/inbox" })
  const texts: ReadonlyArray<readonly [string, string | null]> =
    message === undefined
      ? [[one.at === undefined ? "Text" : "Comment", said === "" ? null : said]]
      : messageTexts(message)
  return (
    <>
      <h2 className="foreign flex items-center gap-2 px-4 pt-3 font-semibold">
        {what} {message !== undefined && <MessageStatus status={message.status} />}
      </h2>
      <Facts
        facts={[
          ["Ticket", `${ticket.identifier} ${ticket.title}`],
          ...(message === undefined ? [] : messageFacts(message)),
          ["When", <Time at={one.createdAt} key="when" />]
        ]}
      />
      {texts.map(
        ([name, text]) =>
          text !== null && (
            <section aria-label={name} className="border-border border-t px-4 py-3" key={name}>
              <h3 className="text-muted pb-1 text-xs font-medium">{name}</h3>
              <Markdown text={text} />
            </section>
          )
      )}
      <NotificationActions key={one.id} one={one} slug={slug} />
    </>
  )
}

export default NotificationPeek
