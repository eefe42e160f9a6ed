import type { TeamId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Access } from "../access/Access.ts"
import { EventAudience } from "../events/EventAudience.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { viewerOf } from "./Viewer.ts"
import { seesTeam } from "./Visibility.ts"

/** Implements `EventAudience`: which teams a caller sees. */
export const layer = Layer.effect(
  EventAudience,
  Effect.map(SqlClient.SqlClient, (sql) => EventAudience.of({ teamsSeenBy: teamsSeenBy(sql) }))
)

const teamsSeenBy = (sql: SqlClient.SqlClient) => (access: Access) => {
  const viewer = viewerOf(access)
  if (viewer.seesPrivateTeams) return Effect.succeed("all" as const)
  return sql<{ id: TeamId }>`select t.id from teams t
    where t.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "t")}`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )
}
