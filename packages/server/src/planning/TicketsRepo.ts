import type { Actor } from "@delivery/domain/identity/Actor"
import type {
  AgentId,
  MilestoneId,
  PersonId,
  ProductId,
  ProjectId,
  TagId,
  TeamId,
  TicketId,
  TicketStatusId,
  WorkspaceId
} from "@delivery/domain/Ids"
import type { TicketDates } from "@delivery/domain/planning/StatusTimes"
import type { TeamRef } from "@delivery/domain/planning/Team"
import type { TicketOwner } from "@delivery/domain/planning/Ticket"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { boolean, instant, integer, json, nullable, type Row, table, text, uuid, words } from "../storage/Table.ts"
import type { RankedList } from "./RankedList.ts"
import type { Viewer } from "./Viewer.ts"

/** The tests of a product that a ticket is about. */
export interface StoredCases {
  readonly productId: ProductId
  readonly caseIds: ReadonlyArray<string>
  /** When those were asked for, with evidence or an override, that are asked for since the ticket was completed. */
  readonly askedAt?: Readonly<Record<string, Timestamp>>
}

/** Who owned a ticket, and until when. */
export type PastOwner = OwnerRef & { readonly until: Timestamp }

/** The tests of a product that a ticket mutes, and who muted them. */
export interface StoredMute {
  readonly productId: ProductId
  readonly cases: ReadonlyArray<string>
  readonly until: Timestamp
  readonly by: ActorRef
}

/** The tickets of each workspace. Both parts of the owner are null for a ticket that nobody owns. */
export const tickets = table("tickets", {
  id: uuid<TicketId>(),
  workspaceId: uuid<WorkspaceId>(),
  teamId: uuid<TeamId>(),
  number: integer(),
  title: text(),
  description: nullable(text()),
  plan: nullable(text()),
  statusId: uuid<TicketStatusId>(),
  rank: text(),
  ownerKind: nullable(text<OwnerRef["kind"]>()),
  ownerId: nullable(uuid<OwnerRef["id"]>()),
  projectId: nullable(uuid<ProjectId>()),
  milestoneId: nullable(uuid<MilestoneId>()),
  cases: nullable(json<StoredCases>()),
  mute: nullable(json<StoredMute>()),
  completion: text<"free" | "evidence">(),
  passes: integer(),
  pastOwners: nullable(json<ReadonlyArray<PastOwner>>()),
  blocks: boolean(),
  creatorKind: text<ActorRef["kind"]>(),
  creatorId: uuid<ActorRef["id"]>(),
  startedAt: nullable(instant()),
  completedAt: nullable(instant()),
  canceledAt: nullable(instant()),
  createdAt: instant(),
  updatedAt: instant()
})

export type TicketRow = Row<typeof tickets>

/** Every identifier that a ticket has or had. In memory by `${teamId}/${number}`. */
export const ticketIdentifiers = table("ticket_identifiers", {
  workspaceId: uuid<WorkspaceId>(),
  teamId: uuid<TeamId>(),
  number: integer(),
  ticketId: uuid<TicketId>()
})

/** The tags of each ticket. In memory by `${ticketId}/${tagId}`. */
export const ticketTags = table("ticket_tags", {
  workspaceId: uuid<WorkspaceId>(),
  ticketId: uuid<TicketId>(),
  tagId: uuid<TagId>()
})

/**
 * What the search finds of tickets: the words of identifier and title, the same with those of the description, and in both
 * the id of the workspace. Only SQL has it: the memory storage reads every ticket.
 */
export const ticketWords = table("ticket_words", {
  ticketId: uuid<TicketId>(),
  workspaceId: uuid<WorkspaceId>(),
  teamId: uuid<TeamId>(),
  titleWords: words(),
  words: words()
})

/** Tickets whose words are not stored yet: servers of before the search wrote them. Only SQL has them. */
export const unwordedTickets = table("unworded_tickets", { ticketId: uuid<TicketId>() })

export type OwnerRef =
  | { readonly kind: "user"; readonly id: PersonId }
  | { readonly kind: "agent"; readonly id: AgentId }

/** A status of a team, as tickets need it. */
export interface TeamStatus {
  readonly id: TicketStatusId
  readonly name: string
  readonly category: StatusCategory
  readonly position: number
  readonly isDefault: boolean
}

export interface TagPart {
  readonly id: TagId
  readonly name: string
  readonly color: string
  /** Null for tags of the whole workspace. */
  readonly teamId: TeamId | null
}

