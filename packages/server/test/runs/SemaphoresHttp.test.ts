import type { LeaseHolder } from "@delivery/domain/LeaseHolder"
import type { Lease, QueuedLease, SemaphoreList, SemaphoreUsageList } from "@delivery/domain/runs/Semaphore"
import type { StartedRetry } from "@delivery/domain/runs/TestRetry"
import { assert } from "vitest"
import {
  assertId,
  assertTimestamp,
  attempt,
  eventually,
  finishRun,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  refusal,
  report,
  runOf,
  unique,
  withClockOnServers
} from "../support/Http.ts"
import { servers } from "../support/Servers.ts"
import { accountKeyOf } from "../identity/Keys.ts"
import { holdersOf, leases, newRun, take, taken } from "./LeasesScene.ts"

interface Full {
  readonly capacity: number
  readonly holders: ReadonlyArray<LeaseHolder>
  readonly retryAfterMs: number
}

/** Until so many wait for the semaphore. A place that came before them would stay before them: each look has its own. */
const untilQueued = (by: Parameters<typeof take>[0], name: string, count: number) =>
  eventually(
    async () => {
      const { body } = await take<QueuedLease>(by, name, { requestId: "look" })
      await by.delete(`${leases(name)}/${body.lease}`)
      return body.position
    },
    (position) => position === count + 1
  )

