import type { JsonWebKeySet } from "@delivery/domain/SystemApi"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWTPayload, SignJWT } from "jose"
import { Settings, SettingsError } from "../Config.ts"
import { background } from "../telemetry/Background.ts"
import { Keyring } from "./Keyring.ts"
import { SigningKeysRepo, type StoredSigningKey } from "./SigningKeysRepo.ts"

const alg = "EdDSA"
const kty = "OKP"
const crv = "Ed25519"

/** What the private key of this id is sealed for. */
export const signingKeyPurpose = (kid: string): string => `signing-key:${kid}`

/** A key is replaced at this age. */
const maxAge = Duration.toMillis("30 days")
/** A new key is published for so long before it signs: every server has it by then, and every verifier's cache. */
const announcement = Duration.toMillis("15 minutes")
/** How often a server looks for keys that another one made. */
const refreshInterval = "1 minute"
/** How long an old key is kept beyond the last token that it can have signed. */
const margin = Duration.toMillis("10 minutes")

/**
 * The service's Ed25519 keys, with which it signs tokens that others verify offline. The first start makes one; each is
 * replaced after 30 days, or when told. A replaced key stays published until every token that it signed has ended, so
 * rotation invalidates none. Sealed under the active vault key.
 */
export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /** A signed JWT with the claims. It may not outlive `RUN_LIMIT_MS`. */
    readonly sign: (claims: JWTPayload) => Effect.Effect<string>
    /** The public keys (RFC 7517). */
    readonly jwks: Effect.Effect<JsonWebKeySet>
    /** Makes the next key now; it signs after 15 minutes. Answers its id. */
    readonly rotate: Effect.Effect<string>
  }
>()("@delivery/server/keys/SigningKeys") {
  /** With the fiber that follows and replaces the keys. */
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const repo = yield* SigningKeysRepo
      const keyring = yield* Keyring
      const { runLimitMillis } = yield* Settings

      const make = Effect.fnUntraced(function* (generation: number) {
        const pair = yield* Effect.promise(() => generateKeyPair(alg, { crv, extractable: true }))
        const jwk = yield* Effect.promise(() => exportJWK(pair.privateKey))
        const kid = yield* Effect.promise(() => calculateJwkThumbprint(jwk))
        const now = yield* Clock.currentTimeMillis
        yield* repo.insert(
          {
            generation,
            kid,
            publicKey: { x: jwk.x ?? "" },
            sealedPrivateKey: yield* keyring.seal(signingKeyPurpose(kid), Buffer.from(jwk.d ?? "", "base64url")),
            createdAt: timestamp(now)
          },
          timestamp(now + announcement + runLimitMillis + margin)
        )
      })

      const newest = Effect.flatMap(repo.list, ([key]) =>
        key === undefined ? Effect.die(new Error("No signing key was stored.")) : Effect.succeed(key)
      )

      const open = Effect.fnUntraced(function* ({ kid, publicKey, sealedPrivateKey }: StoredSigningKey) {
        const secret = yield* Effect.catchTag(
          keyring.open(signingKeyPurpose(kid), sealedPrivateKey),
          "KeyringError",
          ({ keyId, reason }) =>
            new SettingsError({
              message:
                reason === "unknown_key"
                  ? `VAULT_KEYS is wrong: it lacks the key ${keyId}, which this database's signing key is sealed under.`
                  : `VAULT_KEYS is wrong: its key ${keyId} is not the one that this database's signing key is sealed under.`
            })
        )
        const d = Buffer.from(secret).toString("base64url")
        return { kid, privateKey: yield* Effect.promise(() => importJWK({ kty, crv, x: publicKey.x, d }, alg)) }
      })

      const load = Effect.fnUntraced(function* (opened?: Effect.Success<ReturnType<typeof open>>) {
        const stored = yield* repo.list
        const announced = timestamp((yield* Clock.currentTimeMillis) - announcement)
        const signing = stored.find((key) => key.createdAt <= announced) ?? stored.at(-1)
        if (signing === undefined) return yield* Effect.die(new Error("No signing key was stored."))
        return {
          signing: opened?.kid === signing.kid ? opened : yield* open(signing),
          jwks: { keys: stored.map((key) => ({ kty, crv, x: key.publicKey.x, kid: key.kid, alg, use: "sig" })) }
        }
      })

      if ((yield* repo.list).length === 0) yield* make(1)
      let current = yield* load()

      const refresh = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        yield* repo.retire(timestamp(now))
        const { createdAt, generation } = yield* newest
        if (createdAt <= timestamp(now - maxAge)) yield* make(generation + 1)
        current = yield* load(current.signing)
      })

      const round = yield* background("signing_keys", "The signing keys could not be refreshed.", refresh)
      yield* round.pipe(
        Effect.repeat(Schedule.spaced(refreshInterval)),
        Effect.delay(refreshInterval),
        Effect.forkScoped
      )

      return SigningKeys.of({
        sign: (claims) =>
          Effect.promise(() => {
            const { kid, privateKey } = current.signing
            return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: "JWT" }).sign(privateKey)
          }),
        jwks: Effect.sync(() => current.jwks),
        rotate: Effect.gen(function* () {
          yield* make((yield* newest).generation + 1)
          const { kid } = yield* newest
          current = yield* Effect.orDie(load(current.signing))
          return kid
        })
      })
    })
  )
}
