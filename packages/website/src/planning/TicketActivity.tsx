import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useReadWhileShown } from "../agents/useReadWhileShown.ts"
import { Loaded } from "../api/Loaded.tsx"
import { later } from "../ui/later.tsx"
import { saidOf } from "./activity.ts"
import { AttachmentList } from "./AttachmentList.tsx"
import { Composer } from "./Composer.tsx"
import { commentsQuery, historyQuery, traceQuery } from "./activityQueries.ts"
import { TicketChange } from "./TicketChange.tsx"
import { TicketComment } from "./TicketComment.tsx"
import { TicketDelivery } from "./TicketDelivery.tsx"
import { TicketMessage, TicketReply } from "./TicketMessage.tsx"

/** The files of a ticket, what came of it, what people and agents said about it, where one says more, and what changed. */

const AskAgent = later(() => import("./AskAgent.tsx"))
const EvidenceRefused = later(() => import("../flow/EvidenceRefused.tsx"))
const TicketHistory = later(() => import("./TicketHistory.tsx"))
const TicketTests = later(() => import("../flow/TicketTests.tsx"))

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
}

const Activity = ({ mayChange, slug, ticket }: Props) => {
  const comments = useQuery(commentsQuery(slug, ticket.identifier))
  const { data: trace } = useQuery(traceQuery(slug, ticket.identifier))
  const { data: history } = useQuery(historyQuery(slug, ticket.id))
  const [answered, setAnswered] = useState<AgentMessage>()
  const [hasHistory, setHistory] = useState(false)
  // Here, so that what is said is looked for again whenever more of it came.
  useReadWhileShown(slug, ticket.id)
  return (
    <section aria-label="Activity" className="pt-4">
      <h2 className="text-muted border-border border-b px-4 pb-2 text-xs font-medium">Activity</h2>
      <Loaded query={comments} rows={3}>
        {(data) => (
          <ol>
            {saidOf(data.comments, trace?.messages ?? [], history?.events ?? []).map((said) =>
              said.kind === "event" ? (
                <TicketChange event={said.event} key={said.id} onHistory={() => setHistory(true)} />
              ) : said.kind === "comment" ? (
                <TicketComment comment={said.comment} key={said.id} slug={slug} ticket={ticket.identifier} />
              ) : said.kind === "message" ? (
                <TicketMessage key={said.id} message={said.message} slug={slug} />
              ) : (
                <TicketReply
                  key={said.id}
                  message={said.message}
                  onAnswer={mayChange ? () => setAnswered(said.message) : undefined}
                  slug={slug}
                />
              )
            )}
          </ol>
        )}
      </Loaded>
      {mayChange && <Composer slug={slug} ticket={ticket} />}
      {hasHistory && (
        <TicketHistory mayChange={mayChange} onClose={() => setHistory(false)} slug={slug} ticket={ticket} />
      )}
      {answered !== undefined && (
        <AskAgent
          answered={answered}
          onClose={() => setAnswered(undefined)}
          slug={slug}
          tickets={[ticket.identifier]}
        />
      )}
    </section>
  )
}

const TicketActivity = (props: Props) => (
  <>
    <TicketTests {...props} />
    {props.mayChange && <EvidenceRefused slug={props.slug} />}
    <AttachmentList {...props} />
    <TicketDelivery slug={props.slug} ticket={props.ticket.identifier} />
    <Activity {...props} />
  </>
)

export default TicketActivity
