import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import type { RequestKey, VaultRepo } from "./VaultRepo.ts"

/** Requests with a `requestId`, which are performed once. */

export const claimRequest =
  (sql: PgClient.PgClient): VaultRepo["Service"]["claimRequest"] =>
  (key, { at, expired, fingerprint }) =>
    Effect.gen(function* () {
      const claimed = yield* sql`insert into vault_requests (workspace_id, actor_kind, actor_id, operation,
          request_id, fingerprint, created_at)
        values (${key.workspaceId}, ${key.actor.kind}, ${key.actor.id}, ${key.operation}, ${key.requestId},
          ${fingerprint}, ${date(at)})
        on conflict (workspace_id, actor_kind, actor_id, operation, request_id)
          do update set fingerprint = excluded.fingerprint, created_at = excluded.created_at, written = null
          where vault_requests.created_at <= ${date(expired)}
        returning 1`
      if (claimed.length === 1) return undefined
      const [first] = yield* sql<{ fingerprint: string; written: unknown }>`select fingerprint, written
        from vault_requests where ${isRequest(sql, key)}`
      return first
    }).pipe(dieOnSqlError)

export const recordWritten =
  (sql: PgClient.PgClient): VaultRepo["Service"]["recordWritten"] =>
  (key, written) =>
    dieOnSqlError(
      Effect.asVoid(sql`update vault_requests set written = ${sql.json(written)} where ${isRequest(sql, key)}`)
    )

const isRequest = (
  sql: PgClient.PgClient,
  { actor, operation, requestId, workspaceId }: RequestKey
): Statement.Fragment =>
  sql`workspace_id = ${workspaceId} and actor_kind = ${actor.kind} and actor_id = ${actor.id}
    and operation = ${operation} and request_id = ${requestId}`
