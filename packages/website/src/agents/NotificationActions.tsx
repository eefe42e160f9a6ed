import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { CategoryMark } from "../planning/CategoryMark.tsx"
import { Composer } from "../planning/Composer.tsx"
import { DeclineMessage } from "../planning/DeclineMessage.tsx"
import { asPending, pendingTickets } from "../planning/pendingTickets.ts"
import { Property } from "../planning/Property.tsx"
import { statusesQuery, teamsQuery, TicketContext, ticketQuery } from "../planning/queries.ts"
import { useTicketChange } from "../planning/useTicketChange.ts"
import { Button } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { hasEnded, type Notice } from "./inbox.ts"
import { useReading } from "./useReading.ts"

/** What a notification asks for, done beside the list: the agent is answered, the ticket commented on, its status set. */

const AskAgent = later(() => import("../planning/AskAgent.tsx"))

const group = "Notification"

interface Props {
  readonly one: Notice
  readonly slug: string
}

interface TicketProps extends Props {
  readonly ticket: Ticket
}

const Status = ({ slug, ticket }: Omit<TicketProps, "one">) => {
  const { data } = useQuery(statusesQuery(slug, ticket.team.key))
  const change = useTicketChange(slug)
  const { identifier, status: current } = ticket
  return (
    <Property
      group={group}
      groups={[
        {
          items: (data?.statuses ?? []).map(({ category, id, name }) => ({
            label: name,
            isChosen: id === current.id,
            onSelect: () =>
              void change(
                ticket,
                { status: { id, name, category } },
                { done: `${identifier} is now ${name}`, from: { status: current } }
              )
          }))
        }
      ]}
      mayChange
      name="Status"
      shortcut="s"
    >
      <CategoryMark isNameShown status={current} />
    </Property>
  )
}

/** The list has the keyboard again: with the next key one goes on. */
const goOn = () => document.querySelector<HTMLElement>("#screen")?.focus({ preventScroll: true })

const Actions = ({ one, slug, ticket }: TicketProps) => {
  const { message } = one
  const isAnswered = message !== undefined && hasEnded(message)
  const [isAnswering, setAnswering] = useState(false)
  const { opened } = useReading(slug)
  const answer = () => setAnswering(true)
  useKeys(isAnswered ? [{ keys: "r", label: "Answer the agent", group, run: answer }] : [])
  // Whoever has answered has read it.
  const done = () => {
    opened(one)
    goOn()
  }
  return (
    <section aria-label="Act" className="border-border mt-auto border-t">
      <div className="flex flex-wrap items-center gap-2 px-4 pt-3">
        <dl className="min-w-0 flex-1 basis-60">
          <Status slug={slug} ticket={ticket} />
        </dl>
        {message !== undefined && <DeclineMessage message={message} onDone={done} slug={slug} />}
        {isAnswered && (
          <Button look="primary" onClick={answer} shortcut="r">
            <span>
              Answer <span className="foreign">{message.agent.name}</span>
            </span>
          </Button>
        )}
      </div>
      <TicketContext value={{ slug, ticket: ticket.identifier, mayAttach: true, team: ticket.team }}>
        <Composer onSent={done} slug={slug} ticket={ticket} />
      </TicketContext>
      {isAnswering && message !== undefined && (
        <AskAgent
          answered={message}
          onClose={() => setAnswering(false)}
          onSent={done}
          slug={slug}
          tickets={[ticket.identifier]}
        />
      )}
    </section>
  )
}

const NotificationActions = ({ one, slug }: Props) => {
  const mayChange = mayAct(useRole(slug), "member")
  const { data: teams } = useQuery(teamsQuery(slug))
  const query = useQuery({ ...ticketQuery(slug, one.ticket.identifier), enabled: mayChange })
  const pending = pendingTickets.usePending()
  if (!mayChange) return null
  return (
    <Loaded query={query} rows={3}>
      {(ticket) =>
        // Archived teams are in no list.
        teams?.teams.some(({ id }) => id === ticket.team.id) === true && (
          <Actions one={one} slug={slug} ticket={asPending(ticket, pending)} />
        )
      }
    </Loaded>
  )
}

export default NotificationActions