onEachServer("Semaphores over HTTP", (test) => {
  test("gives leases to a retry with its own token, until the retry ends", async (owner) => {
    const workspace = await newDeployment(owner)
    const run = await newRun(workspace)
    const runsLease = await taken(run, "card")
    const tests = [report("a", { attempt: attempt("failed") })]
    await finishRun(workspace, run.run.number, { tests })
    assert.deepStrictEqual(await holdersOf(workspace, "card"), [])
    assert.strictEqual((await take(run, "card")).status, 401)

    const { git, machine } = runOf()
    const path = `test-runs/${run.run.number}/retries`
    const started = await workspace.post<StartedRetry>(path, { passes: 1, baseUrl: null, git, machine })
    const retry = workspace.as(started.semaphores.token)
    const lease = await taken(retry, "card", { test: "pays" })
    assert.deepInclude(lease, { run: run.run.number, retry: started.retry })
    assert.isAbove(lease.fence, runsLease.fence)
    const [holder] = await holdersOf(workspace, "card")
    assert.deepInclude(holder, { lease: lease.lease, run: run.run.number, retry: started.retry, test: "pays" })
    const renewed = await retry.send<Lease>("POST", `${leases("card")}/${lease.lease}/renew`, { json: {} })
    assert.strictEqual(renewed.status, 200)

    const waiting = take(retry, "card", { waitMs: 20_000 })
    await untilQueued(retry, "card", 1)
    await workspace.post(`${path}/${started.retry}/finish`, { interrupted: false, tests: [] }, 200)
    assert.strictEqual(refusal(await waiting), "409 run_not_running")
    assert.deepStrictEqual(await holdersOf(workspace, "card"), [])
    assert.strictEqual((await take(retry, "card")).status, 401)
  })

  test("gives no lease to a call whose token was refused while it waited, but to the next", async (owner) => {
    const workspace = await newDeployment(owner)
    const key = await accountKeyOf(workspace, { role: "member" })
    const [holder, revoked, next] = [await newRun(workspace), await newRun(key), await newRun(workspace)]
    const lease = await taken(holder, "card")
    const waiting = take(revoked, "card", { waitMs: 20_000 })
    await untilQueued(holder, "card", 1)
    const after = take(next, "card", { waitMs: 20_000 })
    await untilQueued(holder, "card", 2)
    await workspace.post(`account-api-keys/${key.id}/revoke`, undefined, 200)
    await holder.delete(`${leases("card")}/${lease.lease}`)
    assert.strictEqual(refusal(await waiting), "401")
    assert.strictEqual((await after).status, 201)
    const holders = await holdersOf(workspace, "card")
    assert.deepStrictEqual(
      holders.map(({ run }) => run),
      [next.run.number]
    )
  })

  test("gives a lease, shows it, renews it and takes it back", async (owner) => {
    const workspace = await newDeployment(owner)
    const holder = await newRun(workspace)
    assert.deepStrictEqual(await workspace.get("semaphores"), { semaphores: [] })

    const answer = await take(holder, "card 7 ü", { capacity: 2, test: "pays" })
    assert.strictEqual(answer.status, 201)
    const { expiresAt, fence, lease, since, ...rest } = answer.body
    assertId(lease)
    assertTimestamp(since, expiresAt)
    assert.strictEqual(Date.parse(expiresAt) - Date.parse(since), 60_000)
    assert.isAbove(fence, 0)
    assert.deepStrictEqual(rest, {
      name: "card 7 ü",
      capacity: 2,
      slot: 1,
      run: holder.run.number,
      retry: null,
      test: "pays",
      ttlMs: 60_000
    })
    const second = await taken(holder, "card 7 ü", { capacity: 2, ttlMs: 10_000 })
    assert.strictEqual(second.slot, 2)
    assert.isAbove(second.fence, fence)
    assert.strictEqual(second.test, null)

    const shown = { lease, run: holder.run.number, retry: null, test: "pays", since, expiresAt }
    const { semaphores } = await (await join(workspace, "viewer")).get<SemaphoreList>("semaphores")
    assert.deepStrictEqual(
      semaphores.map(({ capacity, holders, name }) => [name, capacity, holders.length]),
      [["card 7 ü", 2, 2]]
    )
    assert.deepStrictEqual(semaphores[0]!.holders[0], shown)

    const renewed = await holder.post<Lease>(`${leases("card 7 ü")}/${lease}/renew`, { ttlMs: 120_000 }, 200)
    assert.isAtLeast(Date.parse(renewed.expiresAt), Date.parse(since) + 120_000)
    assert.deepStrictEqual(renewed, { ...answer.body, expiresAt: renewed.expiresAt, ttlMs: 120_000 })
    // A shorter one shortens nothing; no body, nothing and null are the lease's own time.
    for (const init of [{ json: { ttlMs: 10_000 } }, {}, { json: {} }, { body: "null" }]) {
      const again = await holder.send<Lease>("POST", `${leases("card 7 ü")}/${lease}/renew`, init)
      assert.strictEqual(again.status, 200, again.text)
      assert.isAtLeast(Date.parse(again.body.expiresAt), Date.parse(renewed.expiresAt))
    }

    await holder.delete(`${leases("card 7 ü")}/${lease}`)
    await holder.delete(`${leases("card 7 ü")}/${lease}`)
    await holder.refuse("404 lease", "POST", `${leases("card 7 ü")}/${lease}/renew`, {})
    await holder.delete(`${leases("card 7 ü")}/${second.lease}`)
    assert.deepStrictEqual(await workspace.get("semaphores"), {
      semaphores: [{ name: "card 7 ü", capacity: 2, holders: [], queued: 0, waiting: [] }]
    })
  })

  test("refuses what is full, with the holders and when to ask again", async (owner) => {
    const holder = await newRun(await newDeployment(owner))
    const held = await taken(holder, "one")
    for (const request of [{}, { waitMs: 50 }]) {
      const answer = await take<Full>(holder, "one", request)
      assert.strictEqual(refusal(answer), "409 full")
      assert.strictEqual(answer.body.capacity, 1)
      assert.deepStrictEqual(
        answer.body.holders.map((holder) => holder.lease),
        [held.lease]
      )
      assert.strictEqual(answer.body.retryAfterMs, 5_000)
      assert.strictEqual(answer.headers["retry-after"], "5")
    }
    const other = await take<Full>(holder, "one", { capacity: 3 })
    assert.strictEqual(refusal(other), "409 capacity_mismatch")
    assert.strictEqual(other.body.capacity, 1)
    assert.lengthOf(other.body.holders, 1)
    assert.isUndefined(other.headers["retry-after"])
    await holder.delete(`${leases("one")}/${held.lease}`)
    assert.strictEqual((await taken(holder, "one", { capacity: 3 })).capacity, 3)
  })

  test("answers the same requestId with the same lease", async (owner) => {
    const workspace = await newDeployment(owner)
    const [holder, other] = [await newRun(workspace), await newRun(workspace)]
    const lease = await taken(holder, "a", { capacity: 2, requestId: "r" })
    const again = await take(holder, "a", { capacity: 5, requestId: "r", test: "else", waitMs: 100 })
    assert.strictEqual(again.status, 200)
    assert.deepStrictEqual(again.body, lease)
    // It counts per token and semaphore.
    assert.notStrictEqual((await taken(other, "a", { capacity: 2, requestId: "r" })).lease, lease.lease)
    assert.notStrictEqual((await taken(holder, "b", { requestId: "r" })).lease, lease.lease)
    await holder.delete(`${leases("a")}/${lease.lease}`)
    const next = await taken(holder, "a", { capacity: 2, requestId: "r" })
    assert.notStrictEqual(next.lease, lease.lease)
    assert.isAbove(next.fence, lease.fence)
  })

  test("queues calls with a requestId, first come, first served", async (owner) => {
    const workspace = await newDeployment(owner)
    const [holder, other] = [await newRun(workspace), await newRun(workspace)]
    const held = await taken(holder, "q")
    const before = Date.now()
    const first = await take<QueuedLease>(holder, "q", { requestId: "1" })
    const after = Date.now()
    assert.strictEqual(first.status, 202)
    const { expiresAt, lease, ...place } = first.body
    assertId(lease)
    assert.deepStrictEqual(place, { name: "q", capacity: 1, position: 1 })
    const keptFrom = Date.parse(expiresAt) - 30_000
    assert.isTrue(before <= keptFrom && keptFrom <= after + 1)
    const second = await take<QueuedLease>(other, "q", { requestId: "1", waitMs: 20 })
    assert.strictEqual(second.body.position, 2)
    const again = await take<QueuedLease>(other, "q", { requestId: "1", capacity: 9 })
    assert.strictEqual(again.status, 202)
    assert.strictEqual(again.body.lease, second.body.lease)

    // The slot is the first place's though nobody waits; nobody passes it.
    await holder.delete(`${leases("q")}/${held.lease}`)
    assert.deepStrictEqual(
      (await holdersOf(workspace, "q")).map((holder) => holder.lease),
      [lease]
    )
    assert.strictEqual(refusal(await take(other, "q")), "409 full")
    const handed = await taken(holder, "q", { requestId: "1" })
    assert.strictEqual(handed.lease, lease)
    assert.strictEqual((await take(holder, "q", { requestId: "1" })).status, 200)

    // One who waits gets it as soon as it is free.
    const waiting = taken(other, "q", { requestId: "1", waitMs: 20_000 })
    await holder.delete(`${leases("q")}/${lease}`)
    assert.strictEqual((await waiting).lease, second.body.lease)
  })

  test("grants to calls that wait, in the order they came", async (owner) => {
    const workspace = await newDeployment(owner)
    const holder = await newRun(workspace)
    const name = unique("order")
    let held = await taken(holder, name)
    const order: Array<number> = []
    const waits: Array<Promise<Lease>> = []
    for (let i = 0; i < 5; i++) {
      waits.push(
        taken(holder, name, { waitMs: 20_000, test: String(i) }).then((lease) => {
          order.push(i)
          return lease
        })
      )
      // Only then does the next one come.
      await untilQueued(holder, name, i + 1)
    }
    for (const wait of waits) {
      await holder.delete(`${leases(name)}/${held.lease}`)
      const next = await wait
      assert.isAbove(next.fence, held.fence)
      assert.strictEqual(next.slot, 1)
      held = next
    }
    assert.deepStrictEqual(order, [0, 1, 2, 3, 4])
  })

  test("gives a place up", async (owner) => {
    const holder = await newRun(await newDeployment(owner))
    const held = await taken(holder, "g")
    const waiting = take(holder, "g", { requestId: "w", waitMs: 20_000 })
    const place = await eventually(
      () => take<QueuedLease>(holder, "g", { requestId: "w" }),
      (answer) => answer.status === 202
    )
    await holder.delete(`${leases("g")}/${place.body.lease}`)
    await holder.delete(`${leases("g")}/${place.body.lease}`)
    assert.strictEqual(refusal(await waiting), "409 full")
    await holder.delete(`${leases("g")}/${held.lease}`)
    assert.strictEqual((await take(holder, "g")).status, 201)
  })

  test("gives the place of an aborted call to the next one", async (owner) => {
    const workspace = await newDeployment(owner)
    const holder = await newRun(workspace)
    const held = await taken(holder, "away")
    const gone = holder.open("POST", leases("away"), { "content-type": "application/json" })
    gone.on("error", () => {})
    gone.end(JSON.stringify({ capacity: 1, waitMs: 30_000 }))
    const probe = () => take<QueuedLease>(holder, "away", { requestId: "p" })
    await untilQueued(holder, "away", 1)
    assert.strictEqual((await probe()).body.position, 2)
    gone.destroy()
    await eventually(probe, ({ body }) => body.position === 1)
    await holder.delete(`${leases("away")}/${held.lease}`)
    assert.strictEqual((await probe()).status, 201)
  })

  test("ends all of a run with it, calls that wait included", async (owner) => {
    const workspace = await newDeployment(owner)
    const [ending, staying] = [await newRun(workspace), await newRun(workspace)]
    const held = await taken(ending, "end")
    await taken(ending, "end 2")
    const waiting = take<Full>(ending, "end", { waitMs: 20_000 })
    await untilQueued(ending, "end", 1)
    const next = taken(staying, "end", { waitMs: 20_000 })
    await untilQueued(staying, "end", 2)

    await finishRun(workspace, ending.run.number)
    const refused = await waiting
    assert.strictEqual(refusal(refused), "409 run_not_running")
    const { lease, slot } = await next
    assert.strictEqual(slot, 1)
    const { capacity, holders, retryAfterMs } = refused.body
    assert.deepStrictEqual(
      [capacity, holders.map((holder) => holder.lease), retryAfterMs, refused.headers["retry-after"]],
      [1, [lease], 5_000, undefined]
    )
    assert.deepStrictEqual(await holdersOf(workspace, "end 2"), [])
    for (const [method, path] of [
      ["POST", leases("end")],
      ["POST", `${leases("end")}/${held.lease}/renew`],
      ["DELETE", `${leases("end")}/${held.lease}`]
    ] as const) {
      await ending.refuse("401", method, path, method === "POST" ? { capacity: 1 } : undefined)
    }
    await staying.refuse("404 lease", "DELETE", `${leases("end")}/${held.lease}`)
  })

  test("takes run tokens of the workspace alone", async (owner) => {
    const workspace = await newDeployment(owner)
    const holder = await newRun(workspace)
    const lease = await taken(holder, "mine")
    const { id } = await workspace.get<{ id: string }>("")
    assert.strictEqual((await take(holder.in(id), "mine", { requestId: "by id" })).status, 202)

    const elsewhere = await newDeployment(owner)
    for (const caller of [
      owner,
      workspace,
      workspace.as(undefined),
      workspace.as("stk_x"),
      holder.in(elsewhere.workspace)
    ]) {
      const at = caller === owner ? owner.in(workspace.workspace) : caller
      assert.strictEqual(refusal(await take(at, "mine")), "401")
      await at.refuse("401", "POST", `${leases("mine")}/${lease.lease}/renew`)
      await at.refuse("401", "DELETE", `${leases("mine")}/${lease.lease}`)
    }
    const key = { "x-api-key": workspace.key! }
    assert.strictEqual(
      (await workspace.as(undefined).send("POST", leases("mine"), { headers: key, json: {} })).status,
      401
    )
    // 401 comes before the form of the request.
    assert.strictEqual(refusal(await take(workspace, "mine", { capacity: 0 })), "401")

    await holder.refuse("401", "GET", "semaphores")
    const outsider = await newWorkspace(owner)
    const stranger = await join(outsider, "owner")
    await stranger.in(workspace.workspace).refuse("404 workspace", "GET", "semaphores")
    assert.deepStrictEqual(await elsewhere.get("semaphores"), { semaphores: [] })
  })

  test("distinguishes other runs' leases from unknown ones", async (owner) => {
    const workspace = await newDeployment(owner)
    const [holder, other] = [await newRun(workspace), await newRun(workspace)]
    const { lease } = await taken(holder, "x")
    await other.refuse("403 not_holder", "POST", `${leases("x")}/${lease}/renew`, {})
    await other.refuse("403 not_holder", "DELETE", `${leases("x")}/${lease}`)
    await holder.delete(`${leases("x")}/${lease}`)
    await other.refuse("403 not_holder", "DELETE", `${leases("x")}/${lease}`)
    for (const [name, id] of [
      ["y", lease],
      ["x", "0197a1b2-0000-7000-8000-000000000001"],
      ["x", "no"]
    ] as const) {
      await holder.refuse("404 lease", "POST", `${leases(name)}/${id}/renew`, {})
      await holder.refuse("404 lease", "DELETE", `${leases(name)}/${id}`)
    }
    const queuer = await taken(holder, "x")
    const place = await take<QueuedLease>(other, "x", { requestId: "q" })
    await other.refuse("404 lease", "POST", `${leases("x")}/${place.body.lease}/renew`, {})
    await holder.refuse("403 not_holder", "DELETE", `${leases("x")}/${place.body.lease}`)
    assert.isString(queuer.lease)
  })

  test("names what is wrong with a request", async (owner) => {
    const holder = await newRun(await newDeployment(owner))
    for (const [fault, request] of [
      ["capacity", { capacity: 0 }],
      ["capacity", { capacity: 101 }],
      ["capacity", { capacity: 1.5 }],
      ["capacity", { capacity: null }],
      ["waitMs", { waitMs: 30_001 }],
      ["waitMs", { waitMs: -1 }],
      ["ttlMs", { ttlMs: 9_999 }],
      ["ttlMs", { ttlMs: 300_001 }],
      ["requestId", { requestId: "" }],
      ["requestId", { requestId: "x".repeat(101) }],
      ["test", { test: 1 }]
    ] as const) {
      const answer = await take(holder, "a", request)
      assert.strictEqual(refusal(answer), `400 ${fault}`, JSON.stringify(request))
    }
    for (const name of ["x".repeat(101), "a\nb", "a/b", "a\u0000"]) {
      assert.strictEqual(refusal(await take(holder, name)), "400 name", JSON.stringify(name))
    }
    const longest = "\u{1F9EA}".repeat(100)
    assert.strictEqual((await taken(holder, longest)).name, longest)
    const { lease } = await taken(holder, "ok", { capacity: 100, requestId: "x".repeat(100), test: null })
    await holder.refuse("400 ttlMs", "POST", `${leases("ok")}/${lease}/renew`, { ttlMs: 1 })
    assert.strictEqual((await holder.send("POST", `${leases("ok")}/${lease}/renew`, { body: "{" })).status, 400)
  })

  test("lists who waits, in the order of the queue", async (owner) => {
    const workspace = await newDeployment(owner)
    const [holder, other] = [await newRun(workspace), await newRun(workspace)]
    const held = await taken(holder, "w")
    const before = Date.now()
    const first = await take<QueuedLease>(holder, "w", { requestId: "1", test: "pays" })
    const second = await take<QueuedLease>(other, "w", { requestId: "1" })
    const after = Date.now()
    const waiting = async () => (await workspace.get<SemaphoreList>("semaphores")).semaphores[0]!
    const shown = await waiting()
    assert.strictEqual(shown.queued, 2)
    assert.deepStrictEqual(
      shown.waiting.map(({ since: _, ...place }) => place),
      [
        { lease: first.body.lease, run: holder.run.number, retry: null, test: "pays" },
        { lease: second.body.lease, run: other.run.number, retry: null, test: null }
      ]
    )
    for (const { since } of shown.waiting) {
      assertTimestamp(since)
      assert.isTrue(before <= Date.parse(since) && Date.parse(since) <= after)
    }
    await other.delete(`${leases("w")}/${second.body.lease}`)
    await holder.delete(`${leases("w")}/${held.lease}`)
    const { holders, queued } = await waiting()
    assert.deepStrictEqual([holders.map(({ lease }) => lease), queued], [[first.body.lease], 0])
  })

  test("lists the first 100 who wait, and counts all", async (owner) => {
    const workspace = await newDeployment(owner)
    const holder = await newRun(workspace)
    await taken(holder, "many")
    const places: Array<string> = []
    for (let place = 0; place < 102; place++) {
      places.push((await take<QueuedLease>(holder, "many", { requestId: String(place) })).body.lease)
    }
    const [shown] = (await workspace.get<SemaphoreList>("semaphores")).semaphores
    assert.strictEqual(shown!.queued, 102)
    assert.deepStrictEqual(
      shown!.waiting.map(({ lease }) => lease),
      places.slice(0, 100)
    )
  })

  test("tells the use of the last 24 hours, by name", async (owner) => {
    const workspace = await newDeployment(owner)
    assert.deepStrictEqual(await workspace.get<SemaphoreUsageList>("semaphores/usage"), { semaphores: [] })
    const [run, other] = [await newRun(workspace), await newRun(workspace)]
    for (const name of ["b", "usage", "B"]) await taken(run, name)
    const waiting = take<Lease>(other, "b", { waitMs: 20_000 })
    await untilQueued(run, "b", 1)
    assert.strictEqual((await take(other, "b", { requestId: "gives up" })).status, 202)
    await finishRun(workspace, run.run.number, { tests: [] })
    assert.strictEqual((await waiting).status, 201)
    await finishRun(workspace, other.run.number, { tests: [] })
    const viewer = await join(workspace, "viewer")
    const { semaphores } = await viewer.get<SemaphoreUsageList>("semaphores/usage")
    assert.deepStrictEqual(
      semaphores.map(({ hours, name }) => [name, hours.length, hours.reduce((sum, { leases }) => sum + leases, 0)]),
      [
        ["B", 24, 1],
        ["b", 24, 2],
        ["usage", 24, 1]
      ]
    )
    const { hours } = semaphores[1]!
    assert.isAbove(Math.max(...hours.map(({ longestWaitMs }) => longestWaitMs)), 0)
    assert.isAbove(
      hours.reduce((sum, { heldMs }) => sum + heldMs, 0),
      0
    )
    // Those that looked, and the one whose run ended.
    assert.isAtLeast(
      hours.reduce((sum, { gaveUp }) => sum + gaveUp, 0),
      2
    )
    const times = hours.map(({ hour }) => Date.parse(hour))
    assert.isTrue(times.every((time, index) => time % 3_600_000 === 0 && time === times[0]! + index * 3_600_000))
  })

  test("lists by name", async (owner) => {
    const workspace = await newDeployment(owner)
    const holder = await newRun(workspace)
    for (const name of ["b", "A10", "a9", "B"]) await taken(holder, name)
    const { semaphores } = await workspace.get<SemaphoreList>("semaphores")
    assert.deepStrictEqual(
      semaphores.map((semaphore) => semaphore.name),
      ["a9", "A10", "B", "b"]
    )
  })
})

withClockOnServers(
  servers.filter(([name]) => name === "memory"),
  "Semaphores with short leases over HTTP",
  (test) => {
    test("give a slot on when its lease lapses, not at the next look-up that comes each second", async (owner, advance) => {
      const holder = await newRun(await newDeployment(owner))
      const held = await taken(holder, "lapses")
      const waiting = taken(holder, "lapses", { waitMs: 20_000 })
      await untilQueued(holder, "lapses", 1)
      advance(held.ttlMs)
      assert.strictEqual((await waiting).since, held.expiresAt)
    })
  },
  { SEMAPHORE_LEASE_MS: "300" }
)
