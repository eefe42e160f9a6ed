import { parseTicketIdentifier } from "@delivery/domain/planning/Ticket"
import { maxFound, wordsOf } from "@delivery/domain/planning/TicketSearch"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import assert from "node:assert"
import { cpus, loadavg } from "node:os"
import { join, resolve } from "node:path"
import { type TicketSelection, TicketsRepo } from "../packages/server/src/planning/TicketsRepo.ts"
import type { Viewer } from "../packages/server/src/planning/Viewer.ts"
import { apiKey, open } from "./Bench.ts"
import { layerStorage, makePlanning, ticketsPerProject } from "./Database.ts"
import { median, start, type Started } from "./Processes.ts"
import { explain, percentile95 } from "./RunFilters.ts"

/**
 * The search of 100,000 tickets with two comments each in one workspace beside 2,000 of another: p50 and p95 of every kind of `q`, and how its
 * statements find tickets. Then what it costs to write tickets, beside a checkout of another version: `BENCH_BEFORE`
 * names it. Run it with `pnpm bench:tickets`.
 */
const size = Number(process.env["BENCH_TICKETS"] ?? 100_000)
const rounds = 60
/** How many words there are, of which the n-th is as frequent as 1 / n. */
const vocabulary = 20_000

type Planning = Effect.Success<ReturnType<typeof makePlanning>>

/**
 * Gives tickets titles of 8 words and descriptions of 80. "ticket" is in every title, "acme" in every description, "legacy"
 * in each title and "retired" in each description but of the tenth that changed last, "ancient" and "early" in the titles of
 * the tenth and of the three tenths that changed first.
 */
const writeTexts = Effect.fnUntraced(function* ({ admin }: Planning, count: number) {
  const sql = yield* PgClient.PgClient
  // The number of a word, and of it letters.
  const some = (words: number) =>
    sql`(select string_agg(translate(substr(md5(w::text), 1, 3 + w % 7), '0123456789', 'ghijklmnop'), ' ')
      from (
        select ceil(exp(random() * ln(${vocabulary}::int)))::int as w from generate_series(1, ${words}::int)
        where t.number is not null offset 0
      ) drawn)`
  // Numbers tell when a ticket changed.
  yield* sql`update tickets t set
      title = 'Ticket ' || ${some(6)} || case when number < ${count * 0.9} then ' legacy' else ' current' end
        || case when number < ${count * 0.1} then ' ancient' else '' end
        || case when number < ${count * 0.3} then ' early' else '' end,
      description = 'Acme ' || ${some(78)} || case when number < ${count * 0.9} then ' retired' else ' kept' end
        || case when number % 20000 = 77 then ' rarest' else '' end,
      updated_at = now() - ${count}::int * interval '1 minute' + number * interval '1 minute'
    where workspace_id = ${admin.workspaceId}`
  // Two comments of 30 words on each: "said" in every one, "reviewed" in those of the tickets that changed first, "regression" in five.
  yield* sql`insert into comments (id, workspace_id, ticket_id, body, author_kind, author_id, created_at)
    select gen_random_uuid(), t.workspace_id, t.id, 'Said ' || ${some(28)}
        || case when number < ${count * 0.9} then ' reviewed' else ' open' end
        || case when number % 20000 = 99 and n = 1 then ' regression' else '' end,
      t.creator_kind, t.creator_id, t.updated_at
    from tickets t cross join generate_series(1, 2) n where t.workspace_id = ${admin.workspaceId}`
  yield* sql`insert into ticket_identifiers (workspace_id, team_id, number, ticket_id)
    select workspace_id, team_id, number, id from tickets where workspace_id = ${admin.workspaceId}`
})

