import {
  Conflict,
  createClient,
  createSemaphores,
  type Lease,
  LeaseLost,
  makeSemaphores,
  type PromiseClient,
  type StartedTestRun,
  Unauthorized
} from "@delivery/client"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type RunningServer, startServer } from "./support/server.ts"

/** Longer than a machine with busy cores delays what is renewed or ended in time. */
const leaseMillis = 6_000
const main = { slug: "main" }

let server: RunningServer
let client: PromiseClient
let count = 0
const unique = (): string => `semaphore ${++count} / ü`.replace("/", "of")

beforeAll(async () => {
  server = await startServer({ SEMAPHORE_LEASE_MS: String(leaseMillis) })
  client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  await client.products.create({ params: main, payload: { slug: "shop", name: "Shop", type: "library" } })
  await client.environments.create({
    params: main,
    payload: { slug: "staging", name: "Staging", class: "non-production" }
  })
  await client.deployments.create({ params: main, payload: { product: "shop", environment: "staging" } })
}, 240_000)

afterAll(() => server.stop())

const startRun = (): Promise<StartedTestRun> =>
  client.testRuns.start({
    params: main,
    payload: {
      product: "shop",
      environment: "staging",
      baseUrl: "https://staging.shop.example.com",
      git: { branch: "main", sha: "9fceb02", dirty: false, subject: "Add the basket" },
      machine: { hostname: "ci-7", platform: "linux" },
      selection: { coverage: null, folders: [], caseIds: [] }
    }
  })

const finish = (run: StartedTestRun) =>
  client.testRuns.finish({
    params: { ...main, run: run.number },
    payload: { interrupted: false, durationMs: 1, tests: [] }
  })

const holders = async (name: string) =>
  (await client.semaphores.list({ params: main })).semaphores.find((semaphore) => semaphore.name === name)?.holders

const until = (condition: () => Promise<boolean | undefined> | boolean): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBe(true), { timeout: 60_000, interval: 10 })

/** Counts the answers that give a place in a queue. */
const countPlaces = () => {
  const places = { count: 0 }
  const counting: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    if (answer.status === 202) places.count++
    return answer
  }
  return { places, fetch: counting }
}

describe("semaphores as promises", () => {
  it("runs no more at once than the capacity, and always releases the lease", async () => {
    const { withSemaphore } = createSemaphores((await startRun()).semaphores)
    const name = unique()
    const slots = new Set<number>()
    const fences: Array<number> = []
    const works = Array.from({ length: 7 }, (_, i) =>
      withSemaphore(name, { capacity: 2, test: `test ${i}` }, async (lease) => {
        expect(slots.has(lease.slot)).toBe(false)
        slots.add(lease.slot)
        fences.push(lease.fence)
        expect(slots.size).toBeLessThanOrEqual(2)
        expect((await holders(name))?.find((holder) => holder.lease === lease.lease)?.test).toBe(`test ${i}`)
        slots.delete(lease.slot)
        if (i % 2 === 1) throw new RangeError(`no ${i}`)
        return i
      })
    )
    const settled = await Promise.allSettled(works)
    expect(settled.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).message))).toEqual([
      0,
      "no 1",
      2,
      "no 3",
      4,
      "no 5",
      6
    ])
    expect((settled[1] as PromiseRejectedResult).reason).toBeInstanceOf(RangeError)
    expect(new Set(fences).size).toBe(7)
    expect(await holders(name)).toEqual([])
  })

  it("renews for as long as it is used", async () => {
    const { withSemaphore } = createSemaphores((await startRun()).semaphores)
    const name = unique()
    await withSemaphore(name, { capacity: 1 }, async ({ lease }, signal) => {
      for (let renewals = 0, end = ""; renewals < 3; renewals++) {
        await until(async () => (await holders(name))![0]!.expiresAt > end)
        const [holder] = (await holders(name))!
        expect(holder!.lease).toBe(lease)
        end = holder!.expiresAt
      }
      expect(signal.aborted).toBe(false)
    })
    expect(await holders(name)).toEqual([])
  })

  it("stops the use of a lease that its run lost", async () => {
    const run = await startRun()
    const { withSemaphore } = createSemaphores(run.semaphores)
    let isStopped = false
    const lost = withSemaphore(unique(), { capacity: 1 }, async (_, signal) => {
      await finish(run)
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      isStopped = true
    })
    await expect(lost).rejects.toBeInstanceOf(LeaseLost)
    expect(isStopped).toBe(true)
    await expect(withSemaphore(unique(), { capacity: 1 }, async () => 1)).rejects.toBeInstanceOf(Unauthorized)
  })

  it("takes one lease even if answers are lost", async () => {
    const run = await startRun()
    const name = unique()
    let losses = 2
    const { withSemaphore } = createSemaphores({
      ...run.semaphores,
      fetch: async (input, init) => {
        const answer = await fetch(input, init)
        if (losses-- > 0) throw new TypeError("the answer was lost")
        return answer
      }
    })
    const seen = await withSemaphore(name, { capacity: 3 }, async ({ lease }) => ({ lease, all: await holders(name) }))
    expect(losses).toBeLessThan(0)
    expect(seen.all?.map((holder) => holder.lease)).toEqual([seen.lease])
    expect(await holders(name)).toEqual([])
  })

  it("gives up its place when it is aborted or times out", async () => {
    const { fetch, places } = countPlaces()
    const { withSemaphore } = createSemaphores({ ...(await startRun()).semaphores, fetch })
    const name = unique()
    await withSemaphore(name, { capacity: 1 }, async () => {
      const abort = new AbortController()
      const aborted = withSemaphore(name, { capacity: 1, signal: abort.signal }, async () => 1)
      const patient = withSemaphore(name, { capacity: 1, waitMillis: 200 }, async () => 2)
      const refused = patient.catch((error: unknown) => error)
      await until(() => places.count >= 2)
      abort.abort(new Error("enough"))
      await expect(aborted).rejects.toThrow("enough")
      expect(await refused).toBeInstanceOf(Conflict)
      expect(await refused).toMatchObject({ reason: "full", capacity: 1 })
      await expect(withSemaphore(name, { capacity: 2 }, async () => 3)).rejects.toMatchObject({
        reason: "capacity_mismatch",
        holders: [{ run: expect.any(Number) }]
      })
    })
    // Nobody is left in the queue: it is free at once.
    await withSemaphore(name, { capacity: 1, waitMillis: 0 }, async () => undefined)
  })

  it("lets an aborted use end before others have the lease", async () => {
    const { fetch, places } = countPlaces()
    const { withSemaphore } = createSemaphores({ ...(await startRun()).semaphores, fetch })
    const name = unique()
    const abort = new AbortController()
    let [isUsed, isOver] = [false, false]
    const aborted = withSemaphore(name, { capacity: 1, signal: abort.signal }, async (_, signal) => {
      isUsed = true
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      // The next one waits for the lease meanwhile.
      await until(() => places.count > 0)
      await holders(name)
      isOver = true
    })
    await until(() => isUsed)
    const next = withSemaphore(name, { capacity: 1 }, async () => expect(isOver).toBe(true))
    abort.abort(new Error("enough"))
    await expect(aborted).rejects.toThrow("enough")
    await next
  })

  it("gives back a lease whose answer an abort has lost", async () => {
    const abort = new AbortController()
    const losing: typeof fetch = async (input, init) => {
      const answer = await fetch(input, { ...init, signal: null })
      if (abort.signal.aborted) return answer
      expect(answer.status).toBe(201)
      abort.abort(new Error("enough"))
      return await new Promise((_, reject) =>
        init!.signal!.addEventListener("abort", () => reject(abort.signal.reason))
      )
    }
    const { withSemaphore } = createSemaphores({ ...(await startRun()).semaphores, fetch: losing })
    const name = unique()
    const options = { capacity: 1, signal: abort.signal }
    await expect(withSemaphore(name, options, async () => 1)).rejects.toThrow("enough")
    expect(await holders(name)).toEqual([])
  })

  it("rejects an invalid address", () => {
    expect(() => createSemaphores({ url: "https://delivery.example.com", token: "stk_x" })).toThrow(TypeError)
  })
})

