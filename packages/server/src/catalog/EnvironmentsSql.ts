import type { WorkspaceId } from "@delivery/domain/Ids"
import { isId, isSlug } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieOnSqlError } from "../storage/Sql.ts"
import { makeArchivablesSql } from "./ArchivablesSql.ts"
import { environmentLock } from "./EnvironmentLock.ts"
import { environments, EnvironmentsRepo } from "./EnvironmentsRepo.ts"

export const layer = Layer.effect(
  EnvironmentsRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const repo = makeArchivablesSql(sql, environments, ["slug", "name", "class", "emoji", "approvals"])
    const hold = holdAlone(sql)
    return { ...repo, lock: (workspaceId, ref) => Effect.andThen(hold(workspaceId, ref), repo.lock(workspaceId, ref)) }
  })
)

const holdAlone =
  (sql: SqlClient.SqlClient) =>
  (workspaceId: WorkspaceId, ref: string): Effect.Effect<void> => {
    // A ref that is neither an id nor a slug matches nothing.
    if (!isId(ref) && !isSlug(ref)) return Effect.void
    const isNamed = isId(ref) ? sql`id = ${ref}` : sql`slug = ${ref}`
    return sql`select pg_advisory_xact_lock(${environmentLock(sql, "id::text")})::text from environments
      where workspace_id = ${workspaceId} and ${isNamed}`.pipe(Effect.asVoid, dieOnSqlError)
  }
