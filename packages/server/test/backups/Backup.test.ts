import type { Attachment } from "@delivery/domain/planning/Attachment"
import type { Team } from "@delivery/domain/planning/Team"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { hash, randomBytes } from "node:crypto"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import { openDatabase, query } from "../support/Databases.ts"
import { eventually, type Http, http } from "../support/Http.ts"
import { MixedLoad } from "../support/MixedLoad.ts"
import { main, type ServerProcess, startCommand, startServer } from "../support/ServerProcess.ts"

/** Back-ups of a server that works, what is made of them, and what `verify` finds. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const directory = mkdtempSync(join(tmpdir(), "delivery-backup-"))
const servers = new Set<ServerProcess>()
afterAll(async () => {
  for (const server of servers) await server.end()
  rmSync(directory, { recursive: true, force: true })
})

const settingsOf = (name: string) => ({ DATA_DIR: join(directory, name), BOOTSTRAP_API_KEY: apiKey, LOG_LEVEL: "warn" })
type Settings = Readonly<Record<string, string>>

const start = async (settings: Settings) => {
  const server = await startServer({ ...settings })
  servers.add(server)
  return { server, at: http(server.baseUrl, apiKey, "main") }
}

const run = async (settings: Settings, ...args: ReadonlyArray<string>) => {
  const { code, output } = startCommand(process.execPath, [main, ...args], settings)
  return { code: await code(), output: output().trim() }
}

const succeeds = async (settings: Settings, ...args: ReadonlyArray<string>) => {
  const { code, output } = await run(settings, ...args)
  assert.strictEqual(code, 0, output)
  return output
}

/** A refusal is one line. */
const refuses = async (settings: Settings, expected: RegExp, ...args: ReadonlyArray<string>) => {
  const { code, output } = await run(settings, ...args)
  assert.strictEqual(code, 1, output)
  assert.match(output, expected)
  assert.notInclude(output, "\n")
}

/** Writes tickets with attachments, and deletes some of these, until it is told to end. */
const writeTickets = (at: Http, team: string) => {
  const tickets = new Map<string, { readonly title: string; readonly files: Map<string, string> }>()
  const deleted = new Set<string>()
  let isOver = false
  const write = async (writer: number) => {
    for (let count = 0; !isOver; count++) {
      const title = `Ticket ${writer}.${count}`
      const { identifier } = await at.post<Ticket>("tickets", { team, title })
      const files = new Map<string, string>()
      const path = `tickets/${identifier}/attachments`
      const made: Array<string> = []
      for (const size of [10, 100_000]) {
        const bytes = randomBytes(size)
        const { body, status } = await at.send<Attachment>("POST", `${path}?name=${size}`, { body: bytes })
        assert.strictEqual(status, 201)
        made.push(body.id)
        files.set(body.id, hash("sha256", bytes))
      }
      files.delete(made[0]!)
      assert.strictEqual((await at.send("DELETE", `${path}/${made[0]}`)).status, 204)
      deleted.add(made[0]!)
      tickets.set(identifier, { title, files })
    }
  }
  const writers = [1, 2, 3].map(write)
  return {
    tickets,
    deleted,
    end: async () => {
      isOver = true
      await Promise.all(writers)
    }
  }
}

/** The files of a back-up or a data directory, by their paths. */
const filesBelow = (path: string): ReadonlyArray<string> =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const flipByte = (path: string) => {
  const bytes = readFileSync(path)
  bytes[Math.floor(bytes.length / 2)]! ^= 1
  writeFileSync(path, bytes)
}

const onDatabase = (dataDir: string, ...statements: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, (sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement))).pipe(
      Effect.provide(EmbeddedDatabase.layer({ dataDir }), { local: true })
    )
  )

const whole = (name: string) => join(directory, name)
const from = settingsOf("origin")
const restored = settingsOf("restored")

