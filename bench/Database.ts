import type { EnvironmentId, EventId, PersonId, ProductId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { Git } from "@delivery/domain/testing/TestRun"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { layerSqlStorage } from "../packages/server/src/App.ts"
import type { StoredEvent } from "../packages/server/src/events/EventsRepo.ts"
import { TestRunsRepo } from "../packages/server/src/testing/TestRunsRepo.ts"
import { startPostgres } from "../packages/server/test/support/PostgresServer.ts"

/** A PostgreSQL of its own with every repository, for benchmarks of statements. */
export const layerStorage = Layer.provideMerge(
  layerSqlStorage,
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(() => startPostgres()),
        (server) => Effect.promise(() => server.stop())
      ),
      ({ url }) =>
        PgClient.layer({
          url: Redacted.make(url),
          maxConnections: 4,
          multiplex: true,
          multiplexConcurrency: 4,
          preparedStatementCacheSize: 500
        })
    )
  )
)

/** A UUID that is the same in every run of a benchmark. */
export const id = (kind: number, number: number): string =>
  `00000000-000${kind}-7000-8000-${number.toString(16).padStart(12, "0")}`

/** A workspace with a member, ten products and four environments. */
export const makeWorkspace = Effect.fnUntraced(function* (number: number) {
  const sql = yield* PgClient.PgClient
  const workspaceId = id(1, number)
  yield* sql`insert into persons (id, name, email, created_at)
    select ('00000000-0002-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Person ' || n, n || '@example.com', now()
    from generate_series(0, 1) n on conflict do nothing`
  yield* sql`insert into workspaces (id, slug, name, created_at, updated_at)
    values (${workspaceId}, ${`bench-${number}`}, 'Bench', now(), now())`
  yield* sql`insert into products (id, workspace_id, slug, name, type, created_at, updated_at)
    select ('00000000-0003-7000-8000-' || lpad(to_hex(${number}::int * 100 + n), 12, '0'))::uuid, ${workspaceId}::uuid,
      'shop-' || n, 'Shop ' || n, 'website', now(), now()
    from generate_series(0, 9) n`
  yield* sql`insert into environments (id, workspace_id, slug, name, class, created_at, updated_at)
    select ('00000000-0004-7000-8000-' || lpad(to_hex(${number}::int * 100 + n), 12, '0'))::uuid, ${workspaceId}::uuid,
      'env-' || n, 'Environment ' || n, 'non-production', now(), now()
    from generate_series(0, 3) n`
  return {
    workspaceId,
    productId: (n: number) => id(3, number * 100 + n),
    environmentId: (n: number) => id(4, number * 100 + n),
    personId: (n: number) => id(2, n)
  }
})

type At = Pick<
  Effect.Success<ReturnType<typeof makeWorkspace>>,
  "workspaceId" | "productId" | "environmentId" | "personId"
>

/** What tells of a run that a person of the workspace publishes. */
export const runEvent = (at: At, kind: string, runId: TestRunId): StoredEvent => ({
  id: randomUUID() as EventId,
  workspaceId: at.workspaceId as WorkspaceId,
  kind,
  actor: { kind: "user", id: at.personId(0) as PersonId },
  subjectType: "run",
  subjectId: runId,
  subjectLabel: "Run",
  subjectPath: "test-runs/1",
  changes: [],
  teamIds: null,
  createdAt: "2026-11-21T09:30:00.000Z"
})

/** Starts a run as the service stores it; answers its id. */
export const storeRun = Effect.fnUntraced(function* (at: At, git: Partial<Git> = {}) {
  const repo = yield* TestRunsRepo
  const runId = randomUUID() as TestRunId
  const run = {
    id: runId,
    workspaceId: at.workspaceId as WorkspaceId,
    productId: at.productId(0) as ProductId,
    environmentId: at.environmentId(0) as EnvironmentId,
    publisher: { kind: "user", id: at.personId(0) as PersonId } as const,
    baseUrl: "https://shop.example",
    deploymentBaseUrl: null,
    deploymentVersion: null,
    git: { branch: "main", sha: "0".repeat(40), dirty: false, subject: "bench", ...git },
    machine: { hostname: "bench", platform: "linux" },
    selection: { coverage: null, folders: [], caseIds: [] },
    tokenHash: runId,
    fixture: null,
    startedAt: "2026-11-21T09:00:00.000Z",
    expiresAt: "2026-11-21T15:00:00.000Z"
  }
  yield* repo.start(run, runEvent(at, "run_started", runId))
  return runId
})
