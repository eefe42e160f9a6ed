import type { WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type AuditFilter, AuditRepo } from "../packages/server/src/audit/AuditRepo.ts"
import { id, layerStorage } from "./Database.ts"
import { median } from "./Processes.ts"
import { percentile95 } from "./RunFilters.ts"

/**
 * The audit with 1,000,000 entries of one workspace beside 1,000 of another: each filter's page, each pair of calls in turn,
 * and how long all entries of the larger take an export to read. Run it with `pnpm bench:audit`.
 */
const sizes = { small: 1_000, large: Number(process.env["BENCH_ENTRIES"] ?? 1_000_000) }
const rounds = 100
const pageSize = 101

const begin = Date.parse("2026-01-01T00:00:00.000Z")

/**
 * One entry a second, of 50 persons, 10 actions and 5,000 subjects. Of 1,000 entries one is a refusal; the oldest is the only
 * export; the person 49 is in the older half alone.
 */
const makeEntries = Effect.fnUntraced(function* (workspace: number, count: number) {
  const sql = yield* PgClient.PgClient
  const workspaceId = id(1, workspace)
  yield* sql`insert into workspaces (id, slug, name, created_at, updated_at)
    values (${workspaceId}, ${`bench-${workspace}`}, 'Bench', now(), now())`
  yield* sql`insert into audit_entries (id, workspace_id, action, outcome, actor_id, actor, credential, address,
      subject_type, subject_id, subject_label, environments, versions, changes, request_id)
    select (left(hex, 8) || '-' || right(hex, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${workspaceId}::uuid,
      case when n = 0 then 'audit_exported' else 'action_' || n % 10 end, case n % 1000 when 500 then 'refused' else 'allowed' end,
      person, jsonb_build_object('kind', 'user', 'id', person, 'name', 'Ana', 'email', 'ana@example.com'),
      '{"kind": "apiKey", "id": "00000000-0009-7000-8000-000000000000", "lastFour": "abcd"}', '192.0.2.1',
      'secret', 'subject-' || n % 5000, 'DATABASE_URL of Shop', '["production"]', '[7]', null, gen_random_uuid()::text
    from generate_series(0, ${count}::int - 1) n,
      lateral (select lpad(to_hex(${begin}::bigint + n * 1000::bigint), 12, '0') as hex,
        ('00000000-0002-7000-8000-' || lpad(to_hex(case when n % 50 = 49 and n > ${count}::int / 2 then 48 else n % 50 end),
          12, '0'))::uuid as person) at`
  return { workspaceId: workspaceId as WorkspaceId, count }
})

type At = Effect.Success<ReturnType<typeof makeEntries>>

const at = ({ count }: At, part: number) => new Date(begin + Math.floor(count * part) * 1000).toISOString()

const filters: ReadonlyArray<readonly [name: string, of: (at: At) => AuditFilter]> = [
  ["none", () => ({})],
  [
    "`cursor`, in the middle",
    ({ count }) => {
      const hex = (begin + (count / 2) * 1000).toString(16).padStart(12, "0")
      return { cursor: `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000` }
    }
  ],
  ["`from` and `to`, in the middle", (of) => ({ from: at(of, 0.4), to: at(of, 0.5) })],
  ["`actor` (1 of 50)", () => ({ actor: id(2, 7) })],
  ["`actor`, only in the older half", () => ({ actor: id(2, 49) })],
  ["`action` (1 of 10)", () => ({ action: "action_3" })],
  ["`action`, once, the oldest entry", () => ({ action: "audit_exported" })],
  ["`subject` (1 of 5,000)", () => ({ subject: "subject-7" })],
  ["`outcome=refused` (1 of 1,000)", () => ({ outcome: "refused" })],
  ["`outcome=refused`, none", () => ({ outcome: "refused", to: new Date(begin + 400_000).toISOString() })],
  ["`actor` and `action`", () => ({ actor: id(2, 13), action: "action_3" })],
  ["`actor` and `action` that never meet", () => ({ actor: id(2, 13), action: "action_4" })],
  ["`actor` who was never refused", () => ({ actor: id(2, 7), outcome: "refused" })],
  ["`subject` that is not there", () => ({ subject: "nothing" })]
]

const program = Effect.gen(function* () {
  const repo = yield* AuditRepo
  const sql = yield* PgClient.PgClient
  const small = yield* makeEntries(1, sizes.small)
  const large = yield* makeEntries(2, sizes.large)
  yield* sql`vacuum analyze audit_entries`
  const timed = Effect.fnUntraced(function* (of: At, filter: AuditFilter) {
    const began = performance.now()
    const found = yield* repo.find(of.workspaceId, filter, pageSize)
    return [performance.now() - began, found.length] as const
  })
  console.log(
    `Pages of 100 entries, ${rounds} calls in turn after 10, milliseconds:\n` +
      `${"filter".padEnd(38)} found at each  at ${sizes.small}  at ${sizes.large}   ratio  of p95`
  )
  for (const [name, filter] of filters) {
    const times: { small: Array<number>; large: Array<number> } = { small: [], large: [] }
    let found = ""
    for (let round = -10; round < rounds; round++) {
      const [one, fewer] = yield* timed(small, filter(small))
      const [other, more] = yield* timed(large, filter(large))
      found = `${fewer} ${more}`
      if (round < 0) continue
      times.small.push(one)
      times.large.push(other)
    }
    const [a, b] = [median(times.small), median(times.large)]
    console.log(
      `${name.padEnd(38)} ${found.padStart(13)}  ${a.toFixed(2).padStart(7)}  ${b.toFixed(2).padStart(10)}  ` +
        `${(b / a).toFixed(2).padStart(6)}  ${(percentile95(times.large) / percentile95(times.small)).toFixed(2).padStart(6)}`
    )
  }
  const began = performance.now()
  let [read, cursor] = [0, undefined as string | undefined]
  for (;;) {
    const page = yield* repo.find(large.workspaceId, { cursor }, pageSize)
    read += page.length
    cursor = page.at(-1)?.id
    if (page.length < pageSize) break
  }
  const seconds = (performance.now() - began) / 1000
  console.log(
    `\nRead ${read} entries, a page at a time, in ${seconds.toFixed(1)} s: ${Math.round(read / seconds)} a second.`
  )
  const [disk] = yield* sql<{ readonly size: string }>`select
    pg_size_pretty(pg_total_relation_size('audit_entries')) as size`
  console.log(`With their indexes they take ${disk!.size}.`)
})

await Effect.runPromise(program.pipe(Effect.provide(layerStorage), Effect.scoped))
