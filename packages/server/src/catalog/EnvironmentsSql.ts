import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeArchivablesSql } from "./ArchivablesSql.ts"
import { environments, EnvironmentsRepo } from "./EnvironmentsRepo.ts"

export const layer = Layer.effect(
  EnvironmentsRepo,
  Effect.map(SqlClient.SqlClient, (sql) => makeArchivablesSql(sql, environments, ["slug", "name", "class", "emoji"]))
)
