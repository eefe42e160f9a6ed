import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { useMe } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import { Time } from "../ui/Time.tsx"
import { CategoryMark } from "./CategoryMark.tsx"
import type { Shown } from "./changes.ts"
import { useOwnerNames } from "./ownerNames.ts"
import { useOwners } from "./owners.ts"
import { Property } from "./Property.tsx"
import { projectQuery, projectsQuery, statusesQuery, teamsQuery, ticketsKey } from "./queries.ts"
import { TagBadge } from "./TagBadge.tsx"

/** What a ticket is beside its words: status, owner, project, milestone and tags, each set by a key. */

const BlocksReleases = later(() => import("../flow/BlocksReleases.tsx"))
const Completion = later(() => import("../flow/Completion.tsx"))
const TagsDialog = later(() => import("./TagsDialog.tsx"))

const group = "Ticket"

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
  readonly onChange: (change: Shown, done: string) => void
}

const Owner = ({ mayChange, onChange, slug, ticket }: Props) => {
  const owners = useOwners(slug, "member", { teams: [ticket.team] })
  const [, , gone] = useOwnerNames(slug)(ticket.owner)
  const me = useMe()?.id
  const set = (owner: Ticket["owner"], name: string) =>
    onChange(
      { owner },
      owner === null ? `${ticket.identifier} has no owner` : `${ticket.identifier} belongs to ${name}`
    )
  useKeys(
    mayChange
      ? [
          {
            keys: "i",
            label: "Assign to me",
            group,
            run: () => {
              const mine = owners.find(({ owner }) => owner.id === me)
              if (mine !== undefined) set(mine.owner, "you")
            }
          }
        ]
      : []
  )
  return (
    <Property
      group={group}
      groups={[
        {
          items: [
            { label: "Nobody", isChosen: ticket.owner === null, onSelect: () => set(null, "") },
            ...owners.map(({ hint, label, owner }) => ({
              label,
              hint,
              isChosen: ticket.owner?.id === owner.id,
              onSelect: () => set(owner, label)
            }))
          ]
        }
      ]}
      mayChange={mayChange}
      name="Owner"
      note={
        gone && (
          <p className="text-warning px-2 pb-1 text-xs">
            {gone === "left" ? "Who has left works on nothing any more" : "A revoked agent gets no messages any more"}
            {mayChange ? ": choose another owner." : "."}
          </p>
        )
      }
      shortcut="a"
    >
      <span className={`foreign truncate ${ticket.owner === null ? "text-muted" : ""}`}>
        {ticket.owner === null ? "Nobody" : actorName(ticket.owner)}
      </span>
      {gone && <Badge tone="warning">{gone}</Badge>}
    </Property>
  )
}

const Status = ({ mayChange, onChange, slug, ticket }: Props) => {
  const { data } = useQuery(statusesQuery(slug, ticket.team.key))
  return (
    <Property
      group={group}
      groups={[
        {
          items: (data?.statuses ?? []).map(({ category, id, name }): MenuItem => ({
            label: name,
            hint: category,
            isChosen: id === ticket.status.id,
            onSelect: () => onChange({ status: { id, name, category } }, `${ticket.identifier} is ${name}`)
          }))
        }
      ]}
      mayChange={mayChange}
      name="Status"
      shortcut="s"
    >
      <CategoryMark isNameShown status={ticket.status} />
    </Property>
  )
}

const Project = ({ mayChange, onChange, slug, ticket }: Props) => {
  const { data } = useQuery(projectsQuery(slug))
  const projects = (data?.projects ?? []).filter(({ teams }) => teams.some(({ id }) => id === ticket.team.id))
  return (
    <Property
      group={group}
      groups={[
        {
          items: [
            {
              label: "No project",
              isChosen: ticket.project === null,
              onSelect: () => onChange({ project: null }, `${ticket.identifier} is in no project`)
            },
            ...projects.map(({ id, name, slug: project }) => ({
              label: name,
              isChosen: ticket.project?.id === id,
              onSelect: () => onChange({ project: { id, slug: project, name } }, `${ticket.identifier} is in ${name}`)
            }))
          ]
        }
      ]}
      mayChange={mayChange}
      name="Project"
      shortcut="p"
    >
      <span className={`foreign truncate ${ticket.project === null ? "text-muted" : ""}`}>
        {ticket.project === null ? "No project" : ticket.project.name}
      </span>
    </Property>
  )
}

const Milestone = ({
  mayChange,
  onChange,
  project,
  slug,
  ticket
}: Props & { readonly project: NonNullable<Ticket["project"]> }) => {
  const { data } = useQuery(projectQuery(slug, project.slug))
  return (
    <Property
      group={group}
      groups={[
        {
          items: [
            {
              label: "No milestone",
              isChosen: ticket.milestone === null,
              onSelect: () => onChange({ milestone: null }, `${ticket.identifier} is in no milestone`)
            },
            ...(data?.milestones ?? []).map(({ name, number }) => ({
              label: `${number}. ${name}`,
              isChosen: ticket.milestone?.number === number,
              onSelect: () => onChange({ milestone: { number, name } }, `${ticket.identifier} is in ${name}`)
            }))
          ]
        }
      ]}
      mayChange={mayChange}
      name="Milestone"
      shortcut="m"
    >
      <span className={`foreign truncate ${ticket.milestone === null ? "text-muted" : ""}`}>
        {ticket.milestone === null ? "No milestone" : ticket.milestone.name}
      </span>
    </Property>
  )
}

