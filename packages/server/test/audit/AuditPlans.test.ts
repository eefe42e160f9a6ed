import type { WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerSqlStorage } from "../../src/App.ts"
import { type AuditFilter, AuditRepo } from "../../src/audit/AuditRepo.ts"
import { addWorkspace, newId } from "../identity/Scene.ts"
import { layerPostgres } from "../support/Databases.ts"

/** How PostgreSQL finds a page of the audit: by an index for each filter, in the order of the page, however many entries there are. */

const count = 50_000
const page = 101
const begin = Date.parse("2026-01-01T00:00:00.000Z")
const at = (entry: number) => new Date(begin + entry * 1_000).toISOString()
const idAt = (entry: number): string => {
  const hex = (begin + entry * 1_000).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}
const person = (n: number) => `00000000-0002-7000-8000-${String(n).padStart(12, "0")}`

/** One entry a second: of 50 persons, 10 actions and 5,000 subjects, one refusal in 1,000, and one export, the oldest. */
const addEntries = Effect.fnUntraced(function* (workspaceId: WorkspaceId, entries: number) {
  const sql = yield* PgClient.PgClient
  yield* sql`insert into audit_entries (id, workspace_id, action, outcome, actor_id, actor, subject_type, subject_id,
      subject_label)
    select (left(hex, 8) || '-' || right(hex, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${workspaceId}::uuid,
      case when n = 0 then 'audit_exported' else 'action_' || n % 10 end,
      case n % 1000 when 500 then 'refused' else 'allowed' end,
      ('00000000-0002-7000-8000-' || lpad((n % 50)::text, 12, '0'))::uuid, '{"kind": "removed"}', 'secret',
      'subject-' || n % 5000, 'DATABASE_URL of Shop'
    from generate_series(0, ${entries}::int - 1) n,
      lateral (select lpad(to_hex(${begin}::bigint + n * 1000::bigint), 12, '0') as hex) at`
})

/** The entries that match each filter alone: where several never meet, the rarest is read whole. */
const matching = { person: count / 50, action: count / 10, subject: count / 5_000, refused: count / 1_000 }

/** What is read at most: of one filter the page, and not all of what it matches. */
const filters: ReadonlyArray<readonly [name: string, filter: AuditFilter, found: number, read: number]> = [
  ["nothing", {}, page, page],
  ["what is allowed", { outcome: "allowed" }, page, page + 1],
  ["a cursor", { cursor: idAt(count / 2) }, page, page],
  ["a period", { from: at(1_000), to: at(2_000) }, page, page],
  ["a period of the oldest", { to: at(49) }, 50, 50],
  ["a person", { actor: person(7) }, page, page],
  ["a person in a period", { actor: person(7), from: at(10_000), to: at(20_000) }, page, page],
  ["an action", { action: "action_3" }, page, page],
  ["an action, once, the oldest", { action: "audit_exported" }, 1, 1],
  ["an action in a period", { action: "action_3", to: at(20_000) }, page, page],
  ["a subject", { subject: "subject-7" }, matching.subject, matching.subject],
  ["a subject in a period", { subject: "subject-7", from: at(25_000) }, matching.subject / 2, matching.subject / 2],
  ["a subject that is not there", { subject: "nothing" }, 0, 0],
  ["refusals", { outcome: "refused" }, matching.refused, matching.refused],
  ["refusals in a period", { outcome: "refused", to: at(10_000) }, 10, 10],
  ["a person and an action", { actor: person(13), action: "action_3" }, page, matching.person],
  ["a person and an action that never meet", { actor: person(13), action: "action_4" }, 0, matching.person],
  ["a person and a subject", { actor: person(7), subject: "subject-7" }, matching.subject, matching.subject],
  ["an action and a subject", { action: "action_4", subject: "subject-7" }, 0, matching.subject],
  ["a person who was never refused", { actor: person(7), outcome: "refused" }, 0, matching.refused],
  ["an action that was never refused", { action: "action_7", outcome: "refused" }, 0, matching.refused]
]

layer(layerSqlStorage.pipe(Layer.provideMerge(layerPostgres)), { excludeTestServices: true })(
  "A page of the audit",
  (it) => {
    it.effect("reads no more of an index than it must, whatever it is filtered by", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const repo = yield* AuditRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        yield* addEntries(workspace.id, count)
        yield* addEntries(other.id, 1_000)
        yield* sql`vacuum analyze audit_entries`
        const scans = Effect.map(
          sql<{ readonly whole: number; readonly entries: number }>`select
            pg_stat_get_xact_numscans('audit_entries'::regclass)::integer as whole,
            (select sum(pg_stat_get_xact_tuples_returned(indexrelid))::integer from pg_index
              where indrelid = 'audit_entries'::regclass) as entries`,
          ([found]) => found!
        )
        for (const [name, filter, expected, most] of filters) {
          // The connection may not have reported what it did before.
          const reading = Effect.all([scans, repo.find(workspace.id, filter, page), scans])
          const [before, rows, after] = yield* sql.withTransaction(reading)
          assert.deepStrictEqual([rows.length, after.whole - before.whole], [expected, 0], name)
          assert.isAtMost(after.entries - before.entries, most, name)
        }
        assert.deepStrictEqual(yield* repo.find(newId<WorkspaceId>(), {}, page), [])
      })
    )
  }
)
