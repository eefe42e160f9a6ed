import { DeliveryApi } from "@delivery/domain/Api"
import { Conflict } from "@delivery/domain/Errors"
import type { LeaseId } from "@delivery/domain/Ids"
import { RunAuthorization } from "@delivery/domain/runs/RunAuthorization"
import type { Lease } from "@delivery/domain/runs/Semaphore"
import { Cause, Clock, Context, Effect, Exit, Redacted, Schedule, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import type { CallError } from "./Files.ts"
import { isTransient } from "./Transient.ts"

/** Where a run takes leases and by which token: `semaphores` of a started run or retry. */
export interface SemaphoresOptions {
  /** The workspace's semaphores, `{service}/v1/workspaces/{slug}/semaphores`. */
  readonly url: string
  /** A `stk_` token. */
  readonly token: string | Redacted.Redacted
}

/** Which lease is wanted. */
export interface SemaphoreOptions {
  /** How many leases of the semaphore live at once, 1 to 100. */
  readonly capacity: number
  /** The test that the lease is taken for; others see it. */
  readonly test?: string | undefined
  /** Milliseconds that the lease outlives its holder's death, 10,000 to 300,000. Default: the server's setting. */
  readonly ttlMillis?: number | undefined
  /** Milliseconds to wait for a lease, then fail with `Conflict` (`full`). Default: for as long as the run runs. */
  readonly waitMillis?: number | undefined
}

/** The lease has ended while it was used: it could not be renewed in time, or its run has ended. */
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
   * Runs `use` while it has a lease. Waits for the lease in the order of arrival, through restarts of the server;
   * renews it at a third of its time; releases it when `use` succeeds, fails or is interrupted. When the lease is lost,
   * `use` is interrupted and the effect fails with `LeaseLost`: where it cannot be renewed, by the time that it ends;
   * where its run ends before it, at the next renewal, a third of its time later at the most (20 s by the server's
   * default). Until then another may have the slot: where that must not be, hand `fence` to what is guarded, which
   * rises with each lease, or take a shorter `ttlMillis`.
   */
  readonly withSemaphore: <A, E, R>(
    name: string,
    options: SemaphoreOptions,
    use: (lease: Lease) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | LeaseLost | TakeError, R>
}

/** The longest that one call waits in the queue; a place is kept for 30 s between two calls. */
const pollMillis = 25_000

/** How long a call may take beyond what it waits. */
const answerMillis = 10_000

/** Through a restart of the server, until a place in the queue would have lapsed. */
const retries = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("1 second")]).pipe(
  Schedule.upTo({ duration: "30 seconds" })
)

/** A client of semaphores over the `HttpClient` in context. */
export const makeSemaphores = Effect.fnUntraced(function* (
  access: SemaphoresOptions
): Effect.fn.Return<Semaphores, never, HttpClient.HttpClient> {
  const { baseUrl, slug } = addressOf(access.url)
  const token = typeof access.token === "string" ? Redacted.make(access.token) : access.token
  const withToken = HttpClientRequest.bearerToken(token)
  const leases = yield* HttpApiClient.group(DeliveryApi, {
    group: "leases",
    baseUrl,
    httpClient: yield* HttpClient.HttpClient
  }).pipe(
    Effect.provide(HttpApiMiddleware.layerClient(RunAuthorization, ({ next, request }) => next(withToken(request))))
  )

  /** What cannot be released lapses by itself. */
  const release = (name: string, lease: LeaseId) =>
    leases
      .release({ params: { slug, name, lease } })
      .pipe(
        Effect.timeout(answerMillis),
        Effect.retry({ while: isTransient, times: 5, schedule: retries }),
        Effect.ignore
      )

  /** Waits in the queue. Who fails or goes away gives the place up. */
  const acquire = Effect.fnUntraced(function* (name: string, options: SemaphoreOptions, requestId: string) {
    const { capacity, test, ttlMillis: ttlMs, waitMillis = Number.POSITIVE_INFINITY } = options
    const wish = {
      capacity,
      requestId,
      ...(test === undefined ? {} : { test }),
      ...(ttlMs === undefined ? {} : { ttlMs })
    }
    const poll = (waitMs: number) =>
      leases
        .take({ params: { slug, name }, payload: { ...wish, waitMs } })
        .pipe(Effect.timeout(waitMs + answerMillis), Effect.retry({ while: isTransient, schedule: retries }))

    const deadline = (yield* Clock.currentTimeMillis) + waitMillis
    // The first call does not wait, so that the place is known as soon as there is one.
    let answer = yield* poll(0)
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
    }).pipe(Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : release(name, place))))
  })

  /** Renews until that fails for good, or not in time. */
  const renewing = Effect.fnUntraced(function* ({ lease, name, ttlMs }: Lease) {
    // The lease began before its answer came, by no more than the way of that.
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

  return {
    withSemaphore: (name, options, use) =>
      Effect.acquireUseRelease(
        Effect.interruptible(Effect.suspend(() => acquire(name, options, globalThis.crypto.randomUUID()))),
        (lease) => Effect.raceFirst(use(lease), renewing(lease)),
        ({ lease }) => release(name, lease)
      )
  }
})

const addressOf = (url: string): { readonly baseUrl: string; readonly slug: string } => {
  const match = /^(https?:\/\/.*)\/v1\/workspaces\/([^/]+)\/semaphores\/?$/.exec(url)
  if (match === null) throw new TypeError(`${url} is not the address of a workspace's semaphores`)
  return { baseUrl: match[1]!, slug: decodeURIComponent(match[2]!) }
}

/** The semaphores of a workspace for the tests of a run, as promises. */
export interface PromiseSemaphores {
  /**
   * Runs `use` while it has a lease. Waits for the lease in the order of arrival, through restarts of the server;
   * renews it at a third of its time; releases it when `use` has settled. When the lease is lost, the signal that `use`
   * is given aborts and the promise rejects with `LeaseLost`: where it cannot be renewed, by the time that it ends;
   * where its run ends before it, at the next renewal, a third of its time later at the most (20 s by the server's
   * default). Until then another may have the slot: where that must not be, hand `fence` to what is guarded, which
   * rises with each lease, or take a shorter `ttlMillis`.
   */
  readonly withSemaphore: <A>(
    name: string,
    options: SemaphoreOptions & {
      /** Gives up the waiting; once there is a lease, aborts the signal of `use`. */
      readonly signal?: AbortSignal | undefined
    },
    use: (lease: Lease, signal: AbortSignal) => Promise<A>
  ) => Promise<A>
}

/** What `use` threw, whatever it is. */
class Thrown {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/** The lease outlives an abort for so long at most, so that `use` can come to an end. */
const settleMillis = 10_000

/** A promise whose interruption aborts it and lets it settle. */
const settling = <A>(run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, Thrown> =>
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
 * Semaphores for those who do not use Effect.
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
      const held = semaphores.withSemaphore(name, options, (lease) => settling((signal) => use(lease, signal)))
      const exit = await run(held, { signal })
      if (Exit.isSuccess(exit)) return exit.value
      if (signal?.aborted === true && Cause.hasInterruptsOnly(exit.cause)) throw signal.reason
      const error = Cause.squash(exit.cause)
      throw error instanceof Thrown ? error.value : error
    }
  }
}
