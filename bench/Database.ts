import type {
  EnvironmentId,
  EventId,
  PersonId,
  ProductId,
  ProjectId,
  TagId,
  TeamId,
  TestRunId,
  TicketStatusId,
  WorkspaceId
} from "@delivery/domain/Ids"
import type { Git } from "@delivery/domain/runs/TestRun"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { layerSqlStorage } from "../packages/server/src/App.ts"
import type { StoredEvent } from "../packages/server/src/events/EventsRepo.ts"
import { TestRunsRepo } from "../packages/server/src/runs/TestRunsRepo.ts"
import { spreadRanks } from "../packages/server/src/planning/Ranks.ts"
import type { Viewer } from "../packages/server/src/planning/Viewer.ts"
import { texts } from "../packages/server/src/storage/Columns.ts"
import { startPostgres } from "../packages/server/test/support/PostgresServer.ts"

/** A PostgreSQL of its own, until the scope is closed. Returns its URL. */
export const startDatabase = (options?: Parameters<typeof startPostgres>[0]) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => startPostgres(options)),
      (server) => Effect.promise(() => server.stop())
    ),
    ({ url }) => url
  )

/** How benchmarks connect to a database. */
export const connection = (url: string) => ({
  url: Redacted.make(url),
  maxConnections: 4,
  multiplex: true,
  multiplexConcurrency: 2,
  preparedStatementCacheSize: 500
})

/** Every repository on a PostgreSQL of its own, for benchmarks of statements. */
export const layerStorage = Layer.provideMerge(
  layerSqlStorage,
  Layer.unwrap(Effect.map(startDatabase(), (url) => PgClient.layer(connection(url))))
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
    makerId: null,
    baseUrl: "https://shop.example",
    deploymentBaseUrl: null,
    deploymentVersion: null,
    deploymentId: null,
    release: null,
    locked: false,
    git: { branch: "main", sha: "0".repeat(40), dirty: false, subject: "bench", ...git },
    machine: { hostname: "bench", platform: "linux" },
    ciUrl: null,
    selection: { coverage: null, folders: [], caseIds: [] },
    tokenHash: runId,
    fixture: null,
    startedAt: "2026-11-21T09:00:00.000Z",
    // Benches finish it at a fixed time, or now.
    mutes: [],
    expiresAt: new Date(Date.now() + 21_600_000).toISOString()
  }
  yield* repo.start(run, runEvent(at, "run_started", runId))
  return runId
})

/** A workspace with so many finished runs. */
export const makeRuns = Effect.fnUntraced(function* (number: number, runs: number) {
  const sql = yield* PgClient.PgClient
  const at = yield* makeWorkspace(number)
  // Ten branches and subjects take turns; a release branch is rare, and one commit in a thousand runs several times.
  // Some is of the first half of the runs alone: what every tenth did then, and a commit that ran every seventh time.
  yield* sql`insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id,
      base_url, git_branch, git_sha, git_dirty, git_subject, search, hostname, platform, selection, token_hash, state,
      result, total, passed, flaky, failed, skipped, pass_rate, first_attempt_pass_rate, duration_ms, started_at,
      expires_at, finished_at)
    select gen_random_uuid(), ${at.workspaceId}::uuid, n,
      ('00000000-0003-7000-8000-' || lpad(to_hex(${number}::int * 100 + n % 10), 12, '0'))::uuid,
      ('00000000-0004-7000-8000-' || lpad(to_hex(${number}::int * 100 + n % 4), 12, '0'))::uuid,
      'user', ('00000000-0002-7000-8000-' || lpad(to_hex(n % 2), 12, '0'))::uuid, 'https://shop.example', branch, sha,
      false, subject, branch || chr(10) || subject, 'ci-' || n % 50, 'linux', '{"folders":[],"caseIds":[]}', n || '-' || ${number}::int,
      'finished', case when n % 10 < 6 then 'passed' else 'failed' end, 100, 95,
      case when n % 50 = 0 then 1 else 0 end, 4, 1, 0.95, 0.95, 60000, now(), now(), now()
    from (
      select n,
        case when n % 7 = 0 and n <= ${runs}::int / 2 then 'dadadada' else md5((n / 3)::text) end || '00000000' as sha,
        case when n % 997 = 0 and n < 5000 then 'release-candidate+' || n else 'feature/ticket-' || n / 20 end as branch,
        (array['add the basket', 'fix the checkout', 'update packages', 'speed up search', 'correct taxes',
          'show the order', 'remove dead code', 'rename accounts', 'test payments', 'document fixtures'])[1 + n % 10]
          || case when n % 100 = 17 then ' orders' else '' end
          || case when n % 10 = 3 and n <= ${runs}::int / 2 then ' by hand' else '' end || ' in step ' || n as subject
      from generate_series(1, ${runs}::int) n
    ) made`
  yield* sql`update workspaces set last_run_number = ${runs} where id = ${at.workspaceId}`
  return { ...at, runs }
})

/** Tickets of each project that `makePlanning` makes. */
export const ticketsPerProject = 40
const teams = 20

