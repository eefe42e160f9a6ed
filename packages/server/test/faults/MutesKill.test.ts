import type { Me } from "@delivery/domain/identity/Me"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { Statement } from "effect/sql"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join as joined } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { http, join } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** `kill -9` of servers that end mutes whose time is over: each ends once, and each person is told once. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const muting = 200

const query = <A extends object>(url: string, ask: (sql: PgClient.PgClient) => Statement.Statement<A>) =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, ask).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
    )
  )

interface Told {
  readonly ticket: string
  readonly person: string
  readonly times: number
}

describe("kill -9 amid the end of mutes", () => {
  const directory = mkdtempSync(joined(tmpdir(), "delivery-mutes-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it("ends every mute once, and tells each person once", async () => {
    const database = await openDatabase()
    const settings = {
      DATABASE_URL: database.url,
      VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
      DATA_DIR: directory,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: "warn"
    }
    const at = (server: ServerProcess) => http(server.baseUrl, apiKey, "main")
    const asked = <A extends object>(ask: (sql: PgClient.PgClient) => Statement.Statement<A>) =>
      query<A>(database.url, ask)
    const left = async () => {
      const rows = await asked(
        (sql) => sql<{ readonly left: number }>`select count(*)::int as left from tickets where mute is not null`
      )
      return rows[0]!.left
    }

    const first = await startServer(settings)
    const owner = at(first)
    await owner.post("products", { slug: "shop", name: "Shop", type: "library" })
    await owner.post("teams", { key: "ENG", name: "Engineering" })
    const muter = await owner.get<Me>("/v1/me")
    const member = await join(owner, "member")
    const until = new Date(Date.now() + 24 * 60 * 60_000).toISOString()
    const makeTicket = async (_: unknown, index: number) => {
      const ticket = await owner.post<Ticket>("tickets", { team: "ENG", title: `Mend ${index}`, owner: member.id })
      const json = { product: "shop", cases: [`case ${index}`], until }
      const { status } = await owner.send("PUT", `tickets/${ticket.identifier}/mute`, { json })
      assert.strictEqual(status, 200)
      return ticket.id as string
    }
    const tickets: Array<string> = []
    for (let made = 0; made < muting; made += 10) {
      tickets.push(...(await Promise.all(Array.from({ length: 10 }, (_, index) => makeTicket(_, made + index)))))
    }
    await first.end("SIGTERM")
    // As if the time had passed while no server ran.
    await asked((sql) => sql`update tickets set mute = jsonb_set(mute, '{until}', '"2026-01-01T00:00:00.000Z"')`)

    const seen = [await left()]
    assert.deepStrictEqual(seen, [muting])
    for (let deaths = 0; deaths < 3; deaths++) {
      const dying = [await startServer(settings), ...(deaths % 2 === 1 ? [await startServer(settings)] : [])]
      while ((await left()) === seen.at(-1) && seen.at(-1) !== 0) await sleep(2)
      await Promise.all(dying.map((server) => server.end("SIGKILL")))
      seen.push(await left())
    }
    assert.isTrue(
      seen.some((count) => count > 0 && count < muting),
      `nobody was interrupted: ${seen.join(", ")}`
    )
    const server = await startServer(settings)
    while ((await left()) > 0) await sleep(50)
    await server.end("SIGTERM")

    const again = await startServer(settings)
    const ended = await asked(
      (sql) => sql<{
        readonly ticket: string
        readonly times: number
      }>`select subject_id as ticket, count(*)::int as times
        from events where kind = 'ticket_unmuted' group by 1`
    )
    const once = tickets.map((ticket) => ({ ticket, times: 1 }))
    assert.sameDeepMembers([...ended], once)
    const told = await asked(
      (sql) => sql<Told>`select ticket_id::text as ticket, person_id::text as person, count(*)::int as times
        from ticket_notifications where kind = 'ticket_mute_ended' group by 1, 2`
    )
    const people = [muter.id, member.id] as ReadonlyArray<string>
    assert.sameDeepMembers(
      [...told],
      tickets.flatMap((ticket) => people.map((person) => ({ ticket, person, times: 1 })))
    )
    const late = await asked(
      (sql) => sql<{ readonly ticket: string; readonly times: number }>`select ticket_id::text as ticket,
        count(*)::int as times from overdue_product_mutes group by 1`
    )
    assert.sameDeepMembers([...late], once)
    // That somebody muted is in the audit once; that a mute runs out is an event alone.
    const audited = await asked(
      (sql) => sql<{ readonly ticket: string; readonly actions: ReadonlyArray<string> }>`select
        subject_id as ticket, array_agg(action) as actions from audit_entries
        where action in ('ticket_muted', 'ticket_unmuted') group by 1`
    )
    assert.sameDeepMembers(
      [...audited],
      tickets.map((ticket) => ({ ticket, actions: ["ticket_muted"] }))
    )
    await again.end("SIGTERM")
    await database.drop()
  }, 600_000)
})
