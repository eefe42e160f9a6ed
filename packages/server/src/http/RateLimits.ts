import { TooManyRequests } from "@delivery/domain/Errors"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { hash } from "node:crypto"
import { type RateLimit, Settings } from "../Config.ts"
import type { Endpoint } from "./Endpoints.ts"

/** What the limits decide about a request, and what it tells them. */
export interface Admission {
  /** Why it is refused; undefined while it is not. */
  readonly refusal: () => TooManyRequests | undefined
  /** The headers of the response about the limits; undefined where there is nothing to tell. */
  readonly headers: () => Readonly<Record<string, string>> | undefined
  /**
   * To be called when the credential of the request is valid: from then on it counts for this caller. Its requests count
   * together, whatever their credentials.
   */
  readonly recognize: (caller: string) => void
  /** To be called when the request stands for so many more than itself. If there are fewer left, none of them counts. */
  readonly countMore: (requests: number) => void
  /** To be called when the answer is 401, or when the body has a credential that is not valid. */
  readonly reject: (isInBody?: boolean) => void
}

/** The admission of the request that the running fiber serves, where there is a limit. */
export const RequestAdmission = Context.Reference<Admission | undefined>("@delivery/server/http/RequestAdmission", {
  defaultValue: () => undefined
})

/**
 * Notes that the credential of the current request is valid, and whose it is: the id of a person, or of an account API key.
 * Fails where they sent too many requests.
 */
export const recognized = (caller: string): Effect.Effect<void, TooManyRequests> =>
  Effect.withFiber((fiber) => {
    const admission = fiber.getRef(RequestAdmission)
    if (admission === undefined) return Effect.void
    admission.recognize(caller)
    return unlessRefused(admission)
  })

/** Counts so many more requests for the caller of the current one, which holds them. Fails where they are too many. */
export const alsoRequested = (requests: number): Effect.Effect<void, TooManyRequests> =>
  Effect.withFiber((fiber) => {
    const admission = fiber.getRef(RequestAdmission)
    if (admission === undefined) return Effect.void
    admission.countMore(requests)
    return unlessRefused(admission)
  })

/** Counts a credential in the body of the current request, which is not valid. Fails where there were too many. */
export const shownInVain: Effect.Effect<void, TooManyRequests> = Effect.withFiber((fiber) => {
  const admission = fiber.getRef(RequestAdmission)
  if (admission === undefined) return Effect.void
  admission.reject(true)
  return unlessRefused(admission)
})

const unlessRefused = (admission: Admission): Effect.Effect<void, TooManyRequests> => {
  const refusal = admission.refusal()
  return refusal === undefined ? Effect.void : Effect.fail(refusal)
}

/**
 * How many requests a caller may send (docs/contract.md, Errors), counted in this process alone. A caller is a person or an
 * account API key, whichever credential they use, or an address where no credential is valid (of IPv6, its first 64 bits).
 * A credential counts for its caller only after a request was authenticated by it: a client that tries many credentials has
 * the limit of one address. Requests whose credential is not valid have a limit of their own, for each address.
 */
export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** Undefined where there is no limit for such a request. */
    readonly admit: (request: HttpServerRequest.HttpServerRequest, endpoint: Endpoint) => Admission | undefined
  }
>()("@delivery/server/http/RateLimits") {
  static readonly layer = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const { authFailureLimit, rateLimit } = yield* Settings
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()
      const failures = makeBuckets(authFailureLimit)
      const requests = Option.getOrUndefined(Option.map(rateLimit, (limit) => limiter(limit, now)))
      return RateLimits.of({
        admit: (request, { isProbe }) => {
          if (isProbe) return undefined
          return admission(request, failures, requests?.(request), authFailureLimit, now)
        }
      })
    })
  )
}

const tooMany = (limit: RateLimit, retryAfter: number, what: string): TooManyRequests =>
  new TooManyRequests({
    message: `${what}: at most ${limit.requests} in ${limit.seconds} s. Try again in ${retryAfter} s.`
  })

type Buckets = ReturnType<typeof makeBuckets>

/** The admission by both limits: of requests, where there is one, and of requests whose credential is not valid. */
const admission = (
  request: HttpServerRequest.HttpServerRequest,
  failures: Buckets,
  requests: Admission | undefined,
  limit: RateLimit,
  now: () => number
): Admission => {
  let isRecognized = false
  let failed: TooManyRequests | undefined
  let retryAfter: number | undefined
  return {
    refusal: () => requests?.refusal() ?? failed,
    headers: () =>
      retryAfter === undefined ? requests?.headers() : { ...requests?.headers(), "retry-after": String(retryAfter) },
    recognize: (caller) => {
      isRecognized = true
      requests?.recognize(caller)
    },
    countMore: (more) => requests?.countMore(more),
    reject: (isInBody = false) => {
      if (isRecognized || (!isInBody && credentialOf(request) === undefined)) return
      requests?.reject()
      const bucket = failures.open(networkOfRequest(request), now())
      if (failures.take(bucket, now())) return
      retryAfter = failures.state(bucket).retryAfter
      failed = tooMany(limit, retryAfter, "Too many requests without a valid credential")
    }
  }
}