describe("a back-up of the embedded database and the stored files", () => {
  it("is made while the server works, and has all that was answered before", async () => {
    const { at, server } = await start(from)
    await at.post<Team>("teams", { key: "ENG", name: "Engineering" })
    const load = new MixedLoad({
      apiKey,
      targets: () => [server.baseUrl],
      clients: { read: 1, write: 1, run: 2 },
      pauseMillis: 20,
      onCall: () => {}
    })
    await load.prepare()
    const deleted: Array<string> = []
    for (const name of ["first", "second"]) {
      load.start()
      const written = writeTickets(at, "ENG")
      await eventually(
        async () => written.tickets.size,
        (count) => count >= 10
      )
      const before = [...written.tickets].map(([id, { title, files }]) => [id, title, [...files]] as const)
      assert.match(await succeeds(from, "backup", whole(name)), /^Backed up the database and \d+ stored files with /)
      await written.end()
      await load.stop()
      deleted.push(...written.deleted)
      const target = settingsOf(`restored-${name}`)
      const output = await succeeds(target, "restore", whole(name))
      assert.match(output, /^Restored the back-up of \S+Z to \S+ Checked \d+ tables, .+ All is right\.$/m)
      cpSync(join(from.DATA_DIR, "keys"), join(target.DATA_DIR, "keys"), { recursive: true })
      assert.match(await succeeds(target, "verify"), /^Checked \d+ tables, \d+ rows, .+\nAll is right\.$/)
      const copy = await start(target)
      for (const [identifier, title, files] of before) {
        assert.strictEqual((await copy.at.get<Ticket>(`tickets/${identifier}`)).title, title)
        const path = `tickets/${identifier}/attachments`
        const { attachments } = await copy.at.get<{ attachments: ReadonlyArray<Attachment> }>(path)
        assert.deepStrictEqual(
          attachments.filter(({ size }) => size > 10).map(({ id, sha256 }) => [id, sha256]),
          [...files]
        )
        for (const [id, sha256] of files) {
          assert.strictEqual(hash("sha256", (await copy.at.send("GET", `${path}/${id}`)).bytes), sha256)
        }
      }
      assert.match(await succeeds(target, "verify"), /All is right\.$/)
      await copy.server.end("SIGTERM")
    }
    assert.match(await succeeds(from, "verify"), /All is right\.$/)
    // What was garbage while it was copied is swept once the back-up is done.
    await eventually(
      async () => filesBelow(join(from.DATA_DIR, "files")).filter((file) => deleted.includes(basename(file))),
      (left) => left.length === 0
    )
    await server.end("SIGTERM")
    assert.notInclude(server.output(), '"level":"ERROR"')
  }, 540_000)

  it("has no vault keys, and is its owner's alone", () => {
    const key = readFileSync(join(from.DATA_DIR, "keys", "vault.keys"), "utf8")
      .trim()
      .split(":")[1]!
    for (const file of filesBelow(whole("first"))) {
      assert.notInclude(readFileSync(file).toString("latin1"), key)
      assert.notMatch(file, /keys|server\.lock|host\.sock/)
    }
    assert.strictEqual(statSync(whole("first")).mode & 0o077, 0)
  })

  it("is made of a server that is stopped or was killed, too", async () => {
    assert.match(await succeeds(from, "backup", whole("stopped")), /^Backed up /)
    await succeeds(settingsOf("restored-stopped"), "restore", whole("stopped"))
  }, 300_000)

  it("overwrites nothing, and needs a database", async () => {
    await refuses(from, /first is there already\. A back-up overwrites nothing/, "backup", whole("first"))
    await refuses(
      from,
      /^No back-up can be made in \S+: that directory does not exist, make it first\.$/,
      "backup",
      join(directory, "no", "where")
    )
    await refuses(settingsOf("nothing"), /^There is no database in DATA_DIR /, "backup", whole("never"))
    assert.isFalse(existsSync(settingsOf("nothing").DATA_DIR) && existsSync(whole("never")))
  }, 120_000)

  it("is not there when the command or the server was killed meanwhile", async () => {
    const { at, server } = await start(from)
    const written = writeTickets(at, "ENG")
    const drafts = () => readdirSync(directory).filter((name) => name.startsWith("killed.partial-"))
    const { child, code } = startCommand(process.execPath, [main, "backup", whole("killed")], from)
    await eventually(
      async () => drafts(),
      (found) => found.length === 1
    )
    child.kill("SIGKILL")
    await code()
    assert.isFalse(existsSync(whole("killed")))
    await refuses(settingsOf("never"), /is no whole back-up: it has no backup\.json\.$/, "restore", whole(drafts()[0]!))
    const stopped = startCommand(process.execPath, [main, "backup", whole("told-to-stop")], from)
    await eventually(
      async () => readdirSync(directory).filter((name) => name.startsWith("told-to-stop.partial-")),
      (found) => found.length === 1
    )
    stopped.child.kill("SIGTERM")
    assert.strictEqual(await stopped.code(), 1)
    assert.deepStrictEqual(
      readdirSync(directory).filter((name) => name.startsWith("told-to-stop")),
      []
    )
    // The server that it asked goes on, and makes the next one.
    await succeeds(from, "backup", whole("after-kill"))
    await written.end()
    const { code: ended } = startCommand(process.execPath, [main, "backup", whole("cut")], from)
    await eventually(
      async () => readdirSync(directory).some((name) => name.startsWith("cut.partial-")),
      (isBegun) => isBegun
    )
    await server.end("SIGKILL")
    // Once the database is copied, it needs no server.
    if ((await ended()) === 0) await succeeds(settingsOf("restored-cut"), "restore", whole("cut"))
    else assert.isFalse(existsSync(whole("cut")))
  }, 300_000)
})

