import type { TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EventAudience } from "../events/EventAudience.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { seesTeam, seesTeamInMemory, viewerOf } from "./Visibility.ts"

/** Tells the events which teams a caller sees. */
export const TeamAudience = {
  layerSql: Layer.effect(
    EventAudience,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return EventAudience.of({
        teamsSeenBy: (access) => {
          const viewer = viewerOf(access)
          if (viewer.seesPrivateTeams) return Effect.succeed("all")
          return sql<{ id: TeamId }>`select t.id from teams t
            where t.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "t")}`.pipe(
            Effect.map((rows) => rows.map(({ id }) => id)),
            dieOnSqlError
          )
        }
      })
    })
  ),
  layerMemory: Layer.effect(
    EventAudience,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return EventAudience.of({
        teamsSeenBy: (access) => {
          const viewer = viewerOf(access)
          if (viewer.seesPrivateTeams) return Effect.succeed("all")
          return memory.read((database) =>
            database
              .table<{ id: TeamId; workspaceId: WorkspaceId; visibility: "open" | "private" }>("teams")
              .filter((team) => seesTeamInMemory(database, viewer, team))
              .map(({ id }) => id)
          )
        }
      })
    })
  )
}