/** The search as a comparison of every ticket finds it. */
const scan = Effect.fnUntraced(function* ({ workspaceId }: Viewer, q: string, selection: TicketSelection) {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly id: string; readonly titled: boolean }>`
    with worded as (
      select t.id, t.updated_at, ' ' || lower(team.key) || ' ' || number || ' ' || lower(title) as title,
        ' ' || lower(description) as description, team.key || '-' || number as identifier
      from tickets t join teams team on team.id = t.team_id
      where t.workspace_id = ${workspaceId}
        and (${selection.teamIds?.[0] ?? null}::uuid is null or t.team_id = ${selection.teamIds?.[0] ?? null})
        and (${selection.projectIds?.[0] ?? null}::uuid is null or t.project_id = ${selection.projectIds?.[0] ?? null})
    )
    select id from worded cross join lateral (
      select ${sql.and(wordsOf(q).map((word) => sql`strpos(title || description, ${` ${word}`}) > 0`))} as has
    ) own
    where has or exists (select from comments c where c.ticket_id = worded.id
      and ${sql.and(wordsOf(q).map((word) => sql`strpos(' ' || lower(body), ${` ${word}`}) > 0`))})
    order by identifier <> ${q}, ${sql.and(wordsOf(q).map((word) => sql`strpos(title, ${` ${word}`}) > 0`))} desc, has desc,
      updated_at desc, id desc
    limit ${maxFound}`
  return rows.map(({ id }) => id)
})

const searches = (at: Planning): ReadonlyArray<readonly [name: string, q: string, selection: TicketSelection]> => [
  ["one letter", "a", {}],
  ["one letter, of few words", "p", {}],
  ["ten of one letter", "a b c d e f g h i j", {}],
  ["in every title", "ticket", {}],
  ["in every description", "acme", {}],
  ["in every title and description", "ticket acme", {}],
  ["in every title but the newest", "legacy", {}],
  ["in every description but the newest", "retired", {}],
  ["all of these, two letters", "le re", {}],
  ["in titles of the oldest tenth", "ancient", {}],
  ["in titles of the oldest three tenths", "early", {}],
  ["in five descriptions", "rarest", {}],
  ["in every title, and in five descriptions", "ticket rarest", {}],
  ["in every comment", "said", {}],
  ["in every comment but of the newest", "reviewed", {}],
  ["in five comments", "regression", {}],
  ["in five comments, with a word of all", "said regression", {}],
  ["in every comment, of a project", "reviewed", { projectIds: [at.projectId] }],
  ["nowhere", "zzzz", {}],
  ["an identifier", "T1-777", {}],
  ["a key", "T4", {}],
  ["one letter, of a team", "a", { teamIds: [at.teamId] }],
  ["in every title but the newest, of a team", "legacy", { teamIds: [at.teamId] }],
  ["one letter, of a project", "a", { projectIds: [at.projectId] }],
  ["in five descriptions, of a project", "rarest", { projectIds: [at.projectId] }]
]

const load = () => `load of the last minute ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`

const reads = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const repo = yield* TicketsRepo
  const count = Math.ceil(size / ticketsPerProject)
  const small = yield* makePlanning(1, 50)
  const large = yield* makePlanning(2, count)
  yield* writeTexts(small, 50 * ticketsPerProject)
  yield* writeTexts(large, count * ticketsPerProject)
  const began = performance.now()
  while (yield* sql.withTransaction(repo.wordTickets));
  while (yield* sql.withTransaction(repo.wordComments));
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  const [disk] = yield* sql<{ readonly words: string; readonly tickets: string }>`select
    pg_size_pretty(pg_total_relation_size('ticket_words')) || ' and ' || pg_size_pretty(pg_total_relation_size('comment_words')) as words,
    pg_size_pretty(pg_total_relation_size('tickets')) as tickets`
  console.log(`The words of ${size} tickets stored in ${seconds} s: ${disk!.words}; the tickets ${disk!.tickets}.\n`)
  for (const table of [
    "tickets",
    "ticket_words",
    "comments",
    "comment_words",
    "teams",
    "team_members",
    "ticket_statuses",
    "ticket_identifiers"
  ]) {
    yield* sql`vacuum analyze ${sql(table)}`
  }

  console.log(`${rounds} calls after 3, milliseconds, by an admin and by a member of 5 of 10 private teams; ${load()}.`)
  console.log("| Words | found | admin p50 | admin p95 | member p50 | member p95 |\n|---|---|---|---|---|---|")
  for (const [name, q, selection] of searches(large)) {
    const query = { words: wordsOf(q), identifier: parseTicketIdentifier(q) === undefined ? undefined : q }
    const times: { admin: Array<number>; member: Array<number> } = { admin: [], member: [] }
    const found = yield* repo.search(large.admin, query, selection)
    assert.deepStrictEqual(
      found.map(({ id }) => id),
      yield* scan(large.admin, q, selection),
      name
    )
    for (let round = -3; round < rounds; round++) {
      for (const who of ["admin", "member"] as const) {
        const start = performance.now()
        yield* repo.search(large[who], query, selection)
        if (round >= 0) times[who].push(performance.now() - start)
      }
    }
    const shown = Object.values(times).flatMap((some) => [median(some).toFixed(1), percentile95(some).toFixed(1)])
    console.log(`| ${name} | ${found.length} | ${shown.join(" | ")} |`)
  }
  console.log(`\n${load()} at the end. How each finds tickets: each line a scan, each block of lines a statement.`)
  for (const [name, q, selection] of searches(large)) {
    const query = { words: wordsOf(q), identifier: parseTicketIdentifier(q) === undefined ? undefined : q }
    const plans = yield* explain(repo.search(large.member, query, selection), "ticket|comment|teams")
    console.log(`\n  ${name}\n${plans.join("\n\n")}`)
  }
})

