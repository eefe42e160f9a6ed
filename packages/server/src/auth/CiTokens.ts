import { timestamp, type Timestamp } from "@delivery/domain/Timestamp"
import { Context, Data, DateTime, Effect, Layer } from "effect"
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose"
import { Settings } from "../Config.ts"
import { RequestQueue } from "../http/RequestQueue.ts"
import { knownIssuers } from "../identity/TrustedPublishers.ts"
import { type CiJob, jobOf } from "./CiJobs.ts"
import { type FetchedKeys, IssuerKeys } from "./IssuerKeys.ts"
import type { IssuerError } from "./Issuers.ts"

/** A token of a CI that proves nothing. The detail says more to those who may read the audit, and is no text of a stranger. */
export class CiTokenRefused extends Data.TaggedError("CiTokenRefused")<{
  readonly reason: "invalid_token" | "token_expired" | "issuer_unavailable"
  readonly detail: string
}> {}

/** What a token proves. */
export interface ProvenJob {
  readonly job: CiJob
  readonly tokenId: string
  readonly expiresAt: Timestamp
}

/** ID tokens that issuers of CI sign (docs/contract.md, Trusted publishers). */
export class CiTokens extends Context.Service<
  CiTokens,
  { readonly verify: (token: string) => Effect.Effect<ProvenJob, CiTokenRefused> }
>()("@delivery/server/auth/CiTokens") {
  static readonly layer = Layer.effect(CiTokens, Effect.gen(make))
}

/** Signatures that the keys of an issuer can verify and not make. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]

/** Seconds by which clocks may differ. */
const toleranceSeconds = 5

function* make() {
  const settings = yield* Settings
  const dependencies: Dependencies = {
    issuers: knownIssuers(settings),
    audience: settings.baseUrl,
    keys: yield* IssuerKeys,
    queue: yield* RequestQueue
  }
  return CiTokens.of({ verify: Effect.fn("CiTokens.verify")(verify(dependencies)) })
}

interface Dependencies {
  readonly issuers: ReadonlyArray<string>
  readonly audience: string
  readonly keys: IssuerKeys["Service"]
  readonly queue: RequestQueue["Service"]
}

const invalid = (detail: string) => new CiTokenRefused({ reason: "invalid_token", detail })

const verify =
  (dependencies: Dependencies) =>
  (token: string): Effect.Effect<ProvenJob, CiTokenRefused> =>
    Effect.gen(function* () {
      const issuer = yield* issuerOf(dependencies, token)
      const claims = yield* verifiedClaims(dependencies, issuer, token)
      // Whoever else the token is for could show it here.
      const audiences = [claims.aud].flat()
      if (audiences.length !== 1) return yield* invalid("audience")
      const { exp, jti } = claims
      if (typeof jti !== "string" || jti === "" || jti.length > 1_000) return yield* invalid("id")
      const job = jobOf(issuer, claims)
      if (job === undefined) return yield* invalid("claims")
      // As long as it may count as not expired.
      const millis = Math.min((exp! + toleranceSeconds + 1) * 1000, maxMillis)
      return { job, tokenId: jti, expiresAt: timestamp(millis) }
    })

/** The end of the year 9999: later times cannot be stored. */
const maxMillis = 253_402_300_799_000

/** Who is said to have signed it. Nobody else is asked anything. */
const issuerOf = ({ issuers }: Dependencies, token: string): Effect.Effect<string, CiTokenRefused> => {
  let claims: JWTPayload
  let algorithm: string | undefined
  try {
    claims = decodeJwt(token)
    algorithm = decodeProtectedHeader(token).alg
  } catch {
    return Effect.fail(invalid("form"))
  }
  const issuer = typeof claims.iss === "string" ? claims.iss.replace(/\/$/, "") : ""
  if (!issuers.includes(issuer)) return Effect.fail(invalid("issuer"))
  return algorithms.includes(algorithm ?? "") ? Effect.succeed(issuer) : Effect.fail(invalid("algorithm"))
}

const verifiedClaims = Effect.fnUntraced(function* (
  { audience, keys, queue }: Dependencies,
  issuer: string,
  token: string
) {
  // An issuer that is slow must not take the turns of other requests.
  const fetched = <A>(asked: Effect.Effect<A, IssuerError>) =>
    Effect.mapError(
      queue.releaseWhile(asked),
      ({ code, reason }) => new CiTokenRefused({ reason: "issuer_unavailable", detail: `${reason} ${code}` })
    )
  const currentDate = DateTime.toDateUtc(yield* DateTime.now)
  const claimsBy = ({ find }: FetchedKeys) =>
    Effect.tryPromise({
      try: () =>
        jwtVerify(token, find, {
          algorithms,
          audience,
          issuer: [issuer, `${issuer}/`],
          clockTolerance: toleranceSeconds,
          currentDate,
          requiredClaims: ["exp", "jti"]
        }),
      catch: refusalOf
    })
  const present = yield* fetched(keys.of(issuer))
  const byNewer = Effect.fnUntraced(function* (refusal: CiTokenRefused) {
    const newer = yield* fetched(keys.newerThan(issuer, present))
    return newer === undefined ? yield* refusal : yield* claimsBy(newer)
  })
  const { payload } = yield* Effect.catch(claimsBy(present), (refusal) =>
    refusal.detail === "key" ? byNewer(refusal) : Effect.fail(refusal)
  )
  return payload
})

const refusalOf = (error: unknown): CiTokenRefused => {
  if (error instanceof errors.JWTExpired) return new CiTokenRefused({ reason: "token_expired", detail: "exp" })
  if (error instanceof errors.JWTClaimValidationFailed) {
    return invalid(error.claim === "aud" ? "audience" : error.claim)
  }
  if (error instanceof errors.JWKSNoMatchingKey) return invalid("key")
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalid("signature")
  return invalid("form")
}