describe("semaphores as effects", () => {
  const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromiseExit(effect)

  it("interrupts what is used when the lease ends that it could not renew", async () => {
    const { semaphores: access } = await startRun()
    let attempts = 0
    const offline: typeof fetch = (input, init) => {
      if (!String(input).endsWith("/renew")) return fetch(input, init)
      attempts++
      return Promise.reject(new TypeError("no network"))
    }
    const test = Effect.gen(function* () {
      const semaphores = yield* makeSemaphores(access)
      const began = yield* Deferred.make<void>()
      let isOver = false
      const use = Effect.andThen(
        Deferred.succeed(began, undefined),
        Effect.onInterrupt(Effect.never, () => Effect.sync(() => (isOver = true)))
      )
      const using = yield* Effect.forkChild(Effect.exit(semaphores.withSemaphore(unique(), { capacity: 1 }, () => use)))
      yield* Deferred.await(began)
      yield* TestClock.adjust(leaseMillis / 3)
      yield* Effect.promise(() => until(() => attempts > 0))
      yield* TestClock.adjust((leaseMillis * 2) / 3 - 1)
      expect(isOver).toBe(false)
      yield* TestClock.adjust(1)
      const exit = yield* Fiber.join(using)
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBeInstanceOf(LeaseLost)
      expect(isOver).toBe(true)
    })
    await Effect.runPromise(
      test.pipe(
        Effect.provideService(FetchHttpClient.Fetch, offline),
        Effect.provide([FetchHttpClient.layer, TestClock.layer({ warningDelay: "1 hour" })])
      )
    )
  })

  it("interrupts what is used when the lease is lost, and frees it when it is interrupted", async () => {
    const started = await startRun()
    const semaphores = Effect.runSync(makeSemaphores(started.semaphores).pipe(Effect.provide(FetchHttpClient.layer)))
    const name = unique()
    const events: Array<string> = []
    const using = (lease: Lease) =>
      Effect.andThen(
        Effect.sync(() => events.push(lease.name)),
        Effect.onInterrupt(Effect.never, () => Effect.sync(() => events.push("interrupted")))
      )
    const interrupted = await run(
      Effect.gen(function* () {
        const began = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          semaphores.withSemaphore(name, { capacity: 1 }, (lease) =>
            Effect.andThen(Deferred.succeed(began, undefined), using(lease))
          )
        )
        yield* Deferred.await(began)
        yield* Fiber.interrupt(fiber)
      })
    )
    expect(Exit.isSuccess(interrupted)).toBe(true)
    expect(await holders(name)).toEqual([])

    const failed = await run(semaphores.withSemaphore(name, { capacity: 1 }, () => Effect.fail("no" as const)))
    expect(Exit.isFailure(failed) && Cause.squash(failed.cause)).toBe("no")
    expect(await holders(name)).toEqual([])

    const lost = run(semaphores.withSemaphore(name, { capacity: 1 }, using))
    await until(async () => (await holders(name))?.length === 1)
    await finish(started)
    const exit = await lost
    expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBeInstanceOf(LeaseLost)
    expect(events).toEqual([name, "interrupted", name, "interrupted"])
  })
})