/** In another team it has another identifier, and the old one leads to it. */
const TeamOf = ({ mayChange, slug, ticket }: Props) => {
  const { data } = useQuery(teamsQuery(slug))
  const navigate = useNavigate()
  const move = useAction({
    act: (team: string) => client.tickets.update({ params: { slug, ticket: ticket.identifier }, payload: { team } }),
    changes: [ticketsKey(slug)],
    done: ({ identifier }) => ({ title: `${ticket.identifier} is ${identifier} now` }),
    failed: () => `${ticket.identifier} stays in its team`,
    onDone: ({ identifier }) =>
      void navigate({ to: "/w/$slug/tickets/$ticket", params: { slug, ticket: identifier }, replace: true })
  })
  return (
    <Property
      group={group}
      groups={[
        {
          items: (data?.teams ?? []).map(({ id, key, name }) => ({
            label: name,
            hint: key,
            isChosen: id === ticket.team.id,
            onSelect: () => id !== ticket.team.id && move.mutate(key)
          }))
        }
      ]}
      mayChange={mayChange}
      name="Team"
      shortcut="t"
    >
      <span className="foreign truncate">{ticket.team.name}</span>
    </Property>
  )
}

const TagsOf = ({ tags }: Pick<Ticket, "tags">) => (
  <span className="flex min-w-0 flex-1 flex-wrap items-center gap-1 py-1">
    {tags.length === 0 ? (
      <span className="text-muted">No tags</span>
    ) : (
      tags.map((tag) => <TagBadge key={tag.id} tag={tag} />)
    )}
  </span>
)

const Tags = ({ mayChange, onChange, slug, ticket }: Props) => {
  const [isOpen, setOpen] = useState(false)
  useKeys(mayChange ? [{ keys: "l", label: "Set the tags", group, run: () => setOpen(true) }] : [])
  return (
    <div className="flex min-h-(--row) items-center gap-2">
      <dt className="text-muted w-20 shrink-0">Tags</dt>
      <dd className="min-w-0 flex-1">
        {mayChange ? (
          <button
            className="hover:bg-hover flex min-h-7 w-full min-w-0 items-center gap-1.5 rounded-md px-2 text-left"
            onClick={() => setOpen(true)}
            type="button"
          >
            <span className="sr-only">Tags: </span>
            <TagsOf tags={ticket.tags} />
            <Kbd keys="l" />
          </button>
        ) : (
          <span className="flex min-h-7 items-center px-2">
            <TagsOf tags={ticket.tags} />
          </span>
        )}
        {isOpen && (
          <TagsDialog
            chosen={ticket.tags}
            onClose={() => setOpen(false)}
            onSave={(tags) => onChange({ tags }, `${ticket.identifier} has other tags`)}
            slug={slug}
            team={ticket.team.key}
          />
        )}
      </dd>
    </div>
  )
}

const isBegun = ({ status: { category } }: Ticket): boolean => category !== "backlog" && category !== "unstarted"

const dates = (ticket: Ticket) =>
  [
    ["Created", ticket.createdAt],
    // It is told once, and stays where the ticket goes back.
    [isBegun(ticket) ? "Started" : "First started", ticket.startedAt],
    ["Completed", ticket.completedAt],
    ["Canceled", ticket.canceledAt],
    ["Changed", ticket.updatedAt]
  ] as const

interface AllProps extends Omit<Props, "onChange"> {
  /** Answers whether it was saved. */
  readonly onSave: (change: Shown, done: string) => Promise<boolean>
  readonly onAsk: (asked: { readonly agent: string }) => void
}

const TicketProperties = ({ onAsk, onSave, ...rest }: AllProps) => {
  const { ticket } = rest
  const change = async (asked: Shown, done: string) => {
    // An agent that is responsible does not know of it until it is asked.
    if ((await onSave(asked, done)) && asked.owner?.kind === "agent") onAsk({ agent: asked.owner.id })
  }
  const props: Props = { ...rest, onChange: (asked, done) => void change(asked, done) }
  return (
    <>
      {/* On narrow screens these stand above the description, and the others below it. */}
      <dl className="flex flex-col max-md:order-1 max-md:px-4 max-md:pt-2">
        <Status {...props} />
        <Owner {...props} />
      </dl>
      <dl className="border-border flex flex-col max-md:order-3 max-md:border-y max-md:px-4 max-md:py-3">
        <Project {...props} />
        {ticket.project !== null && <Milestone {...props} project={ticket.project} />}
        <Tags {...props} />
        <TeamOf {...props} />
        <Completion mayChange={props.mayChange} slug={props.slug} ticket={props.ticket} />
        <BlocksReleases mayChange={props.mayChange} slug={props.slug} ticket={props.ticket} />
        <div className="border-border my-2 border-t" />
        <div className="flex min-h-(--row) items-center gap-2">
          <dt className="text-muted w-20 shrink-0">Author</dt>
          <dd className="foreign min-w-0 truncate px-2">{actorName(ticket.createdBy)}</dd>
        </div>
        {dates(ticket).map(
          ([name, at]) =>
            at !== null && (
              <div className="flex min-h-(--row) items-center gap-2" key={name}>
                <dt className="text-muted w-20 shrink-0">{name}</dt>
                <dd className="px-2">
                  <Time at={at} />
                </dd>
              </div>
            )
        )}
      </dl>
    </>
  )
}

export default TicketProperties
