import { DeliveryApi } from "@delivery/domain/Api"
import { Conflict } from "@delivery/domain/Errors"
import type { LeaseId } from "@delivery/domain/Ids"
import { RunAuthorization } from "@delivery/domain/runs/RunAuthorization"
import type { Lease } from "@delivery/domain/runs/Semaphore"
import { Cause, Clock, Context, Effect, Exit, Redacted, Schedule, Schema } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { explaining } from "./Calls.ts"
import { sendWith } from "./Credential.ts"
import type { CallError } from "./Files.ts"
import { isTransient } from "./Transient.ts"

/** Where a run takes leases, and with which token: `semaphores` of a started run or retry. */
export interface SemaphoresOptions {
  /** The semaphores of the workspace: `{service}/v1/workspaces/{slug}/semaphores`. */
  readonly url: string
  /** A run token (`stk_...`). */
  readonly token: string | Redacted.Redacted
}

/** Which lease you want. */
export interface SemaphoreOptions {
  /** How many leases of the semaphore can be held at once: 1 to 100. */
  readonly capacity: number
  /** The test that the lease is for. Others can see it. */
  readonly test?: string | undefined
  /** How long the lease lasts if its holder dies, in milliseconds: 10,000 to 300,000. Default: the setting of the server. */
  readonly ttlMillis?: number | undefined
  /** How long to wait for a lease, in milliseconds, before failing with `Conflict` (`full`). Default: until the run ends. */
  readonly waitMillis?: number | undefined
}

/** The lease ended while it was in use: it could not be renewed in time, or its run has ended. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

type Leases = typeof DeliveryApi.groups.leases.endpoints

/** Everything that taking a lease can fail with. */
export type TakeError = CallError<Leases["take"]> | Cause.TimeoutError

/** The semaphores of a workspace for the tests of a run, as Effects. */
export interface Semaphores {
  /**
   * Runs `use` while it holds a lease. Waits for the lease in the order of arrival, also through restarts of the server.
   * Renews it at a third of its time, and releases it when `use` succeeds, fails or is interrupted.
   *
   * If the lease is lost, `use` is interrupted and the effect fails with `LeaseLost`. If the lease cannot be renewed, this
   * happens before it ends. If its run ends, it happens at the next renewal: after a third of its time at most (20 s with
   * the default of the server). Until then, somebody else may have the slot. If that must never happen, pass `fence`,
   * which rises with each lease, to what is guarded, or use a shorter `ttlMillis`.
   */
  readonly withSemaphore: <A, E, R>(
    name: string,
    options: SemaphoreOptions,
    use: (lease: Lease) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | LeaseLost | TakeError, R>
}

/** How long one call waits in the queue at most. Between two calls, a place is kept for 30 s. */
const pollMillis = 25_000

/** How long a call may take beyond its waiting. */
const answerMillis = 10_000

/** Retries through a restart of the server, until the place in the queue would be lost. */
const retries = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("1 second")]).pipe(
  Schedule.upTo({ duration: "30 seconds" })
)

/** A client of semaphores over the `HttpClient` in context. */
export const makeSemaphores = Effect.fnUntraced(function* (
  access: SemaphoresOptions
): Effect.fn.Return<Semaphores, never, HttpClient.HttpClient> {
  const { baseUrl, slug } = addressOf(access.url)
  const token = typeof access.token === "string" ? Redacted.make(access.token) : access.token
  const dependencies: Dependencies = { slug, leases: yield* makeLeases(baseUrl, token) }
  const waitFor = acquire(dependencies)
  const giveBack = release(dependencies)
  const keep = renewing(dependencies)
  return {
    withSemaphore: (name, options, use) =>
      Effect.acquireUseRelease(
        Effect.interruptible(Effect.suspend(() => waitFor(name, options, globalThis.crypto.randomUUID()))),
        (lease) => Effect.raceFirst(use(lease), keep(lease)),
        ({ lease }) => giveBack(name, lease)
      )
  }
})

