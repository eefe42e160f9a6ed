import type { EventsPage } from "@delivery/domain/events/Event"
import type { WebhookDeliveriesPage, WebhookWithSecret } from "@delivery/domain/webhooks/Webhook"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { makeDatabase } from "../support/Databases.ts"
import { eventually, http } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { isSignedBy, type Receiver, startReceiver, status } from "../webhooks/Receiver.ts"

/**
 * Two servers on one PostgreSQL send what writers do to receivers that are slow, dead or lie, while one server after the other
 * is killed with `kill -9`.
 */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const writers = 8
const each = 25

describe("Webhooks of two servers", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-webhooks-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const by = ({ baseUrl }: ServerProcess) => http(baseUrl, apiKey, "main")

  /** Of three answers, one lies. */
  const lie = (elsewhere: string) => (response: ServerResponse, number: number) => {
    if (number % 120 === 119) return void response.writeHead(200).write("never ends")
    if (number % 3 !== 0) return status(204)(response)
    const lies = [status(302, { location: elsewhere }), status(410), status(500), hangUp] as const
    return lies[(number / 3) % lies.length]!(response)
  }
  const hangUp = (response: ServerResponse) => void response.socket!.destroy()

  const startReceivers = async () => {
    const [honest, flaky, lying, slow, dead, elsewhere] = [
      await startReceiver(),
      await startReceiver(),
      await startReceiver(),
      await startReceiver(),
      await startReceiver(),
      await startReceiver()
    ]
    flaky.answer((response, number) => status(number % 10 === 0 ? 500 : 204)(response))
    lying.answer(lie(elsewhere.url))
    slow.answer(() => {})
    dead.stop()
    return { honest, flaky, lying, slow, dead, elsewhere }
  }

  const idsOf = ({ received }: Receiver) => received.map(({ headers }) => String(headers["webhook-id"]))

  const run = async (settings: Record<string, string>) => {
    const { elsewhere, ...receivers } = await startReceivers()
    const one = await startServer(settings)
    let two = await startServer(settings)
    const create = ({ url }: Receiver) => by(one).post<WebhookWithSecret>("webhooks", { url, kinds: ["tag_created"] })
    const made = new Map<string, WebhookWithSecret>()
    for (const [name, receiver] of Object.entries(receivers)) made.set(name, await create(receiver))
    const { after } = await by(one).get<EventsPage>("events?limit=1")

    let written = 0
    const write = async (writer: number) => {
      for (let n = 0; n < each; n++) {
        await by(one).post("tags", { name: `${writer}/${n}`, color: "#112233" })
        written++
      }
    }
    const killing = (async () => {
      await eventually(
        async () => written,
        (done) => done >= (writers * each) / 4
      )
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
    /** Some come twice; the first of each comes in the order of the feed, and none is missing. */
    const assertComplete = async (name: string, receiver: Receiver, meanwhile = async () => {}) => {
      await eventually(
        async () => {
          await meanwhile()
          return idsOf(receiver).at(-1)
        },
        (last) => last === expected.at(-1)
      )
      assert.deepStrictEqual([...new Set(idsOf(receiver))], expected)
      for (const request of receiver.received) assert.isTrue(isSignedBy(made.get(name)!.secret, request))
      receiver.stop()
    }
    const { dead, flaky, honest, lying, slow } = receivers
    await assertComplete("honest", honest)
    await assertComplete("flaky", flaky)
    await assertComplete("lying", lying)
    assert.lengthOf(elsewhere.received, 0)
    elsewhere.stop()
    // The others did not wait for it.
    assert.deepStrictEqual([...new Set(idsOf(slow))], expected.slice(0, 1))

    // By now they may have been given up.
    const goOn = (name: string) => async () =>
      void (await by(two).patch(`webhooks/${made.get(name)!.id}`, { state: "active" }))
    const errorsOf = async (name: string) => {
      const { deliveries } = await by(two).get<WebhookDeliveriesPage>(`webhooks/${made.get(name)!.id}/deliveries`)
      return deliveries.flatMap(({ attempts }) => attempts).map(({ error }) => error)
    }
    for (const [name, expectedError] of [
      ["slow", "timeout"],
      ["dead", "connection_failed"]
    ] as const) {
      await eventually(
        () => errorsOf(name),
        (errors) => errors.includes(expectedError)
      )
    }
    slow.answer(status(204))
    await assertComplete("slow", slow, goOn("slow"))
    const risen = await startReceiver(Number(new URL(dead.url).port))
    await assertComplete("dead", risen, goOn("dead"))
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
