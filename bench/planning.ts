import type { PersonId, ProjectId, TagId, TeamId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Statement } from "effect/sql"
import { ProjectsRepo } from "../packages/server/src/planning/ProjectsRepo.ts"
import { spreadRanks } from "../packages/server/src/planning/Ranks.ts"
import { TicketsRepo } from "../packages/server/src/planning/TicketsRepo.ts"
import type { Viewer } from "../packages/server/src/planning/Visibility.ts"
import { texts } from "../packages/server/src/storage/Columns.ts"
import { id, layerStorage, makeWorkspace } from "./Database.ts"
import { median } from "./Processes.ts"

/**
 * The lists of planning with 20,000 tickets in 500 projects of one workspace beside 2,000 tickets in 50 projects of
 * another: the time of the statement for each row, each pair of calls in turn, and the plan of the larger. Every other
 * ticket has comments, every third tags, every fourth an owner. Run it with `pnpm bench:planning`.
 */
const sizes = { small: 50, large: 500 }
const ticketsPerProject = 40
const teams = 20
/** Calls of each list; of one with more than 2,000 rows fewer. */
const rounds = { few: 100, many: 20 }

/** Twenty teams, half of them private, of which the member is in five; each project has an open and a private team. */
const makePlanning = Effect.fnUntraced(function* (number: number, projects: number) {
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

const program = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const projects = yield* ProjectsRepo
  const tickets = yield* TicketsRepo
  const small = yield* makePlanning(1, sizes.small)
  const large = yield* makePlanning(2, sizes.large)
  // Others' tickets, as any database has them.
  for (const other of [3, 4, 5]) yield* makePlanning(other, sizes.large)
  for (const table of [
    "tickets",
    "projects",
    "project_teams",
    "project_products",
    "ticket_statuses",
    "teams",
    "team_members",
    "members",
    "comments",
    "tags",
    "ticket_tags"
  ]) {
    yield* sql`vacuum analyze ${sql(table)}`
  }

  type List = (at: typeof small) => Effect.Effect<ReadonlyArray<unknown>>
  const lists: ReadonlyArray<readonly [name: string, list: List]> = [
    ["projects, seen by an admin", (at) => projects.list(at.admin, { archived: "exclude" })],
    ["projects, seen by a member", (at) => projects.list(at.member, { archived: "exclude" })],
    ["tickets, seen by an admin", (at) => tickets.list(at.admin, {})],
    ["tickets, seen by a member", (at) => tickets.list(at.member, {})],
    ["tickets of a team", (at) => tickets.list(at.member, { teamIds: [at.teamId] })],
    ["tickets of a project", (at) => tickets.list(at.member, { projectIds: [at.projectId] })],
    ["tickets of an owner", (at) => tickets.list(at.member, { owners: [at.member.personId] })],
    ["tickets started", (at) => tickets.list(at.member, { categories: ["started"] })],
    ["tickets of a view", (at) => tickets.list(at.member, { statusIds: at.statusIds, tagIds: at.tagIds })]
  ]

  const timed = Effect.fnUntraced(function* (list: Effect.Effect<ReadonlyArray<unknown>>) {
    const began = performance.now()
    const rows = yield* list
    return [performance.now() - began, rows.length] as const
  })
  const explain = Effect.fnUntraced(function* (list: Effect.Effect<ReadonlyArray<unknown>>) {
    const statements: Array<ReturnType<Statement.Statement<unknown>["compile"]>> = []
    const capture: Statement.Transformer = (one) => {
      statements.push(one.compile())
      return Effect.succeed(one)
    }
    yield* Effect.provideService(list, Statement.CurrentTransformer, capture)
    const [statement, ...more] = statements
    if (statement === undefined || more.length > 0) throw new Error(`The list takes ${statements.length} statements.`)
    const plan = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(
      `explain (analyze, costs off, timing off, summary off, buffers off) ${statement[0]}`,
      statement[1]
    )
    return plan.map((row) => `    ${row["QUERY PLAN"]}`).join("\n")
  })

  const countOf = (projects: number) => projects * ticketsPerProject
  console.log(
    `Whole lists, ${rounds.few} calls in turn, of the longest ${rounds.many}, after warming up; medians:\n` +
      `${"list".padEnd(28)}  rows  ms at ${countOf(sizes.small)} tickets    rows  ms at ${countOf(sizes.large)} tickets   µs a row   ratio`
  )
  for (const [name, list] of lists) {
    const count = (yield* list(large)).length > 2_000 ? rounds.many : rounds.few
    const times: Record<keyof typeof sizes, Array<number>> = { small: [], large: [] }
    const rows = { small: 0, large: 0 }
    for (let round = -count / 10; round < count; round++) {
      for (const [size, at] of [
        ["small", small],
        ["large", large]
      ] as const) {
        const [time, length] = yield* timed(list(at))
        rows[size] = length
        if (round >= 0) times[size].push(time)
      }
    }
    const [a, b] = [median(times.small), median(times.large)]
    const [perA, perB] = [(a * 1_000) / rows.small, (b * 1_000) / rows.large]
    console.log(
      `${name.padEnd(28)} ${String(rows.small).padStart(5)} ${a.toFixed(2).padStart(18)}   ` +
        `${String(rows.large).padStart(5)} ${b.toFixed(2).padStart(19)}   ` +
        `${perA.toFixed(0).padStart(5)} ${perB.toFixed(0).padStart(5)}   ${(perB / perA).toFixed(2)}`
    )
  }
  console.log(`\nPlans at ${countOf(sizes.large)} tickets:`)
  for (const [name, list] of lists) console.log(`\n  ${name}\n${yield* explain(list(large))}`)
})

await Effect.runPromise(program.pipe(Effect.provide(layerStorage), Effect.scoped))