/** The endpoints of leases, called with the token of a run. */
const makeLeases = Effect.fnUntraced(function* (baseUrl: string, token: Redacted.Redacted) {
  const sendWithToken = sendWith(token)
  return yield* HttpApiClient.group(DeliveryApi, {
    group: "leases",
    baseUrl,
    httpClient: explaining(yield* HttpClient.HttpClient)
  }).pipe(
    Effect.provide(HttpApiMiddleware.layerClient(RunAuthorization, ({ next, request }) => sendWithToken(request, next)))
  )
})

interface Dependencies {
  /** The workspace. */
  readonly slug: string
  readonly leases: Effect.Success<ReturnType<typeof makeLeases>>
}

/** A lease that cannot be released ends by itself. */
const release =
  ({ leases, slug }: Dependencies) =>
  (name: string, lease: LeaseId) =>
    leases
      .release({ params: { slug, name, lease } })
      .pipe(
        Effect.timeout(answerMillis),
        Effect.retry({ while: isTransient, times: 5, schedule: retries }),
        Effect.ignore
      )

/** Waits in the queue. Gives the place up on failure and interruption. */
const acquire = (dependencies: Dependencies) => {
  const { leases, slug } = dependencies
  const giveUp = release(dependencies)
  return Effect.fnUntraced(function* (name: string, options: SemaphoreOptions, requestId: string) {
    const { capacity, test, ttlMillis: ttlMs, waitMillis = Number.POSITIVE_INFINITY } = options
    const request = {
      capacity,
      requestId,
      ...(test === undefined ? {} : { test }),
      ...(ttlMs === undefined ? {} : { ttlMs })
    }
    const take = (waitMs: number) =>
      Effect.timeout(leases.take({ params: { slug, name }, payload: { ...request, waitMs } }), waitMs + answerMillis)
    const poll = (waitMs: number) => Effect.retry(take(waitMs), { while: isTransient, schedule: retries })
    // Its answer is lost, but not what the server gave: asked once more, it tells of the same.
    const giveBackUnknown = Effect.ignore(Effect.flatMap(take(0), ({ lease }) => giveUp(name, lease)))

    const deadline = (yield* Clock.currentTimeMillis) + waitMillis
    // The first call does not wait, so that the place in the queue is known at once.
    let answer = yield* Effect.onInterrupt(poll(0), () => giveBackUnknown)
    if (!("position" in answer)) return answer
    const place = answer.lease
    return yield* Effect.gen(function* () {
      while ("position" in answer) {
        const left = deadline - (yield* Clock.currentTimeMillis)
        if (left <= 0) {
          const message = `No lease of ${name} became free within ${waitMillis} ms.`
          return yield* new Conflict({ message, reason: "full", capacity: answer.capacity })
        }
        answer = yield* poll(Math.ceil(Math.min(pollMillis, left)))
      }
      return answer
    }).pipe(Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : giveUp(name, place))))
  })
}

/** Renews the lease until that fails for good, or takes too long. */
const renewing = ({ leases, slug }: Dependencies) =>
  Effect.fnUntraced(function* ({ lease, name, ttlMs }: Lease) {
    // The lease began before its answer arrived, at most by the time that the answer was on its way.
    let endsAt = (yield* Clock.currentTimeMillis) + ttlMs
    const renew = Effect.gen(function* () {
      const sentAt = yield* Clock.currentTimeMillis
      yield* Effect.timeout(leases.renew({ params: { slug, name, lease }, payload: null }), answerMillis)
      endsAt = sentAt + ttlMs
    })
    while (true) {
      yield* Effect.sleep(ttlMs / 3)
      yield* renew.pipe(
        Effect.retry({ while: isTransient, schedule: Schedule.spaced(Math.min(1_000, ttlMs / 30)) }),
        Effect.mapError((cause) => new LeaseLost({ message: `The lease of ${name} could not be renewed.`, cause })),
        Effect.timeoutOrElse({
          duration: Math.max(0, endsAt - (yield* Clock.currentTimeMillis)),
          orElse: () => Effect.fail(new LeaseLost({ message: `The lease of ${name} could not be renewed in time.` }))
        })
      )
    }
  })