describe("restore", () => {
  it("refuses a directory that is not empty, and one that is no back-up", async () => {
    await refuses(
      from,
      /^DATA_DIR \S+origin is not empty \(.+\)\. A restore overwrites nothing/,
      "restore",
      whole("first")
    )
    await refuses(
      settingsOf("empty"),
      /nowhere is no whole back-up: it has no backup\.json\.$/,
      "restore",
      whole("nowhere")
    )
  }, 120_000)

  it("refuses a back-up of which a byte is another, or a file is missing, and leaves nothing", async () => {
    const copy = whole("damaged")
    cpSync(whole("first"), copy, { recursive: true })
    const target = settingsOf("never-restored")
    const stored = filesBelow(join(copy, "files")).find((file) => statSync(file).size > 10)!
    const table = filesBelow(join(copy, "postgres", "base")).find((file) => statSync(file).size > 0)!
    for (const file of [stored, table, join(copy, "SHA256SUMS")]) {
      flipByte(file)
      await refuses(
        target,
        new RegExp(`^The back-up is damaged: ${file} is (missing, or )?not what it was\\.$`),
        "restore",
        copy
      )
      flipByte(file)
    }
    const text = readFileSync(join(copy, "backup.json"), "utf8")
    writeFileSync(join(copy, "backup.json"), text.slice(0, -20))
    await refuses(target, /backup\.json is damaged, or of another version of the service\.$/, "restore", copy)
    writeFileSync(
      join(copy, "backup.json"),
      text.replace(/"tickets":(\d+)/, (_, rows: string) => `"tickets":${Number(rows) + 1}`)
    )
    await refuses(target, /^The back-up is damaged: The table tickets has \d+ rows instead of \d+\.$/, "restore", copy)
    writeFileSync(join(copy, "backup.json"), text.replace(/"migration":\d+/, '"migration":9999'))
    await refuses(target, /^The back-up is of a newer version of the service/, "restore", copy)
    writeFileSync(join(copy, "backup.json"), text.replace('"directories":[', '"directories":["../../outside",'))
    await refuses(target, /backup\.json is damaged, or of another version of the service\.$/, "restore", copy)
    assert.isFalse(existsSync(join(target.DATA_DIR, "..", "outside")))
    writeFileSync(join(copy, "backup.json"), text)
    renameSync(stored, `${stored}.kept`)
    symlinkSync("/dev/zero", stored)
    await refuses(target, new RegExp(`^The back-up is damaged: ${stored} is a link\\.$`), "restore", copy)
    rmSync(stored)
    await refuses(target, new RegExp(`^The back-up is damaged: ${stored} is missing\\.$`), "restore", copy)
    assert.deepStrictEqual(readdirSync(target.DATA_DIR), ["server.lock"])
  }, 300_000)

  it("that was killed lets no server start on half of the data", async () => {
    const target = settingsOf("half")
    const { child, code } = startCommand(process.execPath, [main, "restore", whole("first")], target)
    await eventually(
      async () => existsSync(join(target.DATA_DIR, "restore.partial")),
      (isBegun) => isBegun
    )
    child.kill("SIGKILL")
    await code()
    assert.isFalse(existsSync(join(target.DATA_DIR, "postgres")))
    await refuses(target, /^A restore into DATA_DIR \S+half was not finished\. Remove all but keys from it/, "serve")
    await refuses(target, /is not empty \(.*restore\.partial.*\)/, "restore", whole("first"))
    for (const name of readdirSync(target.DATA_DIR)) rmSync(join(target.DATA_DIR, name), { recursive: true })
    // Keys that are there already stay.
    mkdirSync(join(target.DATA_DIR, "keys"))
    await succeeds(target, "restore", whole("first"))
  }, 300_000)
})

