import type { PGlite } from "@electric-sql/pglite"
import { amcheck } from "@electric-sql/pglite/contrib/amcheck"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { createHash, randomInt } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { open } from "../../src/database/EmbeddedDatabaseOpening.ts"
import { type Change, changeOf, stateAfter, writers } from "./PowerLossChanges.ts"
import { anyLoss, contentsOf, type DiskCall, everything, readCalls, SimulatedDisk } from "./SimulatedDisk.ts"

/** How many losses of power; a run for docs/measurements.md has more. */
const points = Number(process.env["POWER_LOSS_POINTS"] ?? 20)
const seed = Number(process.env["POWER_LOSS_SEED"] ?? randomInt(2 ** 31))

/** Mulberry32: the same numbers for the same seed. */
const randomOf = (start: number) => {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** In memory where there is enough of it: what is opened there was lost already, and each opening flushes all of it. */
const scratch = (): string => {
  const memory = "/dev/shm"
  const hasRoom = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > 2 ** 30
  return mkdtempSync(join(hasRoom ? memory : tmpdir(), "power-loss-"))
}

const directory = scratch()
const recorded = join(directory, "recorded")
const callsFile = join(directory, "calls")
let calls: ReadonlyArray<DiskCall> = []
let bytes: Buffer = Buffer.alloc(0)

/** Runs the writers, and records all that their process does to the disk. */
const live = (first: number, changes: number, end: "close" | "kill"): void => {
  const recorder = new URL("./RecordedDisk.ts", import.meta.url).href
  const program = fileURLToPath(new URL("./PowerLossProcess.ts", import.meta.url))
  const { signal, status, stderr } = spawnSync(
    process.execPath,
    [program, join(recorded, "data"), String(first), String(changes), end],
    {
      env: { ...process.env, NODE_OPTIONS: `--import=${recorder}`, RECORDED_DISK: recorded, RECORDED_CALLS: callsFile },
      encoding: "utf8"
    }
  )
  assert.strictEqual(end === "kill" ? signal : status, end === "kill" ? "SIGKILL" : 0, stderr)
}

beforeAll(() => {
  mkdirSync(recorded)
  live(0, 100, "kill")
  live(100, 60, "close")
  live(160, 20, "close")
  const read = readCalls(callsFile)
  calls = read.calls
  bytes = read.bytes
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Numbers of calls by what the process does then; the moment of each answer is one of its own. */
const phases = (): ReadonlyMap<string, ReadonlyArray<number>> => {
  const found = new Map<string, Array<number>>()
  const note = (phase: string, number: number) => found.get(phase)?.push(number) ?? found.set(phase, [number])
  const begun = new Map([
    ["opened", "changes"],
    ["checkpoint", "checkpoint"],
    ["checkpointed", "changes"],
    ["closing", "close"]
  ])
  let phase = ""
  for (const [index, call] of calls.entries()) {
    if (call.call !== "mark") note(phase, index + 1)
    else if (call.name.startsWith("acknowledged-")) note("answer", index + 1)
    else if (call.name === "started") phase = phase === "" ? "first start" : "later start"
    else phase = begun.get(call.name) ?? phase
  }
  return found
}

const md5 = (text: string) => createHash("md5").update(text).digest("hex")

/** What is wrong with the changes in the database, of which some were acknowledged. */
const wrongChanges = async (
  database: PGlite,
  acknowledged: ReadonlySet<number>,
  isCreated: boolean
): Promise<ReadonlyArray<string>> => {
  const rows = async <A>(query: string) => (await database.query<A>(query)).rows
  const problems: Array<string> = []
  const same = (what: string, found: unknown, expected: unknown) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
    if (a !== b) problems.push(`${what}: ${a.slice(0, 300)} instead of ${b.slice(0, 300)}`)
  }
  const [there] = await rows<{ readonly all: boolean }>(`SELECT count(*) = 3 AS all FROM pg_class
    WHERE relname IN ('changes', 'entries', 'accounts') AND relkind = 'r'`)
  if (there?.all !== true) return isCreated ? ["tables are missing"] : []
  const changes = await rows<Change>("SELECT id, kind, target FROM changes ORDER BY id")
  const made = changes.map(({ id }) => changeOf(id % writers, Math.floor(id / writers)))
  same("changes", changes, made)
  const ids = new Set(changes.map(({ id }) => id))
  const lost = [...acknowledged].filter((id) => !ids.has(id))
  if (lost.length > 0) problems.push(`acknowledged and lost: ${lost.join(", ")}`)
  for (const id of ids) if (id >= writers && !ids.has(id - writers)) problems.push(`${id} without the one before it`)

  const expected = stateAfter(changes)
  const entries = [...expected.entries].map(([id, body]) => ({ id, body: md5(body) })).toSorted((a, b) => a.id - b.id)
  same("entries", await rows("SELECT id, md5(body) AS body FROM entries ORDER BY id"), entries)
  const accounts = await rows<object>("SELECT id, amount FROM accounts ORDER BY id")
  const amounts = [...expected.accounts].map(([id, amount]) => ({ id, amount }))
  if (isCreated || accounts.length > 0) same("accounts", accounts, amounts)
  const tables = await rows<{ readonly id: number }>(`SELECT substr(relname, 6)::int AS id FROM pg_class
    WHERE relname LIKE 'made\\_%' AND relkind = 'r' ORDER BY id`)
  const numbers = [...expected.tables].toSorted((a, b) => a - b)
  same(
    "tables",
    tables.map(({ id }) => id),
    numbers
  )
  if (problems.length > 0 || numbers.length === 0) return problems
  const counts = numbers.map(
    (id) => `SELECT ${id} AS id, count(*)::int AS n, count(body)::int AS bodies FROM made_${id}`
  )
  same(
    "their rows",
    await rows(`${counts.join(" UNION ALL ")} ORDER BY id`),
    numbers.map((id) => ({ id, n: id % 2 === 0 ? 40 : 0, bodies: id % 2 === 0 ? 40 : 0 }))
  )
  return problems
}

/** Looks at every page of every table and of every index of numbers and texts, as PostgreSQL's own check of damage does. */
const damages = async (database: PGlite): Promise<ReadonlyArray<string>> => {
  await database.exec("CREATE EXTENSION amcheck")
  const { rows } = await database.query<{ readonly problem: string }>(`
    SELECT format('%s: %s', c.oid::regclass, h.msg) AS problem
    FROM pg_class c, LATERAL verify_heapam(c.oid, check_toast => true) h
    WHERE c.relkind IN ('r', 't', 'm') AND c.relpersistence = 'p'`)
  // Fails at the first that is damaged.
  await database.query(`
    SELECT bt_index_check(c.oid, true, i.indisunique)
    FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am a ON a.oid = c.relam
    WHERE a.amname = 'btree' AND c.relpersistence = 'p' AND i.indisvalid`)
  return rows.map(({ problem }) => problem)
}

/** Opens what is left as a server does, and looks for what is wrong. */
const wrongWith = async (
  dataDir: string,
  acknowledged: ReadonlySet<number>,
  isCreated: boolean
): Promise<ReadonlyArray<string>> => {
  mkdirSync(dataDir, { recursive: true })
  try {
    const { database } = await open(dataDir, undefined, { amcheck })
    try {
      const problems = [...(await wrongChanges(database, acknowledged, isCreated)), ...(await damages(database))]
      await database.exec("CREATE TABLE afterwards AS SELECT n FROM generate_series(1, 1000) n")
      await database.exec("CHECKPOINT")
      return problems
    } finally {
      await database.close()
    }
  } catch (error) {
    return [`it cannot be used: ${String(error)}`]
  }
}

describe("A loss of power", () => {
  it("is simulated with all that was written, for the record has it all", () => {
    const disk = new SimulatedDisk(bytes)
    for (const call of calls) disk.run(call)
    const target = join(directory, "everything")
    mkdirSync(target)
    disk.writeTo(target, everything)
    const [found, expected] = [contentsOf(target), contentsOf(recorded)]
    assert.deepStrictEqual([...found.keys()].toSorted(), [...expected.keys()].toSorted())
    for (const [path, content] of expected) assert.isTrue(content.equals(found.get(path)!), path)
    rmSync(target, { recursive: true })
  })

  it.live(
    "leaves a database with every acknowledged change and no other damage",
    () =>
      Effect.gen(function* () {
        const random = randomOf(seed)
        const all = phases()
        const names = [...all.keys()]
        const chosen = Array.from({ length: points }, () => {
          const phase = names[Math.floor(random() * names.length)]!
          const numbers = all.get(phase)!
          return { phase, number: numbers[Math.floor(random() * numbers.length)]! }
        }).toSorted((a, b) => a.number - b.number)
        const disk = new SimulatedDisk(bytes)
        const acknowledged = new Set<number>()
        let isCreated = false
        const counts = new Map<string, number>()
        const found = yield* Effect.forEach(
          chosen.entries(),
          Effect.fnUntraced(function* ([index, { number, phase }]) {
            for (const call of calls.slice(disk.number, number)) {
              disk.run(call)
              if (call.call !== "mark") continue
              isCreated ||= call.name === "created"
              if (call.name.startsWith("acknowledged-")) acknowledged.add(Number(call.name.slice(13)))
            }
            const state = join(directory, String(index))
            mkdirSync(state)
            const loss = anyLoss(random, number)
            disk.writeTo(state, loss)
            counts.set(phase, (counts.get(phase) ?? 0) + 1)
            const before = [join(state, "data"), new Set(acknowledged), isCreated] as const
            const problems = yield* Effect.promise(() => wrongWith(...before))
            rmSync(state, { recursive: true })
            return problems.map((problem) => `${phase}, call ${number}, ${loss.kind}: ${problem}`)
          }),
          { concurrency: 2 }
        )
        yield* Effect.log(
          `seed ${seed}, ${calls.length} calls, ${points} losses: ${[...counts].map(([phase, n]) => `${n} in ${phase}`).join(", ")}`
        )
        assert.deepStrictEqual(found.flat(), [], `POWER_LOSS_SEED=${seed} POWER_LOSS_POINTS=${points}`)
      }),
    60_000 + points * 10_000
  )
})
