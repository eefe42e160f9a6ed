import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { useMemo, useState } from "react"
import { isGone, Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { type Identifiers, IdentifiersContext } from "../ui/identifiers.ts"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { Aside, besideClass } from "./Aside.tsx"
import type { Shown } from "./changes.ts"
import { MarkdownSection } from "./MarkdownSection.tsx"
import { asPending, pendingTickets } from "./pendingTickets.ts"
import { teamsQuery, ticketQuery, TicketContext } from "./queries.ts"
import { TicketTitle } from "./TicketTitle.tsx"
import type { TitleDraft } from "./TicketTitleField.tsx"
import { useTicketChange } from "./useTicketChange.ts"

/** A ticket: what it is about, how it will be done, who has it, and what was said and came of it. */

const AskAgent = later(() => import("./AskAgent.tsx"))
const GoneTicket = later(() => import("./GoneTicket.tsx"))
const TicketActivity = later(
  () => import("./TicketActivity.tsx"),
  () => <SkeletonRows rows={4} />
)
const TicketMenu = later(() => import("./TicketMenu.tsx"))
const TicketProperties = later(
  () => import("./TicketProperties.tsx"),
  () => <SkeletonRows rows={8} />
)

interface Props {
  readonly slug: string
  readonly ticket: Ticket
}

interface TextsProps extends Props {
  readonly mayChange: boolean
  readonly onSave: (change: Shown, done: string, from: Shown) => Promise<boolean>
}

const Texts = ({ mayChange, onSave, slug, ticket }: TextsProps) => (
  <>
    <MarkdownSection
      empty="Add a description"
      group="Ticket"
      mayChange={mayChange}
      field="description"
      name={`${ticket.id}-description`}
      onSave={(description, from) =>
        onSave({ description }, `The description of ${ticket.identifier} was saved`, { description: from })
      }
      shortcut="e"
      slug={slug}
      subject={ticket.id}
      text={ticket.description}
      title="Description"
    />
    <MarkdownSection
      empty="Add a plan"
      group="Ticket"
      mayChange={mayChange}
      field="plan"
      name={`${ticket.id}-plan`}
      onSave={(plan, from) => onSave({ plan }, `The plan of ${ticket.identifier} was saved`, { plan: from })}
      shortcut="E"
      slug={slug}
      subject={ticket.id}
      text={ticket.plan}
      title="Plan"
    />
  </>
)

const Whole = ({ slug, ticket }: Props) => {
  const change = useTicketChange(slug)
  const role = useRole(slug)
  const { data: teams } = useQuery(teamsQuery(slug))
  const [asked, setAsked] = useState<{ readonly agent?: string }>()
  const [titleDraft, setTitleDraft] = useState<TitleDraft>()
  // Archived teams are in no list.
  const isArchived = teams !== undefined && !teams.teams.some(({ id }) => id === ticket.team.id)
  const mayChange = mayAct(role, "member") && !isArchived
  const save = (asked: Shown, done: string, from?: Shown) =>
    change(ticket, asked, { done, ...(from === undefined ? {} : { from }) })
  useKeys(mayChange ? [{ keys: "x", label: "Ask an agent", group: "Ticket", run: () => setAsked({}) }] : [])
  return (
    <div className="flex min-h-full flex-col">
      <Header
        actions={
          <>
            {mayChange && (
              <Button onClick={() => setAsked({})} shortcut="x">
                <span>
                  Ask<span className="max-sm:sr-only"> an agent</span>
                </span>
              </Button>
            )}
            <TicketMenu
              mayChange={mayChange}
              onRename={() => setTitleDraft({ text: ticket.title, base: ticket.title })}
              slug={slug}
              ticket={ticket}
            />
          </>
        }
        crumbs={[
          { label: "Tickets", link: { to: "/w/$slug/tickets", params: { slug } } },
          {
            label: ticket.team.name,
            link: { to: "/w/$slug/tickets", params: { slug }, search: { teams: [ticket.team.key] } }
          }
        ]}
        state={
          <>
            {ticket.team.visibility === "private" && <Badge>private</Badge>}
            {isArchived && <Badge tone="warning">team archived</Badge>}
          </>
        }
        title={
          <>
            <span className="text-muted tabular mr-1 font-normal">{ticket.identifier}</span>{" "}
            {/* On narrow screens it stands below alone. */}
            <span className="max-md:sr-only">{ticket.title}</span>
          </>
        }
      />
      <TicketContext value={{ slug, ticket: ticket.identifier, mayAttach: mayChange, team: ticket.team }}>
        <div className={`${besideClass} md:grid-rows-[auto_1fr]`}>
          <div className="min-w-0 pb-4 max-md:contents">
            <TicketTitle
              draft={titleDraft}
              mayChange={mayChange}
              onChange={(title, from) => save({ title }, `${ticket.identifier} was renamed`, { title: from })}
              onDraft={setTitleDraft}
              title={ticket.title}
            />
            <div className="max-md:order-2 max-md:min-w-0 max-md:pb-4">
              <Texts mayChange={mayChange} onSave={save} slug={slug} ticket={ticket} />
            </div>
          </div>
          <Aside>
            <TicketProperties mayChange={mayChange} onAsk={setAsked} onSave={save} slug={slug} ticket={ticket} />
          </Aside>
          <div className="min-w-0 pb-8 max-md:order-4">
            <TicketActivity mayChange={mayChange} slug={slug} ticket={ticket} />
          </div>
        </div>
      </TicketContext>
      {asked !== undefined && (
        <AskAgent {...asked} onClose={() => setAsked(undefined)} slug={slug} tickets={[ticket.identifier]} />
      )}
    </div>
  )
}

/** The identifiers in what is said about a ticket lead to theirs. */
const useIdentifiers = (slug: string): Identifiers | undefined => {
  const { data } = useQuery(teamsQuery(slug))
  return useMemo(
    () =>
      data && {
        keys: new Set(data.teams.map(({ key }) => key)),
        pathOf: (identifier) => `/w/${slug}/tickets/${identifier}`
      },
    [data, slug]
  )
}

const TicketScreen = () => {
  const { slug, ticket } = useParams({ from: "/w/$slug/tickets/$ticket" })
  const query = useQuery(ticketQuery(slug, ticket))
  const pending = pendingTickets.usePending()
  const identifiers = useIdentifiers(slug)
  return (
    <>
      {(query.data === undefined || isGone(query.error)) && (
        <Header crumbs={[{ label: "Tickets", link: { to: "/w/$slug/tickets", params: { slug } } }]} title={ticket} />
      )}
      <Loaded query={query} rows={10}>
        {(data) => (
          <IdentifiersContext value={identifiers}>
            <Whole key={data.id} slug={slug} ticket={asPending(data, pending)} />
          </IdentifiersContext>
        )}
      </Loaded>
      {isGone(query.error) && <GoneTicket id={query.data?.id} slug={slug} ticket={ticket} />}
    </>
  )
}

export default TicketScreen
