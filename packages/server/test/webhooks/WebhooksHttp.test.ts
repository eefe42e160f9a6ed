import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { Event, EventsPage } from "@delivery/domain/events/Event"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { Team } from "@delivery/domain/planning/Team"
import {
  deliveriesPageSize,
  maxWebhooks,
  type Webhook,
  type WebhookDeliveriesPage,
  type WebhookDelivery,
  type WebhookWithSecret
} from "@delivery/domain/webhooks/Webhook"
import type { ServerResponse } from "node:http"
import { afterAll, assert } from "vitest"
import {
  assertId,
  assertTimestamp,
  eventually,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  teamKey,
  unique
} from "../support/Http.ts"
import { isSignedBy, type Receiver, startReceiver, status, verified } from "./Receiver.ts"

const receivers: Array<Receiver> = []
const newReceiver = async (): Promise<Receiver> => {
  const made = await startReceiver()
  receivers.push(made)
  return made
}
afterAll(() => {
  for (const { stop } of receivers) stop()
})

/** Eight tries, as close as they can be. */
const settings = { WEBHOOK_PRIVATE: "true", WEBHOOK_RETRY_MS: "1,1,1,1,1,1,1" }

const addTag = async (http: Http, name = unique("tag")): Promise<string> => {
  await http.post("tags", { name, color: "#112233" })
  return name
}

const create = (http: Http, url: string, fields: object = {}) =>
  http.post<WebhookWithSecret>("webhooks", { url, kinds: ["tag_created"], ...fields })

const labels = ({ received }: Pick<Receiver, "received">) =>
  received.map(({ text }) => (JSON.parse(text) as { data: Event }).data.subject.label)

const deliveriesOf = async (http: Http, { id }: Pick<Webhook, "id">) =>
  (await http.get<WebhookDeliveriesPage>(`webhooks/${id}/deliveries`)).deliveries

const untilState = (http: Http, { id }: Pick<Webhook, "id">, state: Webhook["state"]) =>
  eventually(
    () => http.get<Webhook>(`webhooks/${id}`),
    (webhook) => webhook.state === state
  )

const actionsOf = async (http: Http, subject: string) =>
  (await http.get<AuditPage>(`audit?outcome=allowed&subject=${subject}`)).entries.map(({ action }) => action)

