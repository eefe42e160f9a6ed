import type { EventsPage } from "@delivery/domain/events/Event"
import type { WebhookWithSecret } from "@delivery/domain/webhooks/Webhook"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { makeDatabase } from "../support/Databases.ts"
import { eventually, http } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { isSignedBy, startReceiver } from "../webhooks/Receiver.ts"

/** Two servers on one PostgreSQL: webhooks are sent what writers do, while one server after the other is killed with `kill -9`. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const writers = 8
const each = 25

describe("Webhooks of two servers", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-webhooks-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const by = ({ baseUrl }: ServerProcess) => http(baseUrl, apiKey, "main")

  const run = async (settings: Record<string, string>) => {
    const receivers = [await startReceiver(), await startReceiver(), await startReceiver()]
    const one = await startServer(settings)
    let two = await startServer(settings)
    const webhooks: Array<WebhookWithSecret> = []
    for (const { url } of receivers) {
      webhooks.push(await by(one).post<WebhookWithSecret>("webhooks", { url, kinds: ["tag_created"] }))
    }
    // Some tries fail, and are repeated.
    receivers[1]!.answer((response, number) => void response.writeHead(number % 10 === 0 ? 500 : 204).end())
    const { after } = await by(one).get<EventsPage>("events?limit=1")

    let written = 0
    const write = async (writer: number) => {
      for (let n = 0; n < each; n++) {
        const tag = { name: `${writer}/${n}`, color: "#112233" }
        await by(one).post("tags", tag)
        written++
      }
    }
    const until = async (count: number) =>
      eventually(
        async () => written,
        (done) => done >= count
      )
    const killing = (async () => {
      const total = writers * each
      await until(total / 4)
      await two.end("SIGKILL")
      two = await startServer(settings)
    })()
    await Promise.all([killing, ...Array.from({ length: writers }, (_, writer) => write(writer))])
    // Whatever the first still held goes to the other once its leases are over.
    await one.end("SIGKILL")

    const expected: Array<string> = []
    for (let cursor = after; ;) {
      const page = await by(two).get<EventsPage>(`events?after=${cursor}&kinds=tag_created&limit=200`)
      if (page.events.length === 0) break
      expected.push(...page.events.map(({ id }) => id))
      cursor = page.after
    }
    assert.lengthOf(expected, writers * each)
    for (const [index, receiver] of receivers.entries()) {
      const ids = () => receiver.received.map(({ headers }) => String(headers["webhook-id"]))
      await eventually(
        async () => ids().at(-1),
        (last) => last === expected.at(-1)
      )
      // Some came twice; the first of each came in the order of the feed, and none is missing.
      assert.deepStrictEqual([...new Set(ids())], expected)
      for (const request of receiver.received) assert.isTrue(isSignedBy(webhooks[index]!.secret, request))
      receiver.stop()
    }
    assert.notInclude(one.output() + two.output(), "whsec_")
    await two.end()
  }

  it("lose no delivery, and keep their order", async () => {
    await Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(makeDatabase, ({ url }) =>
          Effect.promise(() =>
            run({
              DATABASE_URL: url,
              VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
              DATA_DIR: directory,
              BOOTSTRAP_API_KEY: apiKey,
              WEBHOOK_PRIVATE: "true",
              WEBHOOK_RETRY_MS: "20,20,20,20,20,20,20",
              LOG_LEVEL: "trace"
            })
          )
        )
      )
    )
  }, 300_000)
})
