import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Statement } from "effect/sql"
import { ProjectsRepo } from "../packages/server/src/planning/ProjectsRepo.ts"
import { TicketsRepo } from "../packages/server/src/planning/TicketsRepo.ts"
import { layerStorage, makePlanning, ticketsPerProject } from "./Database.ts"
import { median } from "./Processes.ts"

/**
 * The lists of planning with 20,000 tickets in 500 projects of one workspace beside 2,000 tickets in 50 projects of
 * another: the time of the statement for each row, each pair of calls in turn, and the plan of the larger. Every other
 * ticket has comments, every third tags, every fourth an owner. Run it with `pnpm bench:planning`.
 */
const sizes = { small: 50, large: 500 }
/** Calls of each list; of one with more than 2,000 rows fewer. */
const rounds = { few: 100, many: 20 }

/** Milliseconds and rows. */
const timed = Effect.fnUntraced(function* (list: Effect.Effect<ReadonlyArray<unknown>>) {
  const began = performance.now()
  const rows = yield* list
  return [performance.now() - began, rows.length] as const
})
/** The plan of the one statement of a list. */
const explain = Effect.fnUntraced(function* (sql: PgClient.PgClient, list: Effect.Effect<ReadonlyArray<unknown>>) {
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
  for (const [name, list] of lists) console.log(`\n  ${name}\n${yield* explain(sql, list(large))}`)
})

await Effect.runPromise(program.pipe(Effect.provide(layerStorage), Effect.scoped))
