import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { dieOnSqlError, iso } from "../storage/Sql.ts"
import { insertInto } from "../storage/Table.ts"
import { type RequestedRun, RunRequestsRepo, testRunRequests } from "./RunRequestsRepo.ts"

export const layer = Layer.effect(
  RunRequestsRepo,
  Effect.map(PgClient.PgClient, (sql) => {
    const insert = insertInto(sql, testRunRequests)
    return RunRequestsRepo.of({
      hold: hold(sql),
      insert: (request) => dieOnSqlError(insert(request)),
      replaceToken: (run, { makerId, tokenHash }) =>
        dieOnSqlError(
          Effect.asVoid(
            sql`update test_runs set token_hash = ${tokenHash}, maker_id = ${makerId}::uuid where id = ${run}`
          )
        )
    })
  })
)

/** An advisory lock, since the run may not be there yet. */
const hold =
  (sql: PgClient.PgClient): RunRequestsRepo["Service"]["hold"] =>
  ({ publisherId, publisherKind, requestId, workspaceId }) => {
    const name = `run-request:${workspaceId}:${publisherKind}:${publisherId}:${requestId}`
    return sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))::text`.pipe(
      Effect.andThen(
        sql<Omit<RequestedRun, "expiresAt"> & { readonly expiresAt: Date }>`select r.id, r.number, r.state,
            r.expires_at as "expiresAt", r.fixture_scope as scope, r.fixture_url as "fixtureUrl", q.fingerprint
          from test_run_requests q join test_runs r on r.id = q.run_id
          where q.workspace_id = ${workspaceId} and q.publisher_kind = ${publisherKind}
            and q.publisher_id = ${publisherId} and q.request_id = ${requestId}`
      ),
      Effect.map(([row]) => row && { ...row, expiresAt: iso(row.expiresAt) }),
      dieOnSqlError
    )
  }
