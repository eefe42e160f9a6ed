import { Cache, Clock, Context, Duration, Effect, Exit, Layer } from "effect"
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose"
import { discoverIssuer } from "./IssuerMetadata.ts"
import { asking, boundedFetch, failed, type IssuerError, IssuerLimits } from "./Issuers.ts"

/** How long the keys of an issuer are taken from memory. */
const keptMillis = 10 * 60 * 1000

/** How long an issuer that failed is left alone, at most. */
const restMillis = 5_000

const maxIssuers = 100
const maxKeys = 100

/** The keys of an issuer, as they were at a time. */
export interface FetchedKeys {
  readonly find: JWTVerifyGetKey
  readonly fetchedAt: number
}

/** The keys with which issuers sign. An issuer that the operator does not name is never asked. */
export class IssuerKeys extends Context.Service<
  IssuerKeys,
  {
    /** The keys, from memory or fetched. Those who ask at once share an answer. */
    readonly of: (issuer: string) => Effect.Effect<FetchedKeys, IssuerError>
    /** Newer keys than these, which lack one; undefined where they were fetched a moment ago. */
    readonly newerThan: (issuer: string, keys: FetchedKeys) => Effect.Effect<FetchedKeys | undefined, IssuerError>
  }
>()("@delivery/server/auth/IssuerKeys") {
  static readonly layer = Layer.effect(
    IssuerKeys,
    Effect.gen(function* () {
      const limits = yield* IssuerLimits
      const fetched = (issuer: string) =>
        Effect.flatMap(Clock.currentTimeMillis, (fetchedAt) =>
          Effect.map(
            asking(() => fetchKeys(issuer, limits)),
            (find): FetchedKeys => ({ find, fetchedAt })
          )
        )
      const cacheOf = (lookup: typeof fetched, millis: number) =>
        Cache.makeWith(lookup, {
          capacity: maxIssuers,
          timeToLive: (exit) =>
            Duration.millis(Exit.isSuccess(exit) ? millis : Math.min(restMillis, limits.refetchMillis))
        })
      const cache = yield* cacheOf(fetched, keptMillis)
      // Whoever forges tokens has the issuer asked: if it fails then, the keys that are there stay good.
      const newer = yield* cacheOf(
        (issuer) => Effect.tap(fetched(issuer), (keys) => Cache.set(cache, issuer, keys)),
        limits.refetchMillis
      )
      return IssuerKeys.of({
        of: (issuer) => Cache.get(cache, issuer),
        newerThan: Effect.fnUntraced(function* (issuer, keys) {
          const present = yield* Cache.get(cache, issuer)
          if (present.fetchedAt > keys.fetchedAt) return present
          if ((yield* Clock.currentTimeMillis) < keys.fetchedAt + limits.refetchMillis) return undefined
          const found = yield* Cache.get(newer, issuer)
          return found.fetchedAt > keys.fetchedAt ? found : undefined
        })
      })
    })
  )
}

const fetchKeys = async (issuer: string, limits: IssuerLimits): Promise<JWTVerifyGetKey> => {
  const { jwks_uri: address } = await discoverIssuer(issuer, limits, { clientId: "delivery", endpoints: ["jwks_uri"] })
  // A description may lead nowhere else.
  if (new URL(address!).origin !== new URL(issuer).origin) throw failed("OTHER_ORIGIN")
  const answer = await boundedFetch(limits)(address!, { method: "GET", headers: { accept: "application/json" } })
  if (answer.status !== 200) throw failed(`HTTP_${answer.status}`)
  const set = (await answer.json().catch(() => undefined)) as JSONWebKeySet | undefined
  if (!Array.isArray(set?.keys) || set.keys.length > maxKeys) throw failed("OTHER_FORM")
  return createLocalJWKSet(set)
}