export interface ProjectPart {
  readonly id: ProjectId
  readonly slug: string
  readonly name: string
}

export interface MilestonePart {
  readonly id: MilestoneId
  readonly number: number
  readonly name: string
}

/** A ticket as lists show it. Of a list, the description has one character more than lists show, at most. */
export interface ListedTicket extends TicketDates {
  readonly id: TicketId
  readonly number: number
  readonly title: string
  readonly description: string | null
  readonly team: TeamRef
  readonly status: Omit<TeamStatus, "isDefault">
  readonly rank: string
  readonly owner: TicketOwner | null
  readonly project: ProjectPart | null
  readonly milestone: MilestonePart | null
  readonly tags: ReadonlyArray<TagPart>
  /** With the slug of the product. Lists may have the first tests alone, and then say how many there are. */
  readonly cases: (StoredCases & { readonly product: string; readonly count?: number }) | null
  readonly mute: (StoredMute & { readonly product: string; readonly count?: number }) | null
  readonly completion: "free" | "evidence"
  readonly passes: number
  /** Each once, whoever owned it last in the end. */
  readonly pastOwners: ReadonlyArray<PastOwner> | null
  readonly blocks: boolean
  readonly commentCount: number
  readonly creator: ActorRef
  readonly createdBy: Actor
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export interface TicketDetails extends ListedTicket {
  readonly plan: string | null
}

/** Which tickets a list contains. An absent or empty property does not restrict. */
export interface TicketSelection {
  readonly teamIds?: ReadonlyArray<TeamId>
  readonly projectIds?: ReadonlyArray<ProjectId>
  /** Null for tickets without a milestone. */
  readonly milestoneIds?: ReadonlyArray<MilestoneId | null>
  /** Null for tickets without an owner. */
  readonly owners?: ReadonlyArray<PersonId | AgentId | null>
  readonly categories?: ReadonlyArray<StatusCategory>
  readonly statusIds?: ReadonlyArray<TicketStatusId>
  /** Tickets that have one of them. */
  readonly tagIds?: ReadonlyArray<TagId>
}

/** A selection with all of its parts: an empty one selects by nothing. */
export const wholeSelection = ({
  categories = [],
  milestoneIds = [],
  owners = [],
  projectIds = [],
  statusIds = [],
  tagIds = [],
  teamIds = []
}: TicketSelection): Required<TicketSelection> => ({
  categories,
  milestoneIds,
  owners,
  projectIds,
  statusIds,
  tagIds,
  teamIds
})

/** What a search looks for. */
export interface TicketQuery {
  /** Beginnings of words that the ticket must have, at least one. */
  readonly words: ReadonlyArray<string>
  /** Where the search may name a ticket: an identifier, in any case. */
  readonly identifier: string | undefined
}

/** Where a ticket is, which decides the locks to take. */
export type TicketPlace = Pick<TicketRow, "id" | "teamId" | "projectId">

/** A team that the transaction has locked. */
export interface LockedTeam extends TeamRef {
  readonly archived: boolean
}

/** A project that the transaction has locked. */
export interface LockedProject extends ProjectPart {
  readonly archived: boolean
}

/** The references of a change of a ticket, to be found in the ticket's team. */
export interface ReferencesOfChange {
  readonly workspaceId: WorkspaceId
  readonly teamId: TeamId
  /** The id or email address of a member, or the id of an agent. */
  readonly owner?: string | undefined
  readonly projectId?: ProjectId | undefined
  /** The number of a milestone of that project. */
  readonly milestone?: number | undefined
  readonly tags?: ReadonlyArray<string> | undefined
}

/** Those that exist. */
export interface ResolvedReferences {
  /** All of the team, in no particular order. */
  readonly statuses: ReadonlyArray<TeamStatus>
  readonly lastRank: string | null
  readonly owner: ResolvedOwner | undefined
  /** Whether the project is linked to the team. */
  readonly isLinked: boolean
  readonly milestone: MilestonePart | undefined
  /** Those of the team and of the workspace; locked until the transaction ends. */
  readonly tags: ReadonlyArray<TagPart>
}

export interface ResolvedOwner {
  readonly owner: TicketOwner
  /** False for a person who is no active member, and for an agent that was revoked. */
  readonly active: boolean
  /** Whether they would see the team if it were private. */
  readonly seesPrivateTeam: boolean
}

/**
 * Stores tickets. Everything is found for a viewer: a ticket of a team that they do not see does not exist for them.
 *
 * A writing transaction takes locks in this order and no other: teams by id (`lockTeams`), one project (`lockProject`),
 * the ticket (`lock`), its tags (`resolve`). Numbers and ranks of a team need an exclusive lock of the team.
 */
export class TicketsRepo extends Context.Service<
  TicketsRepo,
  {
    /** In no particular order. */
    readonly list: (viewer: Viewer, selection: TicketSelection) => Effect.Effect<ReadonlyArray<ListedTicket>>
    /** The selected tickets that a search finds, the best first, at most `maxFound`. */
    readonly search: (
      viewer: Viewer,
      query: TicketQuery,
      selection: TicketSelection
    ) => Effect.Effect<ReadonlyArray<ListedTicket>>
    /** Stores the words of some tickets that have none yet, in a transaction. Returns whether there were any. */
    readonly wordTickets: Effect.Effect<boolean>
    /** The same for comments. */
    readonly wordComments: Effect.Effect<boolean>
    /** By id, or by an identifier, in any case, of a team that the viewer sees too. */
    readonly find: (viewer: Viewer, ref: string) => Effect.Effect<TicketDetails | undefined>
    /** Like `find`, but only where the ticket is. */
    readonly locate: (viewer: Viewer, ref: string) => Effect.Effect<TicketPlace | undefined>
    /**
     * Locks teams, by id, until the transaction ends: `exclusive`, or `shared` with others that change neither numbers,
     * ranks, statuses nor the teams themselves.
     */
    readonly lockTeams: (
      ids: ReadonlyArray<TeamId>,
      how: "exclusive" | "shared"
    ) => Effect.Effect<ReadonlyMap<TeamId, LockedTeam>>
    /** A project by slug or id, where the viewer sees one of its teams. */
    readonly findProject: (viewer: Viewer, ref: string) => Effect.Effect<LockedProject | undefined>
    /** A milestone by the slug of its project and its number, where the viewer sees the project. */
    readonly findMilestone: (viewer: Viewer, ref: string) => Effect.Effect<MilestoneId | undefined>
    /** Like `findProject`, with a shared lock until the transaction ends. */
    readonly lockProject: (viewer: Viewer, ref: string) => Effect.Effect<LockedProject | undefined>
    /** Locks the ticket until the transaction ends, and returns where it is now. */
    readonly lock: (id: TicketId) => Effect.Effect<TicketPlace | undefined>
    /** Finds the references of a change in one statement. */
    readonly resolve: (references: ReferencesOfChange) => Effect.Effect<ResolvedReferences>
    /** The member, active or not, or the agent, revoked or not, that a list's filter names by id or email address. */
    readonly findOwner: (workspaceId: WorkspaceId, ref: string) => Effect.Effect<OwnerRef | undefined>
    /** The next number of the team, which the transaction has locked. It is used again if the transaction fails. */
    readonly takeNumber: (teamId: TeamId) => Effect.Effect<number>
    readonly insert: (ticket: TicketRow, tagIds: ReadonlyArray<TagId>, event: StoredEvent) => Effect.Effect<void>
    /**
     * Stores a changed ticket, its identifier if it is new, and its tags if they change; it keeps its former identifiers.
     *
     * @param isReworded Whether its identifier, title or description changes.
     */
    readonly update: (
      ticket: TicketRow,
      tagIds: ReadonlyArray<TagId> | undefined,
      events: ReadonlyArray<StoredEvent>,
      isReworded: boolean
    ) => Effect.Effect<void>
    /** With its identifiers, tags, comments, attachments and earlier texts. */
    readonly delete: (id: TicketId, event: StoredEvent) => Effect.Effect<void>
    /** The order of the team's tickets. The transaction has an exclusive lock of the team. */
    readonly orderOf: (team: { readonly id: TeamId; readonly workspaceId: WorkspaceId }) => RankedList<TicketId>
    /** The first ticket of the team in the status, but for `except`; with `rank`, the nearest above or below it. */
    readonly inStatus: (
      at: Pick<TicketRow, "workspaceId" | "teamId" | "statusId">,
      side: "above" | "below",
      rank: string | null,
      except: TicketId
    ) => Effect.Effect<{ readonly id: TicketId; readonly rank: string } | undefined>
  }
>()("@delivery/server/planning/TicketsRepo") {}
