import { Clock, Context, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { hash } from "node:crypto"
import { type RateLimit, Settings } from "../Config.ts"
import type { Endpoint } from "./Endpoints.ts"

/** The decision of the rate limit about a request. */
export interface Admission {
  /** Seconds after which another attempt may succeed; undefined if the request is accepted. */
  readonly retryAfter: number | undefined
  /** The headers of the response about the limit. */
  readonly headers: Readonly<Record<string, string>>
  /** To be called when the credential of the request is valid: from then on it has a limit of its own. */
  readonly recognize: () => void
}

/** The admission of the request that the running fiber serves, where there is a limit. */
export const RequestAdmission = Context.Reference<Admission | undefined>("@delivery/server/http/RequestAdmission", {
  defaultValue: () => undefined
})

/** Notes that the credential of the current request is valid. */
export const recognized: Effect.Effect<void> = Effect.withFiber((fiber) => {
  fiber.getRef(RequestAdmission)?.recognize()
  return Effect.void
})

/**
 * How many requests a caller may send (docs/contract.md, Errors), counted in this process alone. A caller is a valid
 * credential, or an address where there is none (of IPv6, its first 64 bits). A credential counts only after a request
 * was authenticated by it: a client that tries many credentials has the limit of one address.
 */
export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** The limit, as the error message describes it. */
    readonly description: string
    /** Undefined where there is no limit, or none for such a request. */
    readonly admit: (request: HttpServerRequest.HttpServerRequest, endpoint: Endpoint) => Admission | undefined
  }
>()("@delivery/server/http/RateLimits") {
  static readonly layer = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const { rateLimit } = yield* Settings
      if (Option.isNone(rateLimit)) return RateLimits.of({ description: "", admit: () => undefined })
      const clock = yield* Clock.Clock
      const { requests, seconds } = rateLimit.value
      return RateLimits.of({
        description: `at most ${requests} in ${seconds} s`,
        admit: limiter(rateLimit.value, () => clock.currentTimeMillisUnsafe())
      })
    })
  )
}

const limiter = (limit: RateLimit, now: () => number) => {
  const buckets = makeBuckets(limit)
  const policy = `"default";q=${limit.requests};w=${limit.seconds}`
  return (request: HttpServerRequest.HttpServerRequest, { isProbe }: Endpoint): Admission | undefined => {
    if (isProbe) return undefined
    const credential = credentialOf(request)
    const known = credential === undefined ? undefined : buckets.find(credential, now())
    const bucket = known ?? buckets.open(networkOf(Option.getOrElse(request.remoteAddress, () => "")), now())
    const isTaken = buckets.take(bucket, now())
    const { left, retryAfter, secondsToFull } = buckets.state(bucket)
    return {
      retryAfter: isTaken ? undefined : retryAfter,
      headers: {
        "ratelimit-policy": policy,
        ratelimit: `"default";r=${left};t=${secondsToFull}`,
        ...(isTaken ? {} : { "retry-after": String(retryAfter) })
      },
      recognize: () => {
        if (known !== undefined || credential === undefined) return
        buckets.giveBack(bucket)
        buckets.take(buckets.open(credential, now()), now())
      }
    }
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
  let [young, old] = [new Map<string, Bucket>(), new Map<string, Bucket>()]
  let youngSince = Number.NEGATIVE_INFINITY

  const find = (id: string, now: number): Bucket | undefined => {
    if (now - youngSince >= seconds * 1000) {
      // Nobody has used those of the old generation since the young one began.
      ;[young, old] = [new Map(), now - youngSince >= 2 * seconds * 1000 ? new Map() : young]
      youngSince = now
    }
    const bucket = young.get(id) ?? old.get(id)
    if (bucket !== undefined) young.set(id, bucket)
    return bucket
  }

  return {
    find,
    /** The bucket of the id; a full one where there is none. */
    open: (id: string, now: number): Bucket => {
      const found = find(id, now)
      if (found !== undefined) return found
      const bucket = { tokens: requests, updatedAt: now }
      young.set(id, bucket)
      return bucket
    },
    /** Whether there was one to take. */
    take: (bucket: Bucket, now: number): boolean => {
      bucket.tokens = Math.min(requests, bucket.tokens + Math.max(0, now - bucket.updatedAt) * perMilli)
      bucket.updatedAt = now
      if (bucket.tokens < 1) return false
      bucket.tokens -= 1
      return true
    },
    giveBack: (bucket: Bucket): void => {
      bucket.tokens = Math.min(requests, bucket.tokens + 1)
    },
    state: ({ tokens }: Bucket) => ({
      left: Math.floor(tokens),
      retryAfter: Math.max(1, Math.ceil((1 - tokens) / perMilli / 1000)),
      secondsToFull: Math.ceil((requests - tokens) / perMilli / 1000)
    }),
    /** How many are remembered. */
    size: (): number => new Set([...young.keys(), ...old.keys()]).size
  }
}

/** The credential of a request, as a hash. */
const credentialOf = ({ headers }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const credential = (headers["authorization"] ?? headers["x-api-key"])?.replace(/^bearer +/i, "").trim()
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
