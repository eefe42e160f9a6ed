import type { AgentId, CommentId, TagId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { CreateTicket, Ticket, TicketSummary, UpdateTicket } from "@delivery/domain/planning/Ticket"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import type { StoredEvent } from "../../src/events/EventsRepo.ts"
import { actorOf } from "../../src/access/Access.ts"
import { agentName, type AgentRow } from "../../src/access/ActorRows.ts"
import type { CommentRow } from "../../src/planning/CommentsRepo.ts"
import { rankBetween } from "../../src/planning/Ranks.ts"
import type { TeamRow } from "../../src/planning/TeamsRepo.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Tags } from "../../src/planning/Tags.ts"
import { type TicketRow, TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { as, type CallerOf, eventsOf, makeScene, minute, newId, refusal, unique } from "../identity/Scene.ts"
import { addTeam, statusesOf } from "./Scene.ts"

/** Stored tickets, and those who work on them, for tests. */

type PersonCaller = CallerOf & { readonly principal: Extract<CallerOf["principal"], { kind: "user" }> }

/** An agent that works for the person whom the caller is, as a caller with their role. */
export const addAgent = Effect.fnUntraced(function* (
  { membership, principal }: PersonCaller,
  client: AgentRow["client"] = "claude",
  clientName: string | null = null
) {
  const agent: AgentRow = {
    id: newId<AgentId>(),
    workspaceId: membership!.id,
    personId: principal.id,
    client,
    clientName,
    createdAt: minute(0),
    revokedAt: null
  }
  yield* (yield* AgentsRepo).register(agent)
  const { email, id, name } = principal
  return {
    principal: { kind: "agent", id: agent.id, name: agentName(agent), person: { id, name, email } },
    membership
  } satisfies CallerOf
})

/** A workspace with everyone who may call it, and a team with the five statuses of the template. */
export const makeTicketScene = Effect.gen(function* () {
  const scene = yield* makeScene
  const team = yield* addTeam(scene.workspace.id)
  const statuses = yield* statusesOf(team)
  const status = (category: StatusCategory) => statuses.find((status) => status.category === category)!
  return { ...scene, team, status }
})

export type TicketScene = Effect.Success<typeof makeTicketScene>

/** A ticket of a team as its repository takes it: last, in the default status, by an account key that is gone. */
export const ticketRow = Effect.fnUntraced(function* (team: TeamRow, fields: Partial<TicketRow> = {}) {
  const repo = yield* TicketsRepo
  const { lastRank, statuses } = yield* repo.resolve({ workspaceId: team.workspaceId, teamId: team.id })
  const row: TicketRow = {
    id: newId<TicketId>(),
    workspaceId: team.workspaceId,
    teamId: team.id,
    number: fields.number ?? (yield* repo.takeNumber(team.id)),
    title: unique("Ticket"),
    description: null,
    plan: null,
    statusId: statuses.find(({ isDefault }) => isDefault)!.id,
    rank: rankBetween(lastRank, null),
    ownerKind: null,
    ownerId: null,
    projectId: null,
    milestoneId: null,
    cases: null,
    mute: null,
    completion: "free",
    passes: 1,
    pastOwners: null,
    blocks: false,
    creatorKind: "apiKey",
    creatorId: newId(),
    startedAt: null,
    completedAt: null,
    canceledAt: null,
    createdAt: minute(0),
    updatedAt: minute(0),
    ...fields
  }
  return row
})

export const addTicket = Effect.fnUntraced(function* (
  team: TeamRow,
  fields: Partial<TicketRow> & { readonly tagIds?: ReadonlyArray<TagId> } = {}
) {
  const { tagIds = [], ...rest } = fields
  const storage = yield* Storage
  return yield* storage.transaction(
    Effect.gen(function* () {
      const ticket = yield* ticketRow(team, rest)
      yield* (yield* TicketsRepo).insert(ticket, tagIds, anEvent(team.workspaceId))
      return ticket
    })
  )
})

/** An event that only has to be stored. */
export const anEvent = (workspaceId: WorkspaceId, fields: Partial<StoredEvent> = {}): StoredEvent => ({
  id: newId(),
  workspaceId,
  kind: "ticket_updated",
  actor: { kind: "apiKey", id: newId() },
  subjectType: "ticket",
  subjectId: newId(),
  subjectLabel: "",
  subjectPath: "",
  changes: [],
  teamIds: null,
  createdAt: minute(0),
  ...fields
})

export const commentRow = (
  ticket: TicketRow,
  { principal }: CallerOf,
  fields: Partial<CommentRow> = {}
): CommentRow => ({
  id: newId<CommentId>(),
  workspaceId: ticket.workspaceId,
  ticketId: ticket.id,
  body: unique("Comment"),
  authorKind: principal.kind,
  authorId: actorOf(principal).id,
  createdAt: minute(0),
  editedAt: null,
  ...fields
})

/** A ticket that the caller creates in the scene's team. */
export const create = (
  { member, team }: Pick<TicketScene, "member" | "team">,
  fields: Partial<CreateTicket> = {},
  by: CallerOf = member
) =>
  Effect.flatMap(Tickets, (tickets) =>
    tickets.create({ team: team.key, title: unique("Ticket"), ...fields }).pipe(as(by), Effect.orDie)
  )

export const identifiers = (tickets: ReadonlyArray<Pick<Ticket, "identifier">>): ReadonlyArray<string> =>
  tickets.map(({ identifier }) => identifier)

type Summary = TicketSummary & { readonly plan?: string | null }

/** A ticket as lists have it. */
export const withoutPlan = ({ plan: _, ...summary }: Summary): TicketSummary => summary

/** A tag of the team, or of the workspace. */
export const makeTag = (team: string | null, name: string, by: CallerOf) =>
  Effect.flatMap(Tags, (tags) => tags.create({ team, name, color: "#d73a4a" }).pipe(as(by), Effect.orDie))

/** The newest event of the workspace. */
export const lastEvent = ({ workspace }: TicketScene) => Effect.map(eventsOf(workspace), (events) => events.at(-1)!)

export const countEvents = ({ workspace }: TicketScene) => Effect.map(eventsOf(workspace), ({ length }) => length)

/** A change of a ticket, which then is as it was said to be. */
export const patch = Effect.fnUntraced(function* (ref: string, input: UpdateTicket, by: CallerOf) {
  const tickets = yield* Tickets
  const answered = yield* tickets.update(ref, input).pipe(as(by), Effect.orDie)
  assert.deepStrictEqual(answered, yield* tickets.get(answered.id).pipe(as(by), Effect.orDie))
  return answered
})

export const refused = (ref: string, input: UpdateTicket, by: CallerOf) =>
  Effect.flatMap(Tickets, (tickets) => refusal(Effect.asVoid(tickets.update(ref, input).pipe(as(by)))))

export const refusedNew = (input: CreateTicket, by: CallerOf) =>
  Effect.flatMap(Tickets, (tickets) => refusal(Effect.asVoid(tickets.create(input).pipe(as(by)))))

export const personOf = ({ principal }: { readonly principal: { id: string; name: string; email: string } }) => ({
  id: principal.id,
  name: principal.name,
  email: principal.email
})
