import type { Event } from "@delivery/domain/events/Event"
import type { EventId, PersonId } from "@delivery/domain/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import { bodyOf } from "../../src/webhooks/Bodies.ts"
import { newSecret, signatureOf } from "../../src/webhooks/Signatures.ts"

const event = (fields: Partial<Event> = {}): Event => ({
  id: "0197a1b2-0000-7000-8000-0000000000a1" as EventId,
  kind: "deployment_updated",
  actor: {
    kind: "user",
    id: "0197a1b2-0000-7000-8000-000000000001" as PersonId,
    name: "Ana",
    email: "ana@example.com"
  },
  subject: { type: "deployment", id: "1", label: "Shop in Staging", url: "https://delivery.example/w/main/d/1" },
  changes: [{ field: "version", from: null, to: "a1b2c3d" }],
  createdAt: "2026-11-21T09:30:00.000Z",
  ...fields
})

const slack = (fields: Partial<Event>): string => (JSON.parse(bodyOf("slack", event(fields))) as { text: string }).text

describe("What webhooks send", () => {
  it("is the event, or a line for people", () => {
    assert.deepStrictEqual(JSON.parse(bodyOf("standard", event())), {
      type: "deployment_updated",
      timestamp: "2026-11-21T09:30:00.000Z",
      data: event()
    })
    assert.strictEqual(
      slack({}),
      "Ana: deployment updated <https://delivery.example/w/main/d/1|Shop in Staging>\n• version: none → a1b2c3d"
    )
  })

  it("lets no text mention people or channels, link, begin a line or turn what follows in Slack", () => {
    const bad = "<!channel> & <@U1>\n<https://evil.example|here> | \u202Egnp.exe\u2066"
    const text = slack({
      actor: { kind: "user", id: "0197a1b2-0000-7000-8000-000000000001" as PersonId, name: bad, email: "a@b.c" },
      subject: { type: "ticket", id: "1", label: bad, url: `https://delivery.example/${bad}` },
      changes: [{ field: "title", from: bad, to: bad }]
    })
    assert.deepStrictEqual([...text.matchAll(/<[^>]*/g)].length, 1)
    assert.lengthOf(text.split("\n"), 2)
    assert.include(text, "gnp.exe")
    assert.notMatch(text, /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/)
    assert.notMatch(text.replace(/&(amp|lt|gt);/g, ""), /&/)
  })

  it("is short in Slack, however much changed", () => {
    const changes = Array.from({ length: 500 }, (_, index) => ({ field: `f${index}`, from: null, to: "x".repeat(500) }))
    assert.isBelow(slack({ changes, subject: { ...event().subject, label: "y".repeat(10_000) } }).length, 3_500)
  })
})

describe("Signatures", () => {
  it("are those of Standard Webhooks", () => {
    // The vector of the specification's libraries.
    const secret = Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    const signed = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: '{"test": 2432232314}' }
    assert.strictEqual(signatureOf([secret], signed), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  })

  it("verify by each of the secrets, and by no other", () => {
    const [first, second, third] = [newSecret(), newSecret(), newSecret()]
    const timestamp = Math.floor(Date.now() / 1_000)
    const body = '{"a":"ä"}'
    const signature = signatureOf([first, second], { id: "1", timestamp, body })
    const headers = { "webhook-id": "1", "webhook-timestamp": String(timestamp), "webhook-signature": signature }
    for (const secret of [first, second]) {
      assert.deepStrictEqual(new Webhook(Redacted.value(secret)).verify(body, headers), { a: "ä" })
    }
    assert.throws(() => new Webhook(Redacted.value(third)).verify(body, headers))
    assert.throws(() => new Webhook(Redacted.value(first)).verify(body.replace("ä", "b"), headers))
  })
})