describe("verify", () => {
  it("names what is wrong, and a back-up is not made of it", async () => {
    await succeeds(restored, "restore", whole("first"))
    const [changed, short, gone] = filesBelow(join(restored.DATA_DIR, "files")).filter(
      (file) => statSync(file).size > 10
    )
    flipByte(changed!)
    writeFileSync(short!, readFileSync(short!).subarray(1))
    unlinkSync(gone!)
    await onDatabase(
      restored.DATA_DIR,
      "set session_replication_role = replica",
      "delete from teams",
      "delete from test_run_tests where ctid = (select min(ctid) from test_run_tests)",
      "set session_replication_role = origin"
    )
    const { code, output } = await run(restored, "verify")
    assert.strictEqual(code, 1, output)
    const idOf = (file: string) => file.split("/").slice(-2).join("/")
    assert.match(
      output,
      new RegExp(`^The file ${idOf(changed!)} \\(.+\\) has the SHA-256 [0-9a-f]{64} instead of`, "m")
    )
    assert.match(output, new RegExp(`^The file ${idOf(short!)} \\(.+\\) has \\d+ bytes instead of \\d+\\.$`, "m"))
    assert.match(output, new RegExp(`^The file ${idOf(gone!)} \\(.+\\) is not stored\\.$`, "m"))
    assert.match(output, /^\d+ rows of tickets refer to rows of teams that are not there \(tickets_team_id_fkey\)$/m)
    assert.match(output, /^1 finished test runs have other counts than their tests$/m)
    assert.match(output, /^\d+ things are wrong\.$/m)
    await refuses(restored, /^The database is damaged: /, "backup", whole("never"))
    await onDatabase(restored.DATA_DIR, "set session_replication_role = origin")
    assert.isFalse(existsSync(whole("never")))
  }, 300_000)

  it("checks PostgreSQL, beside a server that uses it", async () => {
    const database = await openDatabase()
    const settings = {
      ...settingsOf("postgres-files"),
      DATABASE_URL: database.url,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`
    }
    const { at, server } = await start(settings)
    await at.post<Team>("teams", { key: "ENG", name: "Engineering" })
    const written = writeTickets(at, "ENG")
    await eventually(
      async () => written.tickets.size,
      (count) => count >= 10
    )
    assert.match(await succeeds(settings, "verify"), /^Checked .+\nAll is right\.$/)
    await written.end()
    const file = filesBelow(join(settings.DATA_DIR, "files")).find((found) => statSync(found).size > 10)
    flipByte(file!)
    await query(database.url, "delete from pending_blobs")
    const { code, output } = await run(settings, "verify")
    assert.strictEqual(code, 1)
    assert.match(
      output,
      /^The file \S+ \(attached to a ticket\) has the SHA-256 [^\n]+\nChecked [^\n]+\n1 thing is wrong\.$/
    )
    for (const command of ["backup", "restore"]) {
      await refuses(settings, /^DATABASE_URL names a PostgreSQL server: .+ docs\/operations\.md/, command, whole("pg"))
    }
    await server.end("SIGTERM")
    await database.drop()
  }, 300_000)
})