const networkOfRequest = (request: HttpServerRequest.HttpServerRequest): string =>
  networkOf(Option.getOrElse(request.remoteAddress, () => ""))

const limiter = (limit: RateLimit, now: () => number) => {
  const buckets = makeBuckets(limit)
  const callers = makeGenerations<string>(limit.seconds * 1000)
  const policy = `"default";q=${limit.requests};w=${limit.seconds}`
  return (request: HttpServerRequest.HttpServerRequest): Admission => {
    const credential = credentialOf(request)
    const known = credential === undefined ? undefined : callers.get(credential, now())
    let bucket = buckets.open(known ?? networkOfRequest(request), now())
    let isTaken = buckets.take(bucket, now())
    let missing = 1
    const countFor = (id: string) => {
      if (isTaken) buckets.giveBack(bucket)
      bucket = buckets.open(id, now())
      isTaken = buckets.take(bucket, now())
    }
    return {
      refusal: () =>
        isTaken ? undefined : tooMany(limit, buckets.state(bucket, missing).retryAfter, "Too many requests"),
      headers: () => {
        const { left, retryAfter, secondsToFull } = buckets.state(bucket, missing)
        return {
          "ratelimit-policy": policy,
          ratelimit: `"default";r=${left};t=${secondsToFull}`,
          ...(isTaken ? {} : { "retry-after": String(retryAfter) })
        }
      },
      recognize: (caller) => {
        if (known === caller || credential === undefined) return
        callers.set(credential, caller, now())
        countFor(caller)
      },
      countMore: (requests) => {
        isTaken = buckets.take(bucket, now(), requests)
        missing = requests + 1
      },
      // A credential that has ended uses up nothing of whose it was.
      reject: () => {
        if (known === undefined || credential === undefined) return
        callers.delete(credential)
        countFor(networkOfRequest(request))
      }
    }
  }
}

/** Values that are forgotten when they were not used for a time, at the latest after twice that time. */
const makeGenerations = <A>(millis: number) => {
  let [young, old] = [new Map<string, A>(), new Map<string, A>()]
  let youngSince = Number.NEGATIVE_INFINITY
  const turn = (now: number) => {
    if (now - youngSince < millis) return
    // Nobody has used those of the old generation since the young one began.
    ;[young, old] = [new Map(), now - youngSince >= 2 * millis ? new Map() : young]
    youngSince = now
  }
  return {
    get: (id: string, now: number): A | undefined => {
      turn(now)
      const value = young.get(id) ?? old.get(id)
      if (value !== undefined) young.set(id, value)
      return value
    },
    set: (id: string, value: A, now: number): void => {
      turn(now)
      young.set(id, value)
    },
    delete: (id: string): void => {
      young.delete(id)
      old.delete(id)
    },
    size: (): number => new Set([...young.keys(), ...old.keys()]).size
  }
}

interface Bucket {
  tokens: number
  updatedAt: number
}

/**
 * Token buckets, which fill up in the time of the limit. A bucket that was not used for that long is full; it is dropped
 * with the generation that last used it.
 */
export const makeBuckets = ({ requests, seconds }: RateLimit) => {
  const perMilli = requests / (seconds * 1000)
  const kept = makeGenerations<Bucket>(seconds * 1000)

  return {
    /** The bucket of the id; a full one where there is none. */
    open: (id: string, now: number): Bucket => {
      const found = kept.get(id, now)
      if (found !== undefined) return found
      const bucket = { tokens: requests, updatedAt: now }
      kept.set(id, bucket, now)
      return bucket
    },
    /** Whether there were so many to take. */
    take: (bucket: Bucket, now: number, count = 1): boolean => {
      bucket.tokens = Math.min(requests, bucket.tokens + Math.max(0, now - bucket.updatedAt) * perMilli)
      bucket.updatedAt = now
      if (bucket.tokens < count) return false
      bucket.tokens -= count
      return true
    },
    giveBack: (bucket: Bucket): void => {
      bucket.tokens = Math.min(requests, bucket.tokens + 1)
    },
    /** With the seconds until there are so many to take. */
    state: ({ tokens }: Bucket, count = 1) => ({
      left: Math.floor(tokens),
      retryAfter: Math.max(1, Math.ceil((count - tokens) / perMilli / 1000)),
      secondsToFull: Math.ceil((requests - tokens) / perMilli / 1000)
    }),
    /** How many are remembered. */
    size: kept.size
  }
}

/** The credential of a request, as a hash. */
const credentialOf = ({ cookies, headers }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const credential =
    (headers["authorization"] ?? headers["x-api-key"])?.replace(/^bearer +/i, "").trim() ?? cookies[sessionCookie]
  return credential === undefined || credential === "" ? undefined : hash("sha256", credential, "base64url")
}

/** What counts as one address: nobody has a single one of IPv6. */
export const networkOf = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1]!
  if (!address.includes(":")) return address
  const [head = "", tail] = address.replace(/%.*$/, "").split("::")
  const [first, last] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")))
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first!.length - last!.length)
  return [...first!, ...Array<string>(zeros).fill("0"), ...last!].slice(0, 4).join(":")
}