const mainOf = (checkout: string) => join(resolve(checkout), "packages/server/src/cli/main.ts")

const send = async ({ baseUrl }: Started, method: string, path: string, json: object) => {
  const answer = await fetch(`${baseUrl}/v1/workspaces/main/${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(json)
  })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as { readonly id: string; readonly statuses: ReadonlyArray<{ readonly id: string }> }
}

const text = (n: number, words: number): string =>
  Array.from({ length: words }, (_, i) => ((n * 7_919 + i * i * 104_729) % vocabulary).toString(36)).join(" ")

/** What a ticket costs that is made, and each of its changes: two servers in turn, a block each. */
const writes = async (before: string) => {
  const databases = [await open(), await open()]
  const servers = [
    await start(mainOf(before), ["serve"], databases[0]!.settings),
    await start(mainOf("."), ["serve"], databases[1]!.settings)
  ]
  try {
    const kinds = ["create", "title", "status"] as const
    const times = servers.map(
      () => ({ create: [], title: [], status: [] }) as Record<(typeof kinds)[number], Array<number>>
    )
    const statuses = await Promise.all(
      servers.map(async (server) => {
        await send(server, "POST", "teams", { key: "ENG", name: "Engineering" })
        const answer = await fetch(`${server.baseUrl}/v1/workspaces/main/ticket-statuses?team=ENG`, {
          headers: { authorization: `Bearer ${apiKey}` }
        })
        return ((await answer.json()) as { readonly statuses: ReadonlyArray<{ readonly id: string }> }).statuses
      })
    )
    const timed = async <A>(into: Array<number>, work: () => Promise<A>) => {
      const began = performance.now()
      const result = await work()
      into.push(performance.now() - began)
      return result
    }
    const blocks = 60
    for (let block = 0; block < blocks; block++) {
      for (const side of block % 2 === 0 ? [0, 1] : [1, 0]) {
        const [server, own] = [servers[side]!, times[side]!]
        for (let n = block * 50; n < block * 50 + 50; n++) {
          const { id } = await timed(own.create, () =>
            send(server, "POST", "tickets", { team: "ENG", title: text(n, 8), description: text(n, 80) })
          )
          await timed(own.title, () => send(server, "PATCH", `tickets/${id}`, { title: text(n + 1, 8) }))
          await timed(own.status, () =>
            send(server, "PATCH", `tickets/${id}`, { status: statuses[side]![1 + (n % 4)]!.id })
          )
        }
      }
    }
    console.log(`\nWriting ${blocks * 50} tickets, one call after the other, medians in ms, before and now; ${load()}.`)
    for (const kind of kinds) {
      const [a, b] = times.map((own) => median(own[kind].slice(300)))
      console.log(`  ${kind.padEnd(8)} ${a!.toFixed(2)}  ${b!.toFixed(2)}  ${(b! / a!).toFixed(3)}`)
    }
  } finally {
    for (const server of servers) await server.end()
    for (const database of databases) await database.close()
  }
}

if (process.env["BENCH_READS"] !== "false") {
  await Effect.runPromise(reads.pipe(Effect.provide(layerStorage), Effect.scoped))
}
const before = process.env["BENCH_BEFORE"]
if (before !== undefined) await writes(before)
