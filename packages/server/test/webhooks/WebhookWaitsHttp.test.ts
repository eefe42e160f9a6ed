import {
  maxWebhooks,
  type WebhookDeliveriesPage,
  type WebhookDelivery,
  type WebhookWithSecret
} from "@delivery/domain/webhooks/Webhook"
import { afterAll, assert } from "vitest"
import { slowAtOnce } from "../../src/webhooks/Dispatcher.ts"
import { slowMillis } from "../../src/webhooks/WebhookQueue.ts"
import { newWorkspace, withClockOnServers } from "../support/Http.ts"
import { servers } from "../support/Servers.ts"
import { type Receiver, startReceiver, status } from "./Receiver.ts"

/** When a webhook is tried again, and which are slow. The clock of the server stands, so it is the one in memory: databases have clocks of their own. */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** As docs/contract.md has them: before tries 2 to 8. */
const waits = [5 * second, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 15 * hour]

const receivers: Array<Receiver> = []
afterAll(() => {
  for (const { stop } of receivers) stop()
})

const millis = (timestamp: string | null | undefined) => Date.parse(timestamp!)

const inMemory = servers.filter(([name]) => name === "memory")

withClockOnServers(
  inMemory,
  "Waits of webhooks",
  (test) => {
    test("lie between eight tries in 24 hours", async (main, advance) => {
      const owner = await newWorkspace(main)
      const receiver = await startReceiver()
      receivers.push(receiver)
      receiver.answer(status(503))
      const webhook = await owner.post<WebhookWithSecret>("webhooks", { url: receiver.url, kinds: ["tag_created"] })
      let now = millis(webhook.createdAt)
      const pass = (duration: number) => {
        now += duration
        advance(duration)
      }
      const deliveries = async () =>
        (await owner.get<WebhookDeliveriesPage>(`webhooks/${webhook.id}/deliveries`)).deliveries
      /** The delivery, once it has been tried so often. What looks for work sleeps in between. */
      const tried = async (count: number): Promise<WebhookDelivery> => {
        for (;;) {
          const [delivery] = await deliveries()
          if (delivery?.attempts.length === count) return delivery
          pass(50)
        }
      }
      await owner.post("tags", { name: "first", color: "#112233" })
      await owner.post("tags", { name: "second", color: "#112233" })
      let delivery = await tried(1)
      for (const [index, wait] of waits.entries()) {
        const last = millis(delivery.attempts.at(-1)!.at)
        const next = millis(delivery.nextAttemptAt)
        assert.isAtLeast(next, last + wait)
        assert.isAtMost(next, now + wait + Math.min(wait / 10, minute))
        pass(next - 1 - now)
        assert.strictEqual((await deliveries()).length, 1)
        assert.lengthOf(receiver.received, index + 1)
        delivery = await tried(index + 2)
        assert.isAtLeast(millis(delivery.attempts.at(-1)!.at), next)
      }
      assert.deepStrictEqual([delivery.state, delivery.nextAttemptAt], ["parked", null])
      assert.isAtMost(millis(delivery.attempts.at(-1)!.at) - millis(delivery.attempts[0]!.at), 24 * hour)
      assert.strictEqual((await owner.get<WebhookWithSecret>(`webhooks/${webhook.id}`)).state, "parked")
      assert.lengthOf(receiver.received, 8)
    })
  },
  { WEBHOOK_PRIVATE: "true" }
)

withClockOnServers(
  inMemory,
  "Webhooks that are slow",
  (test) => {
    test("leave half of the places to the others, whoever makes how many of them", async (main, advance) => {
      const [quick, slow] = [await startReceiver(), await startReceiver()]
      receivers.push(quick, slow)
      // Never: the clock that limits a try stands.
      slow.answer(() => {})
      const owner = await newWorkspace(main)
      await owner.post<WebhookWithSecret>("webhooks", { url: quick.url, kinds: ["tag_created"] })
      // It is new no longer.
      advance(slowMillis)
      const others = [
        await newWorkspace(main),
        await newWorkspace(main),
        await newWorkspace(main),
        await newWorkspace(main)
      ]
      for (const other of others) {
        for (let n = 0; n < maxWebhooks; n++) {
          await other.post("webhooks", { url: slow.url, kinds: ["tag_created"] })
        }
        await other.post("tags", { name: "late", color: "#112233" })
      }
      const untilReceived = async ({ received }: Receiver, count: number) => {
        while (received.length < count) {
          advance(50)
          await new Promise(setImmediate)
        }
      }
      await untilReceived(slow, slowAtOnce)
      for (const name of ["first", "second", "third"]) {
        await owner.post("tags", { name, color: "#112233" })
        await untilReceived(quick, quick.received.length + 1)
      }
      assert.lengthOf(slow.received, slowAtOnce)
    })
  },
  { WEBHOOK_PRIVATE: "true" }
)
