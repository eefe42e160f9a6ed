import type { Event, EventsPage } from "@delivery/domain/events/Event"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { makeDatabase } from "../support/Databases.ts"
import { openStream } from "../support/EventStream.ts"
import { http } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** Two servers on one PostgreSQL: events by 32 writers, while one server is killed with `kill -9`. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const writers = 32
const each = 20

describe("Events of two servers", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-events-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const withDatabase = (use: (settings: Record<string, string>) => Promise<void>) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(makeDatabase, ({ url }) =>
          Effect.promise(() =>
            use({
              DATABASE_URL: url,
              VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
              DATA_DIR: directory,
              BOOTSTRAP_API_KEY: apiKey,
              LOG_LEVEL: "warn"
            })
          )
        )
      )
    )

  const by = ({ baseUrl }: ServerProcess) => http(baseUrl, apiKey, "main")

  it("are each seen once and in one order by a reader and by a stream, whichever server they ask", async () => {
    await withDatabase(async (settings) => {
      const [one, two] = [await startServer(settings), await startServer(settings)]
      const reader = by(one)
      const { after } = await reader.get<EventsPage>("events?limit=1")
      const stream = await openStream(reader, `?after=${after}`)

      // Half of the writers ask the server that dies, and then the other.
      let written = 0
      let isDead = false
      const acknowledged: Array<string> = []
      const write = async (writer: number) => {
        for (let n = 0; n < each; n++) {
          const name = `${writer}/${n}`
          const server = writer % 2 === 0 || isDead ? one : two
          try {
            await by(server).post("tags", { name, color: "#112233" })
            acknowledged.push(name)
          } catch (error) {
            // It died under the request: whether the tag is there, the events say.
            if (server !== two) throw error
          }
          written++
        }
      }
      const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
      let isWritten = false
      const done = writing.finally(() => (isWritten = true))

      const read: Array<Event> = []
      const follow = async () => {
        for (let cursor = after; ;) {
          const wasWritten = isWritten
          const page = await reader.get<EventsPage>(`events?after=${cursor}&limit=7&wait=${wasWritten ? 0 : 1}`)
          read.push(...page.events)
          cursor = page.after
          if (wasWritten && page.events.length === 0) return
        }
      }
      const following = follow()
      const killing = (async () => {
        while (written < (writers * each) / 3) await new Promise((resolve) => setImmediate(resolve))
        isDead = true
        await two.end("SIGKILL")
      })()
      await Promise.all([done, killing, following])

      const ids = read.map(({ id }) => id)
      assert.strictEqual(new Set(ids).size, ids.length)
      const names = new Set(read.map(({ subject }) => subject.label))
      for (const name of acknowledged) assert.isTrue(names.has(name), name)
      const received: Array<string> = []
      while (received.length < ids.length) received.push((await stream.next()).event.id)
      assert.deepStrictEqual(received, ids)
      assert.isEmpty(stream.waiting())
      stream.close()

      // All that is stored, in the same order, to somebody who asks later and backwards.
      const all: Array<string> = []
      for (let before: string | null = ""; before !== null;) {
        const page: EventsPage = await reader.get(`events?limit=200${before === "" ? "" : `&before=${before}`}`)
        all.push(...page.events.map(({ id }) => id))
        before = page.before
      }
      assert.deepStrictEqual(all.toReversed().slice(-ids.length), ids)
      await one.end("SIGTERM")
    })
  }, 180_000)

  it("reach a stream at the other server, which ends when its server stops", async () => {
    await withDatabase(async (settings) => {
      const [one, two] = [await startServer(settings), await startServer(settings)]
      const stream = await openStream(by(two))
      for (let n = 0; n < 20; n++) {
        await by(one).post("tags", { name: `tag ${n}`, color: "#112233" })
        assert.strictEqual((await stream.next()).event.subject.label, `tag ${n}`)
      }
      const ended = two.end("SIGTERM")
      await stream.ended
      assert.strictEqual(await ended, 0)
      await one.end("SIGTERM")
    })
  }, 120_000)
})
