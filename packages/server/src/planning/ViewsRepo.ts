import type { Actor } from "@delivery/domain/identity/Actor"
import type {
  MilestoneId,
  PersonId,
  ProjectId,
  TagId,
  TeamId,
  TicketStatusId,
  ViewId,
  WorkspaceId
} from "@delivery/domain/Ids"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import type { ViewGroup, ViewLayout, ViewScope, ViewSort } from "@delivery/domain/planning/View"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { boolean, instant, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { RankedList } from "./RankedList.ts"
import type { NamingTeam, StatusNameChange, StatusNames } from "./StatusNames.ts"
import type { Viewer } from "./Viewer.ts"

/** Filters as they are stored. Projects are stored by id, so that a filter follows a project that gets a new slug. */
export interface StoredFilters extends StatusNames {
  readonly categories: ReadonlyArray<StatusCategory>
  /** Ids of persons and agents, `me` and `none`. */
  readonly owners: ReadonlyArray<string>
  readonly tags: ReadonlyArray<TagId>
  readonly teams: ReadonlyArray<TeamId>
  readonly projects: ReadonlyArray<ProjectId>
  readonly milestones: ReadonlyArray<MilestoneId>
  /** Tickets without a milestone match, too. By itself, since older servers read ids alone in `milestones`. */
  readonly noMilestone: boolean
}

/** The scope of a view: a team, a project or, where both are null, the workspace. */
export interface ScopeIds {
  readonly teamId: TeamId | null
  readonly projectId: ProjectId | null
}

/** The views of workspaces, teams and projects. */
export const views = table("views", {
  id: uuid<ViewId>(),
  workspaceId: uuid<WorkspaceId>(),
  teamId: nullable(uuid<TeamId>()),
  projectId: nullable(uuid<ProjectId>()),
  /** The person who alone sees it; null where it is shared. */
  personId: nullable(uuid<PersonId>()),
  name: text(),
  filters: json<StoredFilters>(),
  layout: text<ViewLayout>(),
  groupedBy: text<ViewGroup>(),
  /** Null where tickets have their own order. */
  sortedBy: nullable(text<ViewSort>()),
  isDefault: boolean(),
  rank: text(),
  creatorKind: text<ActorRef["kind"]>(),
  creatorId: uuid<ActorRef["id"]>(),
  createdAt: instant(),
  updatedAt: instant(),
  /** The id of the scope: `scopeIdOf`, which the database generates. */
  scopeId: uuid()
})

export type ViewRow = Omit<Row<typeof views>, "scopeId">

/** The id of the scope, within which views are ordered. */
export const scopeIdOf = (workspaceId: WorkspaceId, { projectId, teamId }: ScopeIds): string =>
  teamId ?? projectId ?? workspaceId

/** A view with what its viewer sees of its filters. */
export interface FoundView extends ViewRow {
  readonly scope: ViewScope
  /** The tags of the filters, without deleted ones. */
  readonly tags: ReadonlyArray<{ readonly id: TagId; readonly isSeen: boolean }>
  /** The milestones of the filters, without deleted ones; `ref` names it as filters do. */
  readonly milestones: ReadonlyArray<{ readonly id: MilestoneId; readonly ref: string; readonly isSeen: boolean }>
  /** The teams and projects of the filters that the viewer sees. */
  readonly seen: {
    readonly teams: ReadonlyArray<{ readonly id: TeamId; readonly key: string }>
    readonly projects: ReadonlyArray<{ readonly id: ProjectId; readonly slug: string }>
  }
  /** The teams that decide which names of statuses the viewer sees, ordered by id. */
  readonly namingTeams: ReadonlyArray<NamingTeam>
  /** Whether the view's team or project is archived. */
  readonly isArchived: boolean
  readonly position: number
  readonly createdBy: Actor
}

/** What the filters of a body refer to, as the caller sent it. */
export interface FilterRefs {
  readonly owners: ReadonlyArray<string>
  readonly tags: ReadonlyArray<string>
  readonly teams: ReadonlyArray<string>
  readonly projects: ReadonlyArray<string>
  readonly milestones: ReadonlyArray<string>
}

/** For each field, the id of each reference to something that the viewer sees. */
export interface KnownRefs {
  readonly owners: ReadonlyMap<string, string>
  readonly tags: ReadonlyMap<string, TagId>
  readonly teams: ReadonlyMap<string, TeamId>
  readonly projects: ReadonlyMap<string, ProjectId>
  readonly milestones: ReadonlyMap<string, MilestoneId>
}

/** Stores views. A viewer does not find the views of a team or project that they do not see, nor those personal to others. */
export class ViewsRepo extends Context.Service<
  ViewsRepo,
  {
    readonly insert: (views: ReadonlyArray<ViewRow>) => Effect.Effect<void>
    readonly update: (
      view: Pick<
        ViewRow,
        "id" | "personId" | "name" | "filters" | "layout" | "groupedBy" | "sortedBy" | "rank" | "updatedAt"
      >
    ) => Effect.Effect<void>
    readonly delete: (id: ViewId) => Effect.Effect<void>
    /** The views of one scope, in their order. */
    readonly list: (viewer: Viewer, scope: ScopeIds) => Effect.Effect<ReadonlyArray<FoundView>>
    readonly find: (viewer: Viewer, id: string) => Effect.Effect<FoundView | undefined>
    /** Locks the row until the transaction ends. */
    readonly lock: (viewer: Viewer, id: string) => Effect.Effect<FoundView | undefined>
    /** Locks the order of a scope's views until the transaction ends. */
    readonly lockOrder: (workspaceId: WorkspaceId, scope: ScopeIds) => Effect.Effect<RankedList<ViewId>>
    /** How many views the scope has that somebody made: shared ones with null, else personal ones of the person. Its order is locked. */
    readonly count: (workspaceId: WorkspaceId, scope: ScopeIds, personId: PersonId | null) => Effect.Effect<number>
    /** The ids of the statuses of any team that have one of the names, whatever its case. */
    readonly statusesNamed: (
      workspaceId: WorkspaceId,
      names: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<TicketStatusId>>
    readonly resolve: (viewer: Viewer, refs: FilterRefs) => Effect.Effect<KnownRefs>
    /**
     * Makes filters follow the name, in views whose scope and filter of teams admit tickets of the team. `updatedAt` of
     * a view moves where everybody who sees the view sees the team.
     */
    readonly followStatus: (
      change: StatusNameChange & { readonly workspaceId: WorkspaceId; readonly at: Timestamp }
    ) => Effect.Effect<void>
  }
>()("@delivery/server/planning/ViewsRepo") {}