/** A workspace with so many projects: twenty teams, half of them private, of which the member is in five; each project has an open and a private team. */
export const makePlanning = Effect.fnUntraced(function* (number: number, projects: number) {
  const sql = yield* PgClient.PgClient
  const at = yield* makeWorkspace(number)
  const ids = (kind: number, expression: string) =>
    sql.literal(
      `('00000000-000${kind}-7000-8000-' || lpad(to_hex(${number} * 100000 + (${expression})), 12, '0'))::uuid`
    )
  yield* sql`insert into members (workspace_id, person_id, role, active, joined_at)
    select ${at.workspaceId}::uuid, id, 'member', true, now() from persons`
  yield* sql`insert into teams (id, workspace_id, key, name, visibility, created_at, updated_at)
    select ${ids(5, "n")}, ${at.workspaceId}::uuid, 'T' || n, 'Team ' || n,
      case when n % 2 = 0 then 'open' else 'private' end, now(), now()
    from generate_series(0, ${teams - 1}::int) n`
  yield* sql`insert into team_members (workspace_id, team_id, person_id, added_at)
    select ${at.workspaceId}::uuid, ${ids(5, "n")}, ${id(2, 1)}::uuid, now() from generate_series(1, 9, 2) n`
  yield* sql`insert into ticket_statuses (id, workspace_id, team_id, name, name_key, category, position, is_default,
      created_at, updated_at)
    select ${ids(6, "team * 5 + n")}, ${at.workspaceId}::uuid, ${ids(5, "team")}, name, lower(name), category, 0,
      n = 0, now(), now()
    from generate_series(0, ${teams - 1}::int) team, (values (0, 'Backlog', 'backlog'), (1, 'Todo', 'unstarted'),
      (2, 'In progress', 'started'), (3, 'Done', 'completed'), (4, 'Canceled', 'canceled')) s (n, name, category)`
  yield* sql`insert into projects (id, workspace_id, slug, name, status, lead_id, document, rank, created_at, updated_at)
    select ${ids(7, "n")}, ${at.workspaceId}::uuid, 'project-' || n, 'Project ' || n, 'active', ${id(2, 1)}::uuid,
      repeat('A long document. ', 500), rank, now(), now()
    from unnest(${texts(spreadRanks(projects), (rank) => rank)}) with ordinality r (rank, n)`
  yield* sql`insert into project_teams (workspace_id, project_id, team_id)
    select ${at.workspaceId}::uuid, ${ids(7, "n")}, ${ids(5, "(n * 2 + side) % 20")}
    from generate_series(1, ${projects}::int) n, generate_series(0, 1) side`
  yield* sql`insert into project_products (workspace_id, project_id, product_id)
    select ${at.workspaceId}::uuid, ${ids(7, "n")},
      ('00000000-0003-7000-8000-' || lpad(to_hex(${number}::int * 100 + n % 10), 12, '0'))::uuid
    from generate_series(1, ${projects}::int) n`
  yield* sql`insert into tickets (id, workspace_id, team_id, number, title, status_id, rank, project_id, creator_kind,
      creator_id, created_at, updated_at)
    select ${ids(8, "n")}, ${at.workspaceId}::uuid, ${ids(5, "team")}, n, 'Ticket ' || n, ${ids(6, "team * 5 + n % 5")},
      'a' || lpad(n::text, 6, '0') || 'V', ${ids(7, "project")}, 'user', ${id(2, 1)}::uuid, now(), now()
    from (
      select n, 1 + n / ${ticketsPerProject}::int as project, (2 * (1 + n / ${ticketsPerProject}::int) + n % 2) % 20 as team
      from generate_series(0, ${projects * ticketsPerProject - 1}::int) n
    ) made`
  const ticketsOf = sql`generate_series(0, ${projects * ticketsPerProject - 1}::int)`
  yield* sql`update tickets set owner_kind = 'user', owner_id = ${id(2, 1)}::uuid
    where workspace_id = ${at.workspaceId} and number % 4 = 0`
  yield* sql`insert into comments (id, workspace_id, ticket_id, body, author_kind, author_id, created_at)
    select gen_random_uuid(), ${at.workspaceId}::uuid, ${ids(8, "n")}, 'A comment', 'user', ${id(2, 1)}::uuid, now()
    from ${ticketsOf} n, generate_series(0, 2) where n % 2 = 0`
  yield* sql`insert into tags (id, workspace_id, name, name_key, color, created_at)
    select ${ids(9, "n")}, ${at.workspaceId}::uuid, 'tag ' || n, 'tag ' || n, '#d73a4a', now()
    from generate_series(0, 99) n`
  yield* sql`insert into ticket_tags (workspace_id, ticket_id, tag_id)
    select ${at.workspaceId}::uuid, ${ids(8, "n")}, ${ids(9, "(n + side * 50) % 100")}
    from ${ticketsOf} n, generate_series(0, 1) side where n % 3 = 0`
  const numbered = <Id extends string>(kind: number, n: number) => id(kind, number * 100_000 + n) as Id
  return {
    teamId: numbered<TeamId>(5, 2),
    projectId: numbered<ProjectId>(7, 1),
    tagIds: Array.from({ length: 10 }, (_, n) => numbered<TagId>(9, n)),
    /** Every team's "In progress". */
    statusIds: Array.from({ length: teams }, (_, team) => numbered<TicketStatusId>(6, team * 5 + 2)),
    admin: { workspaceId: at.workspaceId as WorkspaceId, seesPrivateTeams: true, personId: null },
    member: {
      workspaceId: at.workspaceId as WorkspaceId,
      seesPrivateTeams: false,
      personId: at.personId(1) as PersonId
    }
  } satisfies Record<"admin" | "member", Viewer> & Record<string, unknown>
})
