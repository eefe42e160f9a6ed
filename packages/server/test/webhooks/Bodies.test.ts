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

  it("names the version that a deployment is made with, and that it takes with it", () => {
    const line = (kind: Event["kind"], from: string | null, to: string | null) =>
      slack({ kind, changes: [{ field: "version", from, to }] }).split("\n")[1]
    assert.strictEqual(line("deployment_created", null, "a".repeat(40)), "• version: none → aaaaaaa")
    assert.strictEqual(line("deployment_deleted", "a".repeat(40), null), "• version: aaaaaaa → none")
  })

  it("shortens the ids of commits that versions are", () => {
    const changes = [{ field: "version", from: "a".repeat(40), to: "b".repeat(40) }]
    assert.strictEqual(slack({ changes }).split("\n")[1], "• version: aaaaaaa → bbbbbbb")
  })

  it("tells what the service does by itself as such", () => {
    const changes = [
      { field: "until", from: "2026-11-29T22:54:33.726Z", to: null },
      { field: "by", from: null, to: "end of the mute" }
    ]
    assert.deepStrictEqual(slack({ kind: "ticket_unmuted", changes }).split("\n"), [
      "end of the mute, for Ana: ticket unmuted <https://delivery.example/w/main/d/1|Shop in Staging>",
      "• its tests count again",
      "• until: 2026-11-29T22:54:33.726Z → none"
    ])
  })

  describe("of the end of a run", () => {
    const now = (field: string, to: string) => ({ field, from: null, to })
    const tested = [now("product", "Kiosk <b>"), now("environment", "Canary Europe"), now("version", "4".repeat(40))]
    const subject = { type: "run", id: "1", label: "Run 67", url: "https://delivery.example/w/main/test-runs/67" }
    const told = (kind: string, ...changes: Event["changes"]) =>
      slack({ kind, subject, changes: [...changes, ...tested] }).split("\n")

    it("says what was tested, how many tests failed, and what the gate makes of it", () => {
      assert.deepStrictEqual(told("run_finished", now("result", "failed"), now("counts", "2 of 5 failed")), [
        "Ana: run finished <https://delivery.example/w/main/test-runs/67|Run 67> of Kiosk &lt;b&gt; in Canary Europe, version 4444444",
        "• failed",
        "• tests: 2 of 5 failed"
      ])
      assert.deepStrictEqual(
        told(
          "run_finished",
          now("result", "passed"),
          now("counts", "0 of 5 failed"),
          now("address", "http://localhost:3000"),
          now("uncommittedChanges", "true")
        ).slice(1),
        [
          "• passed",
          "• tests: 0 of 5 failed",
          "• tested http://localhost:3000, another address than the deployment's",
          "• with uncommitted changes"
        ]
      )
      assert.deepStrictEqual(
        told(
          "run_finished",
          now("result", "passed"),
          now("counts", "0 of 1 failed"),
          now("nothingTested", "true"),
          now("deploymentChanged", "true"),
          now("partOfTests", "true")
        ).slice(1),
        [
          "• passed",
          "• tests: 0 of 1 failed",
          "• nothing tested",
          "• the deployment changed while it ran",
          "• a part of the tests"
        ]
      )
      const muted = (counts: string) =>
        told("run_finished", now("result", "failed"), now("gateResult", "passed"), now("counts", counts))[1]
      assert.strictEqual(muted("2 of 5 failed"), "• failed; 2 muted failures do not count: the gate passed")
      assert.strictEqual(muted("1 of 5 failed"), "• failed; 1 muted failure does not count: the gate passed")
      assert.deepStrictEqual(told("run_finished", now("result", "failed"), now("counts", "0 of 5 failed")).slice(1), [
        "• failed outside of its tests",
        "• tests: 0 of 5 failed"
      ])
      assert.deepStrictEqual(told("run_interrupted", now("by", "the end of a key")).slice(1), [
        "• by: none → the end of a key"
      ])
    })

    it("says of a retry whether the run passes now", () => {
      const counts = { field: "counts", from: "3 of 5 failed", to: "0 of 5 failed" }
      const flaky = { field: "flakyCount", from: "0", to: "3" }
      const result = { field: "result", from: "failed", to: "passed" }
      assert.deepStrictEqual(told("retry_finished", flaky, result, counts).slice(1), [
        "• failed → passed: the run passes now",
        "• tests: 0 of 5 failed, before the retry 3 of 5 failed",
        "• flaky: 3"
      ])
      assert.deepStrictEqual(told("retry_finished", now("counts", "3 of 5 failed")).slice(1), [
        "• the run still fails",
        "• tests: 3 of 5 failed"
      ])
      assert.strictEqual(
        told("retry_finished", flaky, result, now("gateResult", "failed"), counts)[1],
        "• failed → passed; failed for the gate: what failed passed only on another release or address, or with uncommitted changes"
      )
      assert.strictEqual(
        told("retry_finished", now("gateResult", "passed"), now("counts", "1 of 5 failed"))[1],
        "• the run still fails; 1 muted failure does not count: the gate passed"
      )
      const healed = { field: "gateResult", from: "failed", to: "passed" }
      assert.strictEqual(
        told("retry_finished", flaky, healed, now("counts", "0 of 5 failed"))[1],
        "• what failed has passed now: the gate passes"
      )
      assert.strictEqual(
        told("retry_finished", flaky, now("gateResult", "failed"), now("counts", "0 of 5 failed"))[1],
        "• failed for the gate: what failed passed only on another release or address, or with uncommitted changes"
      )
    })
  })

  it("lets no text mention people or channels, link, begin a line or turn what follows in Slack", () => {
    const bad = "<!channel> & <@U1>\n<https://evil.example|here> | \u001b[31m\u202Egnp.exe\u2066"
    const text = slack({
      actor: { kind: "user", id: "0197a1b2-0000-7000-8000-000000000001" as PersonId, name: bad, email: "a@b.c" },
      subject: { type: "ticket", id: "1", label: bad, url: `https://delivery.example/${bad}` },
      changes: [{ field: "title", from: bad, to: bad }]
    })
    assert.deepStrictEqual([...text.matchAll(/<[^>]*/g)].length, 1)
    assert.lengthOf(text.split("\n"), 2)
    assert.include(text, "gnp.exe")
    assert.notMatch(text, /[\u200E\u200F\u202A-\u202E\u2066-\u2069\u001b]/)
    assert.notMatch(text.replace(/&(amp|lt|gt);/g, ""), /&/)
    const fields = ["product", "environment", "version", "result", "counts", "flakyCount"]
    const run = slack({ kind: "run_finished", changes: fields.map((field) => ({ field, from: bad, to: bad })) })
    assert.deepStrictEqual([...run.matchAll(/<[^>]*/g)].length, 1)
    assert.lengthOf(run.split("\n"), 4)
    assert.notMatch(run, /[\u200E\u200F\u202A-\u202E\u2066-\u2069\u001b]/)
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
