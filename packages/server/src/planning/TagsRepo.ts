import type { TagId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import type { TeamRef } from "@delivery/domain/planning/Team"
import { Context, type Effect } from "effect"
import type { UniqueViolation } from "../storage/Sql.ts"
import { instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { Viewer } from "./Viewer.ts"

/** The tags of teams and workspaces. */
export const tags = table("tags", {
  id: uuid<TagId>(),
  workspaceId: uuid<WorkspaceId>(),
  /** Null for a tag of the whole workspace. */
  teamId: nullable(uuid<TeamId>()),
  name: text(),
  /** The name for comparison, without case: `nameKey` of it. */
  nameKey: text(),
  color: text(),
  createdAt: instant()
})

/** A stored tag. The repository makes the key of its name. */
export type TagRow = Omit<Row<typeof tags>, "nameKey">

/** A tag with the team that it belongs to. */
export interface TagOfTeam extends TagRow {
  readonly team: TeamRef | null
}

/**
 * Stores tags. Everything is found for a viewer: a tag of a team that they do not see does not exist for them. Whoever
 * names a tag locks the name (`lockName`), since no constraint can keep it unique in a team and the workspace together.
 */
export class TagsRepo extends Context.Service<
  TagsRepo,
  {
    readonly insert: (tag: TagRow) => Effect.Effect<void, UniqueViolation>
    /** Stores name and color. */
    readonly update: (tag: TagRow) => Effect.Effect<void, UniqueViolation>
    readonly delete: (id: TagId) => Effect.Effect<void>
    readonly list: (viewer: Viewer) => Effect.Effect<ReadonlyArray<TagOfTeam>>
    /** The team's and the workspace's. Undefined where the viewer does not see the team. */
    readonly listOfTeam: (viewer: Viewer, teamKey: string) => Effect.Effect<ReadonlyArray<TagOfTeam> | undefined>
    /** Locks the row until the transaction ends. */
    readonly lock: (viewer: Viewer, id: string) => Effect.Effect<TagOfTeam | undefined>
    /**
     * Locks the name until the transaction ends, and returns whether another tag has it, in any case: a tag of the
     * workspace, of the same team, or, for a tag of the workspace, of any team.
     */
    readonly lockName: (tag: TagRow) => Effect.Effect<boolean>
  }
>()("@delivery/server/planning/TagsRepo") {}
