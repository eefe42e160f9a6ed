import type { TeamId } from "@delivery/domain/Ids"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EventAudience } from "../events/EventAudience.ts"
import { batched } from "../storage/Batched.ts"
import { column, uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { type Viewer, viewerOf } from "./Viewer.ts"
import { personSeesTeam } from "./Visibility.ts"

/** Implements `EventAudience`: which teams a caller sees. */
export const layer = Layer.effect(
  EventAudience,
  Effect.map(SqlClient.SqlClient, (sql) => EventAudience.of({ teamsSeenBy: teamsSeenBy(sql) }))
)

/** An event of a team wakes all who follow its workspace at once: they share the statement. */
const teamsSeenBy = (sql: SqlClient.SqlClient): EventAudience["Service"]["teamsSeenBy"] => {
  const seen = batched(sql, (viewers: ReadonlyArray<Viewer>) => teamsOf(sql, viewers), { running: 2 })
  return (access) => {
    const viewer = viewerOf(access)
    return viewer.seesPrivateTeams ? Effect.succeed("all" as const) : dieOnSqlError(seen(viewer))
  }
}

const keyOf = ({ personId, workspaceId }: Viewer): string => `${workspaceId} ${personId}`

const teamsOf = (sql: SqlClient.SqlClient, viewers: ReadonlyArray<Viewer>) => {
  const distinct = [...new Map(viewers.map((viewer) => [keyOf(viewer), viewer])).values()]
  const workspaces = uuids(distinct.map(({ workspaceId }) => workspaceId))
  const persons = column(distinct, PgTypes.OID.uuid, ({ personId }) => personId)
  return sql<{ readonly place: number; readonly id: TeamId }>`select asked.place::int as place, t.id
    from unnest(${workspaces}::uuid[], ${persons}::uuid[]) with ordinality as asked (workspace_id, person_id, place)
    join teams t on t.workspace_id = asked.workspace_id and ${personSeesTeam(sql, sql.literal("asked.person_id"), "t")}`.pipe(
    Effect.map((rows) => {
      const teams = new Map(distinct.map((viewer): [string, Array<TeamId>] => [keyOf(viewer), []]))
      for (const { id, place } of rows) teams.get(keyOf(distinct[place - 1]!))!.push(id)
      return viewers.map((viewer): ReadonlyArray<TeamId> => teams.get(keyOf(viewer))!)
    })
  )
}
