import type { WebhookDeliveryId, WebhookId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { PgClient } from "@effect/sql-pg"
import { SignInsRepo } from "../../src/agents/SignInsRepo.ts"
import { EventsRepo } from "../../src/events/EventsRepo.ts"
import { BlocksRepo } from "../../src/identity/BlocksRepo.ts"
import { type HeldWebhook, leaseMillis, type Tried, WebhookQueue } from "../../src/webhooks/WebhookQueue.ts"
import { type WebhookRow, WebhooksRepo } from "../../src/webhooks/WebhooksRepo.ts"
import { storedEvent } from "../events/Rows.ts"
import { addPerson, addWorkspace, newId } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"

/** Which server serves a webhook, and what it may store of it. Suites share databases: each looks at its own webhooks. */

const makeScene = Effect.gen(function* () {
  const { id: workspaceId } = yield* addWorkspace()
  const { id: personId } = yield* addPerson()
  const repo = yield* WebhooksRepo
  const events = yield* EventsRepo
  const queue = yield* WebhookQueue
  const actor = { kind: "user", id: personId } as const
  const happen = Effect.gen(function* () {
    yield* events.insert(storedEvent(workspaceId, actor, {}))
    const { readable } = yield* events.horizon
    return readable
  })
  const now = timestamp(yield* Clock.currentTimeMillis)
  const add = Effect.fnUntraced(function* (fields: Partial<WebhookRow> = {}) {
    const webhook: WebhookRow = {
      id: newId<WebhookId>(),
      workspaceId,
      url: "https://hooks.example/",
      kinds: null,
      format: "standard",
      teamId: null,
      state: "active",
      secret: new Uint8Array([1, 2, 3]),
      previousSecret: null,
      previousUntil: null,
      createdByKind: "user",
      createdById: personId,
      makerId: null,
      makerEndedAt: null,
      position: (yield* events.horizon).readable,
      deliveryId: null,
      dueAt: null,
      leaseHolder: null,
      leaseUntil: null,
      servedAt: null,
      slowUntil: null,
      createdAt: now,
      updatedAt: now,
      ...fields
    }
    yield* repo.insert(webhook)
    return webhook
  })
  const webhook = yield* add()
  /** Of this scene's webhooks those that are taken. */
  const claim = (hasNews = true, slowLimit = 1_000) =>
    Effect.gen(function* () {
      const { readable: upTo } = yield* events.horizon
      const claimed = yield* queue.claim({ holder: newId<string>(), limit: 1_000, slowLimit, upTo, hasNews })
      for (const held of claimed) if (held.workspaceId !== workspaceId) yield* queue.release(held)
      return claimed.filter((held) => held.workspaceId === workspaceId)
    })
  const triedOf = (held: HeldWebhook, position: number, state: Tried["state"], tries = 1): Tried => ({
    delivery: {
      id: held.deliveryId ?? newId<WebhookDeliveryId>(),
      workspaceId,
      webhookId: held.id,
      eventId: null,
      kind: "tag_created",
      position,
      tries,
      createdAt: now
    },
    attempt: { at: now, status: 500, error: null, durationMs: tries },
    state,
    waitMillis: 0,
    isSlow: false
  })
  return { add, claim, events, happen, queue, repo, triedOf, webhook, workspaceId }
})

/** Ends the lease of the webhook, by the clock that the storage has. */
const endLease = ({ id }: Pick<WebhookRow, "id">) =>
  Effect.flatMap(Effect.serviceOption(PgClient.PgClient), (sql) =>
    Option.isNone(sql)
      ? TestClock.adjust(leaseMillis)
      : Effect.orDie(Effect.asVoid(sql.value`update webhooks set lease_until = clock_timestamp() where id = ${id}`))
  )

onEachStorage("The queue of webhooks", (it) => {
  it.effect("gives a webhook that has something to be sent to one holder at a time", () =>
    Effect.gen(function* () {
      const { claim, happen, queue, webhook } = yield* makeScene
      assert.deepStrictEqual(yield* claim(), [])
      yield* happen
      assert.deepStrictEqual(yield* claim(false), [])
      const [held] = yield* claim()
      assert.strictEqual(held!.id, webhook.id)
      assert.deepStrictEqual(yield* claim(), [])
      yield* queue.release({ ...held!, holder: newId<string>() })
      assert.deepStrictEqual(yield* claim(), [])
      yield* queue.release(held!)
      assert.lengthOf(yield* claim(), 1)
    })
  )

  it.effect("gives webhooks that did not fail before those that did, however long these have waited", () =>
    Effect.gen(function* () {
      const { add, claim, events, happen, queue, repo, triedOf, webhook } = yield* makeScene
      const position = yield* happen
      const [failing] = yield* claim()
      yield* queue.store(failing!, triedOf(failing!, position, "parked"))
      yield* queue.release(failing!)
      const fresh = yield* add()
      yield* happen
      for (const held of yield* claim()) yield* queue.release(held)
      yield* repo.activate(webhook.id)
      const { readable: upTo } = yield* events.horizon
      const claimed: Array<HeldWebhook> = []
      for (let more = true; more;) {
        const next = yield* queue.claim({ holder: newId<string>(), limit: 1, slowLimit: 1, upTo, hasNews: true })
        claimed.push(...next)
        more = next.length > 0
      }
      yield* Effect.forEach(claimed, queue.release)
      const own = [fresh.id, webhook.id]
      assert.deepStrictEqual(
        claimed.map(({ id }) => id).filter((id) => own.includes(id)),
        own
      )
    })
  )

  it.effect("gives no more slow webhooks than asked for, beside those that answer soon", () =>
    Effect.gen(function* () {
      const { add, claim, happen, queue, triedOf, webhook } = yield* makeScene
      const slow = yield* add({ slowUntil: "2999-01-01T00:00:00.000Z" })
      const past = yield* add({ slowUntil: "1960-01-01T00:00:00.000Z" })
      const given = (all: ReadonlyArray<HeldWebhook>) => all.map(({ id, isSlow }) => [id, isSlow] as const)
      yield* happen
      const none = yield* claim(true, 0)
      assert.sameDeepMembers(given(none), [
        [webhook.id, false],
        [past.id, false]
      ])
      yield* Effect.forEach(none, queue.release)
      const position = yield* happen
      const all = yield* claim(true, 1)
      assert.sameDeepMembers(given(all), [
        [webhook.id, false],
        [past.id, false],
        [slow.id, true]
      ])
      const held = all.find(({ id }) => id === webhook.id)!
      const late = yield* queue.store(held, { ...triedOf(held, position, "delivered"), isSlow: true })
      assert.isTrue(late!.isSlow)
      const soon = yield* queue.store(late!, triedOf(late!, position, "delivered"))
      assert.isTrue(soon!.isSlow)
      yield* Effect.forEach(all, queue.release)
      yield* happen
      const one = yield* claim(true, 1)
      assert.deepStrictEqual(one.map(({ isSlow }) => isSlow).toSorted(), [false, true])
      yield* Effect.forEach(one, queue.release)
      assert.lengthOf(yield* claim(true, 2), 3)
    })
  )

  it.effect("takes a lease that is over from who held it, and lets them store nothing more", () =>
    Effect.gen(function* () {
      const { claim, happen, queue, repo, triedOf, webhook } = yield* makeScene
      const position = yield* happen
      const [dead] = yield* claim()
      yield* endLease(webhook)
      const [held] = yield* claim(false)
      assert.strictEqual(held!.id, webhook.id)
      assert.isUndefined(yield* queue.store(dead!, triedOf(dead!, position, "delivered")))
      assert.isUndefined(yield* queue.pass(dead!, position))
      yield* queue.release(dead!)
      assert.deepStrictEqual(yield* repo.deliveries(webhook.id, undefined, 10), [])
      const stored = yield* queue.store(held!, triedOf(held!, position, "delivered"))
      assert.deepStrictEqual([stored!.position, stored!.deliveryId], [position, null])
      yield* endLease(webhook)
      assert.isUndefined(yield* queue.store(stored!, triedOf(held!, position, "delivered")))
    })
  )

  it.effect("has later events wait for a delivery that is pending, and keeps what was tried", () =>
    Effect.gen(function* () {
      const { claim, happen, queue, repo, triedOf, webhook } = yield* makeScene
      const position = yield* happen
      yield* happen
      let [held] = yield* claim()
      for (let tries = 1; tries <= 3; tries++) {
        const stored = yield* queue.store(held!, triedOf(held!, position, "pending", tries))
        assert.strictEqual(stored!.position, position)
        yield* queue.release(stored!)
        ;[held] = yield* claim(false)
        const pending = yield* queue.pending(held!)
        assert.deepStrictEqual(
          [pending!.id, pending!.position, pending!.tries, pending!.attempts.map(({ durationMs }) => durationMs)],
          [held!.deliveryId, position, tries, Array.from({ length: tries }, (_, index) => index + 1)]
        )
      }
      const parked = yield* queue.store(held!, triedOf(held!, position, "parked", 4))
      assert.strictEqual(parked!.state, "parked")
      yield* queue.release(parked!)
      assert.deepStrictEqual(yield* claim(), [])
      yield* repo.activate(webhook.id)
      const [again] = yield* claim(false)
      const pending = yield* queue.pending(again!)
      assert.deepStrictEqual([pending!.tries, pending!.state, pending!.attempts.length], [0, "pending", 4])
      const passed = yield* queue.pass(again!, position)
      assert.deepStrictEqual([passed!.position, passed!.deliveryId], [position, null])
      assert.deepStrictEqual(yield* repo.deliveries(webhook.id, undefined, 10), [])
    })
  )

  it.effect("lets a webhook go on once what it waits for was delivered by hand", () =>
    Effect.gen(function* () {
      const { claim, happen, queue, repo, triedOf, webhook } = yield* makeScene
      const position = yield* happen
      yield* happen
      const [held] = yield* claim()
      const stored = yield* queue.store(held!, triedOf(held!, position, "pending"))
      const [delivery] = yield* repo.deliveries(webhook.id, undefined, 10)
      const attempt = { ...delivery!.attempts[0]!, status: 200 }
      const failed = yield* repo.addAttempt(delivery!, attempt, false)
      assert.deepStrictEqual([failed!.state, failed!.attempts.length], ["pending", 2])
      const delivered = yield* repo.addAttempt(delivery!, attempt, true)
      assert.deepStrictEqual([delivered!.state, delivered!.nextAttemptAt], ["delivered", null])
      // Its holder tried it meanwhile, and failed.
      assert.isUndefined(yield* queue.store(stored!, triedOf(stored!, position, "pending", 2)))
      const [kept] = yield* repo.deliveries(webhook.id, undefined, 10)
      assert.deepStrictEqual([kept!.state, kept!.attempts.length], ["delivered", 3])
      yield* queue.release(stored!)
      assert.lengthOf(yield* claim(), 1)
    })
  )

  it.effect("holds back what a blocked credential made, also when that has ended and other blocks are forgotten", () =>
    Effect.gen(function* () {
      const { add, claim, happen, queue, repo, triedOf, workspaceId } = yield* makeScene
      const blocks = yield* BlocksRepo
      const [maker, other] = [newId<string>(), newId<string>()]
      const { id } = yield* add({ makerId: maker })
      const position = yield* happen
      const now = timestamp(yield* Clock.currentTimeMillis)
      const claimOwn = Effect.map(claim(), (all) => all.find((held) => held.id === id))
      const isBlocked = Effect.map(repo.find(workspaceId, id), (webhook) => webhook!.isBlocked)
      const held = (yield* claimOwn)!
      assert.isFalse(yield* isBlocked)
      for (const credential of [maker, other]) yield* blocks.block(workspaceId, credential, [credential], now)
      assert.isUndefined(yield* queue.store(held, triedOf(held, position, "delivered")))
      yield* queue.release(held)
      // Neither is a credential that works.
      yield* (yield* SignInsRepo).eraseBlocks(now)
      assert.deepStrictEqual(
        (yield* blocks.list(workspaceId)).map(({ credentialId }) => credentialId),
        [maker]
      )
      assert.isTrue(yield* isBlocked)
      assert.isUndefined(yield* claimOwn)
      yield* blocks.unblock(workspaceId, maker)
      assert.isFalse(yield* isBlocked)
      assert.strictEqual((yield* claimOwn)?.position, held.position)
    })
  )

  it.effect("forgets webhooks that are deleted, with their deliveries, and erases what nothing waits for", () =>
    Effect.gen(function* () {
      const { add, claim, happen, queue, repo, triedOf, webhook } = yield* makeScene
      const other = yield* add()
      const position = yield* happen
      for (const held of yield* claim()) {
        const state = held.id === webhook.id ? "pending" : "delivered"
        yield* queue.store(held, triedOf(held, position, state))
      }
      const later = timestamp((yield* Clock.currentTimeMillis) + 1)
      while ((yield* repo.erase(later, 1)) > 0);
      assert.deepStrictEqual(yield* repo.deliveries(other.id, undefined, 10), [])
      assert.lengthOf(yield* repo.deliveries(webhook.id, undefined, 10), 1)
      const [delivery] = yield* repo.deliveries(webhook.id, undefined, 10)
      yield* repo.delete(webhook.id)
      assert.deepStrictEqual(yield* repo.deliveries(webhook.id, undefined, 10), [])
      assert.isFalse(yield* repo.insertDelivery(delivery!))
    })
  )
})
