import type { AuditEntryId, WorkspaceId } from "@delivery/domain/Ids"
import type { Actor } from "@delivery/domain/identity/Actor"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { type AuditFilter, AuditRepo, type AuditRow, lowestId, timeOf } from "../../src/audit/AuditRepo.ts"
import { addAccountKey, addPerson, addWorkspace, newId } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"

/** Both storages of the audit, against the same expectations. */

/** An entry of a time; of one time, `place` gives the order. */
const entry = (workspaceId: WorkspaceId, millis: number, fields: Partial<AuditRow> = {}): AuditRow => {
  const at = lowestId(timestamp(millis)).slice(0, 14)
  return {
    id: `${at}7${newId().slice(15)}` as AuditEntryId,
    workspaceId,
    action: "secret_read",
    outcome: "allowed",
    actorId: null,
    actor: { kind: "removed" },
    credential: null,
    address: null,
    subjectType: "secret",
    subjectId: "none",
    subjectLabel: "None",
    environments: null,
    versions: null,
    changes: null,
    secrets: null,
    count: 1,
    requestId: null,
    ...fields
  }
}

const newestFirst = (rows: ReadonlyArray<AuditRow>) => rows.toSorted((a, b) => (a.id < b.id ? 1 : -1))

onEachStorage("AuditRepo", (it) => {
  it.effect("finds an entry as it was stored", () =>
    Effect.gen(function* () {
      const repo = yield* AuditRepo
      const workspace = yield* addWorkspace()
      const { email, id, name } = yield* addPerson()
      const stored = entry(workspace.id, 1_700_000_000_123, {
        action: "member_updated",
        outcome: "refused",
        actorId: id,
        actor: { kind: "user", id, name, email },
        credential: { kind: "session", id: newId(), lastFour: "wxyz" },
        address: "2001:db8::7",
        subjectType: "member",
        subjectId: newId(),
        subjectLabel: "Ünïcode 🚀 'quoted' \"twice\" \\",
        environments: ["ci", "staging"],
        versions: [3, 1],
        changes: [{ field: "role", from: null, to: "admin" }],
        requestId: "request-7"
      })
      const bare = entry(workspace.id, 1_700_000_000_124)
      yield* repo.insert([stored, bare])
      yield* repo.insert([])
      assert.deepStrictEqual(yield* repo.find(workspace.id, {}, 10), [bare, stored])
      assert.strictEqual(timeOf(stored.id), 1_700_000_000_123)
    })
  )

  it.effect("finds the pages of every filter, as a plain list does", () =>
    Effect.gen(function* () {
      const repo = yield* AuditRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const actors = Array.from({ length: 3 }, () => newId())
      const actions = ["secret_read", "key_created", "members.update"]
      const subjects = ["a", "b", newId()]
      const outcomes = ["allowed", "refused"] as const
      // Few times, so that entries share them.
      const times = [0, 1, 5, 6, 1_000].map((offset) => 1_700_000_000_000 + offset)
      const one = <A>(of: ReadonlyArray<A>) => fc.constantFrom(...of)
      const rows = fc
        .sample(
          fc.tuple(
            one(times),
            one(actors),
            one(actions),
            one(subjects),
            one([workspace.id, workspace.id, other.id]),
            one(outcomes)
          ),
          {
            numRuns: 120,
            seed: 7
          }
        )
        .map(([millis, actorId, action, subjectId, workspaceId, outcome]) =>
          entry(workspaceId, millis, { actorId, action, subjectId, outcome })
        )
      yield* repo.insert(rows)
      const filters = fc.record(
        {
          actor: one([...actors, newId(), "no id", "%"]),
          action: one([...actions, "none"]),
          subject: one([...subjects, "none"]),
          outcome: one(outcomes),
          from: one([...times, times[0]! - 1, times[4]! + 1].map(timestamp)),
          to: one([...times, times[0]! - 1, times[4]! + 1].map(timestamp))
        },
        { requiredKeys: [] }
      )
      const samples = fc.sample(fc.tuple(filters, fc.integer({ min: 1, max: 40 })), { numRuns: 80, seed: 8 })
      for (const [filter, limit] of samples) {
        const expected = newestFirst(rows).filter(
          (row) =>
            row.workspaceId === workspace.id &&
            (filter.actor === undefined || row.actorId === filter.actor) &&
            (filter.action === undefined || row.action === filter.action) &&
            (filter.subject === undefined || row.subjectId === filter.subject) &&
            (filter.outcome === undefined || row.outcome === filter.outcome) &&
            (filter.from === undefined || timestamp(timeOf(row.id)) >= filter.from) &&
            (filter.to === undefined || timestamp(timeOf(row.id)) <= filter.to)
        )
        const found: Array<AuditRow> = []
        for (let cursor: string | undefined; ;) {
          const page: ReadonlyArray<AuditRow> = yield* repo.find(
            workspace.id,
            { ...filter, ...(cursor === undefined ? {} : { cursor }) } satisfies AuditFilter,
            limit
          )
          found.push(...page)
          if (page.length < limit) break
          cursor = page.at(-1)!.id
        }
        assert.deepStrictEqual(found, expected, JSON.stringify(filter))
      }
    })
  )

  it.effect("knows actors by their present names", () =>
    Effect.gen(function* () {
      const repo = yield* AuditRepo
      const { email, id, name } = yield* addPerson()
      const { principal } = yield* addAccountKey(yield* addWorkspace(), "member")
      const user: Actor = { kind: "user", id, name, email }
      assert.deepStrictEqual(yield* repo.actor({ kind: "user", id }), user)
      assert.deepStrictEqual(yield* repo.actor(principal), principal)
      assert.deepStrictEqual(yield* repo.actor({ kind: "user", id: newId() }), { kind: "removed" })
    })
  )

  it.effect("erases what is older, of every workspace, some at a time", () =>
    Effect.gen(function* () {
      const repo = yield* AuditRepo
      const workspaces = [yield* addWorkspace(), yield* addWorkspace()]
      // Entries of other tests may be as old: for many of them no time passes.
      for (let erased = 1; erased > 0;) erased = yield* repo.erase(timestamp(10), 1_000)
      const rows = workspaces.flatMap(({ id }) => [1, 2, 3, 4].map((millis) => entry(id, millis)))
      yield* repo.insert(rows)
      assert.strictEqual(yield* repo.erase(timestamp(1), 10), 0)
      assert.strictEqual(yield* repo.erase(timestamp(4), 4), 4)
      assert.strictEqual(yield* repo.erase(timestamp(4), 4), 2)
      assert.strictEqual(yield* repo.erase(timestamp(4), 4), 0)
      for (const [index, { id }] of workspaces.entries()) {
        assert.deepStrictEqual(yield* repo.find(id, {}, 10), [rows[index * 4 + 3]!])
      }
    })
  )
})