onEachServer(
  "Webhooks",
  (test) => {
    test("are sent events in their order, each signed, and list what was sent", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      await addTag(owner)
      const { secret, ...webhook } = await create(owner, receiver.url)
      assert.match(secret, /^whsec_[A-Za-z0-9]{44}$/)
      assertId(webhook.id)
      assertTimestamp(webhook.createdAt, webhook.updatedAt)
      const shown = {
        url: receiver.url,
        kinds: ["tag_created"],
        format: "standard",
        team: null,
        state: "active",
        makerEndedAt: null,
        blocked: false
      } as const
      assert.deepInclude(webhook, shown)
      assert.deepStrictEqual(await owner.get(`webhooks/${webhook.id}`), webhook)
      assert.deepStrictEqual(await owner.get("webhooks"), { webhooks: [webhook] })
      const names: Array<string> = []
      for (let n = 0; n < 10; n++) names.push(await addTag(owner))
      const received = await receiver.count(10)
      assert.deepStrictEqual(labels(receiver), names)
      const { events } = await owner.get<EventsPage>("events?kinds=tag_created&limit=10")
      for (const [index, event] of events.toReversed().entries()) {
        const request = received[index]!
        assert.deepStrictEqual(verified(secret, request), {
          type: "tag_created",
          timestamp: event.createdAt,
          data: event
        } as never)
        assert.strictEqual(request.headers["webhook-id"], event.id)
        assert.match(String(request.headers["content-type"]), /^application\/json/)
      }
      const deliveries = await eventually(
        () => deliveriesOf(owner, webhook),
        ({ length }) => length === 10
      )
      assert.deepStrictEqual(
        deliveries.map(({ event, nextAttemptAt, state }) => [event?.id, state, nextAttemptAt]),
        events.map(({ id }) => [id, "delivered", null])
      )
      const [attempt, ...others] = deliveries[0]!.attempts
      assert.deepStrictEqual([attempt!.status, attempt!.error, others], [204, null, []])
      assert.isAtLeast(attempt!.durationMs, 0)
    })

    test("are for admins, and change", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      // Before the webhook is made: what waits to be looked at is sent as the webhook is then.
      const member = await join(owner, "member")
      const { id } = await create(owner, receiver.url)
      for (const [method, path, body] of [
        ["GET", "webhooks", undefined],
        ["GET", `webhooks/${id}`, undefined],
        ["DELETE", `webhooks/${id}`, undefined],
        ["POST", `webhooks/${id}/test`, undefined],
        ["POST", `webhooks/${id}/rotate`, {}]
      ] as const) {
        await member.refuse("403 role_too_low", method, path, body)
      }
      const other = await newWorkspace(main)
      await other.refuse("404 webhook", "GET", `webhooks/${id}`)
      const before = await owner.get<Webhook>(`webhooks/${id}`)
      const after = await owner.patch<Webhook>(`webhooks/${id}`, { kinds: null, format: "slack" })
      assert.deepStrictEqual([after.kinds, after.format], [null, "slack"])
      assert.isAbove(Date.parse(after.updatedAt), Date.parse(before.updatedAt))
      assert.deepStrictEqual(await owner.patch<Webhook>(`webhooks/${id}`, { state: "active", format: "slack" }), after)
      await addTag(owner, "<!channel> & co")
      const [request] = await receiver.count(1)
      const { text } = JSON.parse(request!.text) as { readonly text: string }
      assert.include(text, "&lt;!channel&gt; &amp; co")
      assert.notInclude(text, "<!channel>")
      await owner.delete(`webhooks/${id}`)
      await owner.refuse("404 webhook", "GET", `webhooks/${id}`)
      assert.deepStrictEqual(await actionsOf(owner, id), ["webhook_deleted", "webhook_updated", "webhook_created"])
    })

    test("are refused where the request is not right", async (main) => {
      const owner = await newWorkspace(main)
      const wrong = (expected: string, json: object) => owner.refuse(expected, "POST", "webhooks", json)
      await wrong("400 url", { url: "ftp://example.com/" })
      await wrong("400 url", { url: "http://user:secret@example.com/" })
      await wrong("400 kinds", { url: "https://example.com/", kinds: [] })
      await wrong("400 format", { url: "https://example.com/", format: "xml" })
      await wrong("404 team:", { url: "https://example.com/", team: "NONE" })
      const receiver = await newReceiver()
      const { id } = await create(owner, receiver.url)
      for (const overlapSeconds of [-1, 604_801, 1.5, "1"]) {
        await owner.refuse("400 overlapSeconds", "POST", `webhooks/${id}/rotate`, { overlapSeconds })
      }
      await owner.refuse("400 state", "PATCH", `webhooks/${id}`, { state: "parked" })
      await owner.refuse("400 cursor", "GET", `webhooks/${id}/deliveries?cursor=none`)
      for (let n = 1; n < maxWebhooks; n++) await create(owner, receiver.url)
      await wrong("409 too_many_webhooks", { url: receiver.url })
    })

    test("are tried 8 times, then parked, and go on where they stopped", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      receiver.answer(status(503))
      const webhook = await create(owner, receiver.url)
      const watcher = await newReceiver()
      await create(owner, watcher.url, { kinds: ["webhook_parked"] })
      const [first, second] = [await addTag(owner), await addTag(owner)]
      await untilState(owner, webhook, "parked")
      assert.deepStrictEqual(labels(receiver), Array<string>(8).fill(first))
      const [parked, ...others] = await deliveriesOf(owner, webhook)
      assert.deepStrictEqual([parked!.state, parked!.nextAttemptAt, others], ["parked", null, []])
      assert.deepStrictEqual(
        parked!.attempts.map(({ error, status }) => [status, error]),
        Array.from({ length: 8 }, () => [503, null])
      )
      const [told] = await watcher.count(1)
      assert.strictEqual((JSON.parse(told!.text) as { data: Event }).data.subject.id, webhook.id)
      assert.include(await actionsOf(owner, webhook.id), "webhook_parked")

      receiver.answer(status(200))
      const active = await owner.patch<Webhook>(`webhooks/${webhook.id}`, { state: "active" })
      assert.strictEqual(active.state, "active")
      await receiver.count(10)
      assert.deepStrictEqual(labels(receiver).slice(8), [first, second])
      const delivered = await eventually(
        () => deliveriesOf(owner, webhook),
        (deliveries) => deliveries.length === 2
      )
      assert.deepStrictEqual(
        delivered.map(({ attempts, state }) => [state, attempts.length]),
        [
          ["delivered", 1],
          ["delivered", 9]
        ]
      )
    })

    test("lose nothing, and keep their order, whatever the answers say", async (main) => {
      const owner = await newWorkspace(main)
      const [receiver, elsewhere] = [await newReceiver(), await newReceiver()]
      const lies: ReadonlyArray<(response: ServerResponse) => void> = [
        status(302, { location: elsewhere.url }),
        status(410),
        status(500),
        (response) => void response.socket!.end("nonsense\r\n\r\n"),
        (response) => void response.socket!.destroy(),
        status(204)
      ]
      receiver.answer((response, number) => lies[(number - 1) % lies.length]!(response))
      const webhook = await create(owner, receiver.url)
      const names: Array<string> = []
      for (let n = 0; n < 4; n++) names.push(await addTag(owner))
      const deliveries = await eventually(
        () => deliveriesOf(owner, webhook),
        (found) => found.length === names.length && found.every(({ state }) => state === "delivered")
      )
      assert.deepStrictEqual(
        labels(receiver),
        names.flatMap((name) => lies.map(() => name))
      )
      for (const { attempts } of deliveries) {
        assert.deepStrictEqual(
          attempts.map(({ error, status }) => status ?? error),
          [302, 410, 500, "invalid_answer", "connection_failed", 204]
        )
      }
      for (const request of receiver.received) assert.isTrue(isSignedBy(webhook.secret, request))
      assert.lengthOf(elsewhere.received, 0)
    })

    test("list their deliveries 100 at a time", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      const { id } = await create(owner, receiver.url)
      const tested: Array<string> = []
      for (let n = 0; n < deliveriesPageSize + 1; n++) {
        tested.push((await owner.post<WebhookDelivery>(`webhooks/${id}/test`, undefined, 200)).id)
      }
      const first = await owner.get<WebhookDeliveriesPage>(`webhooks/${id}/deliveries`)
      const next = `webhooks/${id}/deliveries?cursor=${first.nextCursor}`
      const second = await owner.get<WebhookDeliveriesPage>(next)
      assert.deepStrictEqual([first.deliveries.length, second.nextCursor], [deliveriesPageSize, null])
      assert.deepStrictEqual(
        [...first.deliveries, ...second.deliveries].map((delivery) => delivery.id),
        tested.toReversed()
      )
    })

    test("follow no redirects, and survive every kind of answer", async (main) => {
      const owner = await newWorkspace(main)
      const [receiver, elsewhere] = [await newReceiver(), await newReceiver()]
      const webhook = await create(owner, receiver.url)
      const tested = () => owner.post<WebhookDelivery>(`webhooks/${webhook.id}/test`, undefined, 200)
      const lastOf = ({ attempts }: WebhookDelivery) => attempts.at(-1)!
      for (const code of [301, 302, 307, 308]) {
        receiver.answer(status(code, { location: elsewhere.url }))
        const delivery = await tested()
        assert.deepStrictEqual([delivery.state, lastOf(delivery).status], ["parked", code])
      }
      assert.lengthOf(elsewhere.received, 0)
      // Whatever its body is: the head delivers.
      receiver.answer((response) => {
        response.writeHead(200)
        const write = () => {
          while (response.writable && response.write("a".repeat(65_536)));
        }
        response.on("drain", write)
        write()
      })
      assert.strictEqual((await tested()).state, "delivered")
      receiver.answer((response) => void response.writeHead(200).write("never ends"))
      assert.strictEqual((await tested()).state, "delivered")
      receiver.answer((response) => void response.socket!.end("nonsense\r\n\r\n"))
      assert.deepInclude(lastOf(await tested()), { status: null, error: "invalid_answer" })
      receiver.answer((response) => void response.socket!.destroy())
      assert.deepInclude(lastOf(await tested()), { status: null, error: "connection_failed" })
      receiver.stop()
      assert.deepInclude(lastOf(await tested()), { status: null, error: "connection_failed" })
    })

    test("are tested and redelivered by one try at once", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      const webhook = await create(owner, receiver.url)
      const tested = await owner.post<WebhookDelivery>(`webhooks/${webhook.id}/test`, undefined, 200)
      assert.deepStrictEqual([tested.event, tested.state, tested.attempts.length], [null, "delivered", 1])
      const [request] = receiver.received
      assert.strictEqual(verified(webhook.secret, request!).type, "webhook_test")
      assert.strictEqual(request!.headers["webhook-id"], tested.id)

      receiver.answer(status(500))
      const name = await addTag(owner)
      await untilState(owner, webhook, "parked")
      const [parked] = await deliveriesOf(owner, webhook)
      const again = () =>
        owner.post<WebhookDelivery>(`webhooks/${webhook.id}/deliveries/${parked!.id}/redeliver`, undefined, 200)
      const failed = await again()
      assert.deepStrictEqual([failed.state, failed.attempts.length], ["parked", 9])
      receiver.answer(status(200))
      const delivered = await again()
      assert.deepStrictEqual([delivered.state, delivered.attempts.length], ["delivered", 10])
      assert.deepStrictEqual(labels(receiver).slice(1), Array<string>(10).fill(name))
      const next = await addTag(owner)
      await owner.patch(`webhooks/${webhook.id}`, { state: "active" })
      await receiver.count(12)
      assert.strictEqual(labels(receiver)[11], next)
      await owner.refuse("404 delivery", "POST", `webhooks/${webhook.id}/deliveries/${webhook.id}/redeliver`)
    })

    test("send what was asked for one at a time, and to its end, whoever waits for it", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      const { id } = await create(owner, receiver.url)
      let held: ServerResponse | undefined
      receiver.answer((response) => (held = response))
      const waiting = owner.open("POST", `webhooks/${id}/test`)
      waiting.on("error", () => {}).end()
      await receiver.count(1)
      await owner.refuse("409 send_under_way", "POST", `webhooks/${id}/test`)
      waiting.destroy()
      await owner.refuse("409 send_under_way", "POST", `webhooks/${id}/test`)
      status(204)(held!)
      const [delivery] = await eventually(
        () => deliveriesOf(owner, { id }),
        ({ length }) => length === 1
      )
      assert.strictEqual(delivery!.state, "delivered")
      receiver.answer(status(500))
      assert.strictEqual((await owner.post<WebhookDelivery>(`webhooks/${id}/test`, undefined, 200)).state, "parked")
    })

    test("are made by nobody who may not read what they send", async (main) => {
      const owner = await newWorkspace(main)
      const key = async (...scopes: ReadonlyArray<string>) =>
        owner.as((await owner.post<NewApiKey>("/v1/api-keys", { name: unique("key"), scopes }, 200)).secret)
      const [admin, reader] = [await key("admin"), await key("admin", "read")]
      const url = "http://127.0.0.1:9/hook"
      await admin.refuse("403 scope_missing", "POST", "webhooks", { url })
      const { id } = await create(reader, url)
      await admin.refuse("403 scope_missing", "PATCH", `webhooks/${id}`, { url: `${url}/other` })
      await admin.patch(`webhooks/${id}`, { kinds: null })
      assert.strictEqual((await owner.get<Webhook>(`webhooks/${id}`)).kinds, null)
    })

    test("are signed by two secrets while one is rotated", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      const { id, secret: first } = await create(owner, receiver.url)
      const rotate = async (json: object) =>
        (await owner.post<WebhookWithSecret>(`webhooks/${id}/rotate`, json, 200)).secret
      const signers = async (...secrets: ReadonlyArray<string>) => {
        await owner.post(`webhooks/${id}/test`, undefined, 200)
        const request = receiver.received.at(-1)!
        assert.lengthOf(
          String(request.headers["webhook-signature"]).split(" "),
          secrets.filter((secret) => isSignedBy(secret, request)).length
        )
        return secrets.map((secret) => isSignedBy(secret, request))
      }
      const second = await rotate({})
      assert.deepStrictEqual(await signers(first, second), [true, true])
      const third = await rotate({ overlapSeconds: 60 })
      assert.deepStrictEqual(await signers(first, second, third), [false, true, true])
      const fourth = await rotate({ overlapSeconds: 0 })
      assert.deepStrictEqual(await signers(first, second, third, fourth), [false, false, false, true])
      assert.lengthOf(new Set([first, second, third, fourth]), 4)
    })

    test("show events of a team to its own webhooks, and those of private teams to no others", async (main) => {
      const owner = await newWorkspace(main)
      const team = async (visibility: string) => owner.post<Team>("teams", { key: teamKey(), name: "Team", visibility })
      const [open, closed] = [await team("open"), await team("private")]
      const kinds = ["ticket_created"]
      const [all, ofOpen, ofClosed] = [await newReceiver(), await newReceiver(), await newReceiver()]
      await create(owner, all.url, { kinds })
      const { team: shown } = await create(owner, ofOpen.url, { kinds, team: open.key })
      assert.deepStrictEqual(shown, { id: open.id, key: open.key, name: "Team" })
      await create(owner, ofClosed.url, { kinds, team: closed.key })
      const ticket = async ({ key }: Team, title: string) => owner.post("tickets", { team: key, title })
      await ticket(closed, "hidden")
      await ticket(open, "shown")
      await ticket(closed, "hidden too")
      await ticket(open, "shown too")
      await Promise.all([all.count(2), ofOpen.count(2), ofClosed.count(2)])
      const titles = (receiver: Receiver) => labels(receiver).map((label) => label.replace(/^\S+ /, ""))
      assert.deepStrictEqual(titles(ofClosed), ["hidden", "hidden too"])
      assert.deepStrictEqual(titles(ofOpen), ["shown", "shown too"])
      assert.deepStrictEqual(titles(all), ["shown", "shown too"])
    })

    test("wait for nobody but themselves", async (main) => {
      const owner = await newWorkspace(main)
      const [slow, quick] = [await newReceiver(), await newReceiver()]
      // It never answers.
      slow.answer(() => {})
      for (let n = 1; n < maxWebhooks; n++) await create(owner, slow.url)
      await create(owner, quick.url)
      const names: Array<string> = []
      for (let n = 0; n < 5; n++) names.push(await addTag(owner))
      await quick.count(5)
      assert.deepStrictEqual(labels(quick), names)
      await slow.count(maxWebhooks - 1)
      assert.deepStrictEqual([...new Set(labels(slow))], [names[0]])
    })

    test("go on when their maker ends, and say so", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      const key = await owner.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
      const webhook = await create(owner.as(key.secret), receiver.url)
      const admin = await join(owner, "admin")
      const other = await create(admin, receiver.url)
      await owner.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
      await owner.post(`members/${admin.id}/deactivate`, undefined, 200)
      for (const { id } of [webhook, other]) {
        assertTimestamp((await owner.get<Webhook>(`webhooks/${id}`)).makerEndedAt)
        assert.deepStrictEqual(await actionsOf(owner, id), ["webhook_maker_ended", "webhook_created"])
      }
      await addTag(owner)
      await receiver.count(2)
    })

    test("that somebody made with a reported key are sent nothing, until they are somebody else's", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      const key = await owner.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
      const { id } = await create(owner.as(key.secret), receiver.url)
      await owner.as(undefined).send("POST", "/v1/tokens/report", { json: { token: key.secret } })
      assert.isTrue((await owner.get<Webhook>(`webhooks/${id}`)).blocked)
      await owner.refuse("409 maker_blocked", "POST", `webhooks/${id}/test`)
      await addTag(owner)
      const other = await newReceiver()
      assert.isFalse((await owner.patch<Webhook>(`webhooks/${id}`, { url: other.url })).blocked)
      await other.count(1)
      await receiver.count(0)
    })

    test("are made by nothing that expires", async (main) => {
      const owner = await newWorkspace(main)
      const receiver = await newReceiver()
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
      const { secret } = await owner.post<NewApiKey>("/v1/api-keys", { name: "brief", expiresAt }, 200)
      const brief = owner.as(secret)
      await brief.refuse("403 key_expires", "POST", "webhooks", { url: receiver.url })
      const { id } = await create(owner, receiver.url)
      await brief.refuse("403 key_expires", "PATCH", `webhooks/${id}`, { url: (await newReceiver()).url })
      await brief.patch(`webhooks/${id}`, { kinds: ["tag_created"] })
      await brief.refuse("403 key_expires", "POST", `webhooks/${id}/rotate`, {})
    })

    test("show a new secret to nobody who may not read", async (main) => {
      const owner = await newWorkspace(main)
      const { id } = await create(owner, (await newReceiver()).url)
      const key = async (...scopes: ReadonlyArray<string>) =>
        owner.as((await owner.post<NewApiKey>("/v1/api-keys", { name: unique("key"), scopes }, 200)).secret)
      await (await key("admin")).refuse("403 scope_missing", "POST", `webhooks/${id}/rotate`, {})
      assert.match(
        (await (await key("admin", "read")).post<WebhookWithSecret>(`webhooks/${id}/rotate`, {}, 200)).secret,
        /^whsec_/
      )
    })

    test("say that their maker is no admin any more", async (main) => {
      const owner = await newWorkspace(main)
      const admin = await join(owner, "admin")
      const { id } = await create(admin, (await newReceiver()).url)
      await owner.patch(`members/${admin.id}`, { role: "owner" })
      assert.isNull((await owner.get<Webhook>(`webhooks/${id}`)).makerEndedAt)
      await owner.patch(`members/${admin.id}`, { role: "viewer" })
      assertTimestamp((await owner.get<Webhook>(`webhooks/${id}`)).makerEndedAt)
      assert.deepStrictEqual(await actionsOf(owner, id), ["webhook_maker_ended", "webhook_created"])
    })

    test("belong to whoever has their events sent elsewhere, and are blocked with their credential", async (main) => {
      const owner = await newWorkspace(main)
      const admin = await join(owner, "admin")
      const key = await admin.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
      const webhook = await create(owner, (await newReceiver()).url)
      const by = admin.as(key.secret)
      const kept = await by.patch<Webhook>(`webhooks/${webhook.id}`, { kinds: null, url: webhook.url })
      assert.deepStrictEqual(kept.createdBy, webhook.createdBy)
      const moved = await by.patch<Webhook>(`webhooks/${webhook.id}`, { url: (await newReceiver()).url })
      assert.strictEqual(moved.createdBy.kind === "user" ? moved.createdBy.id : undefined, admin.id)
      await owner.post(`credentials/${key.id}/block`, undefined, 200)
      assert.isTrue((await owner.get<Webhook>(`webhooks/${webhook.id}`)).blocked)
      await owner.post(`members/${admin.id}/deactivate`, undefined, 200)
      assertTimestamp((await owner.get<Webhook>(`webhooks/${webhook.id}`)).makerEndedAt)
      const back = await owner.patch<Webhook>(`webhooks/${webhook.id}`, { url: webhook.url })
      assert.isFalse(back.blocked)
      assert.isNull(back.makerEndedAt)
    })

    test("send nothing while what made them is blocked", async (main) => {
      const owner = await newWorkspace(main)
      const [blocked, other] = [await newReceiver(), await newReceiver()]
      const key = await owner.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
      const { id } = await create(owner.as(key.secret), blocked.url)
      await create(owner, other.url)
      const { id: tested } = await owner.post<WebhookDelivery>(`webhooks/${id}/test`, undefined, 200)
      const isBlocked = async () => (await owner.get<Webhook>(`webhooks/${id}`)).blocked
      assert.isFalse(await isBlocked())
      await owner.post(`credentials/${key.id}/block`, undefined, 200)
      assert.isTrue(await isBlocked())
      await owner.refuse("409 maker_blocked", "POST", `webhooks/${id}/test`)
      await owner.refuse("409 maker_blocked", "POST", `webhooks/${id}/deliveries/${tested}/redeliver`)
      const name = await addTag(owner)
      await other.count(1)
      assert.lengthOf(blocked.received, 1)
      await owner.post(`credentials/${key.id}/unblock`, undefined, 200)
      await addTag(owner)
      await blocked.count(3)
      assert.strictEqual(labels(blocked)[1], name)
    })
  },
  settings
)