const addressOf = (url: string): { readonly baseUrl: string; readonly slug: string } => {
  const match = /^(https?:\/\/.*)\/v1\/workspaces\/([^/]+)\/semaphores\/?$/.exec(url)
  if (match === null) throw new TypeError(`${url} is not the URL of the semaphores of a workspace`)
  return { baseUrl: match[1]!, slug: decodeURIComponent(match[2]!) }
}

/** The semaphores of a workspace for the tests of a run, as promises. */
export interface PromiseSemaphores {
  /**
   * Runs `use` while it holds a lease. Waits for the lease in the order of arrival, also through restarts of the server.
   * Renews it at a third of its time, and releases it when `use` has settled.
   *
   * If the lease is lost, the signal that `use` gets aborts, and the promise rejects with `LeaseLost`. If the lease cannot
   * be renewed, this happens before it ends. If its run ends, it happens at the next renewal: after a third of its time at
   * most (20 s with the default of the server). Until then, somebody else may have the slot. If that must never happen,
   * pass `fence`, which rises with each lease, to what is guarded, or use a shorter `ttlMillis`.
   */
  readonly withSemaphore: <A>(
    name: string,
    options: SemaphoreOptions & {
      /** Stops the waiting. Once there is a lease, it aborts the signal that `use` gets. */
      readonly signal?: AbortSignal | undefined
    },
    use: (lease: Lease, signal: AbortSignal) => Promise<A>
  ) => Promise<A>
}

/** Holds what `use` threw, whatever it is. */
class Thrown {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/** After an abort, the lease is kept for at most this long, so that `use` can finish. */
const settleMillis = 10_000

/** Runs a promise. Interruption aborts its signal and waits until it settles. */
const abortable = <A>(run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, Thrown> =>
  Effect.callback((resume) => {
    const controller = new AbortController()
    const running = new Promise<A>((resolve) => resolve(run(controller.signal)))
    const settled = running.then(
      (value) => resume(Effect.succeed(value)),
      (error: unknown) => resume(Effect.fail(new Thrown(error)))
    )
    return Effect.suspend(() => {
      controller.abort()
      return Effect.ignore(
        Effect.timeout(
          Effect.promise(() => settled),
          settleMillis
        )
      )
    })
  })

/**
 * Semaphores as promises, for those who do not use Effect.
 *
 * ```ts
 * const { withSemaphore } = createSemaphores(run.semaphores)
 * await withSemaphore("payment-sandbox", { capacity: 2 }, async ({ slot }) => pay(accounts[slot - 1]))
 * ```
 */
export const createSemaphores = (
  access: SemaphoresOptions & { readonly fetch?: typeof globalThis.fetch | undefined }
): PromiseSemaphores => {
  const semaphores = Effect.runSync(makeSemaphores(access).pipe(Effect.provide(FetchHttpClient.layer)))
  let context = Context.make(HttpClient.TracerDisabledWhen, () => true)
  if (access.fetch !== undefined) context = Context.add(context, FetchHttpClient.Fetch, access.fetch)
  const run = Effect.runPromiseExitWith(context)
  return {
    withSemaphore: async (name, { signal, ...options }, use) => {
      const held = semaphores.withSemaphore(name, options, (lease) => abortable((signal) => use(lease, signal)))
      const exit = await run(held, { signal })
      if (Exit.isSuccess(exit)) return exit.value
      if (signal?.aborted === true && Cause.hasInterruptsOnly(exit.cause)) throw signal.reason
      const error = Cause.squash(exit.cause)
      throw error instanceof Thrown ? error.value : error
    }
  }
}
