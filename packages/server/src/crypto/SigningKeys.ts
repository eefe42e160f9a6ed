import type { JsonWebKeySet } from "@delivery/domain/SystemApi"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWTPayload, SignJWT } from "jose"
import { SettingsError } from "../Config.ts"
import { Keyring } from "./Keyring.ts"
import { SigningKeysRepo } from "./SigningKeysRepo.ts"

const alg = "EdDSA"
const kty = "OKP"
const crv = "Ed25519"
const purposeOf = (kid: string) => `signing-key:${kid}`

/** The service's Ed25519 key, with which it signs tokens that others verify offline. Made by the first start. */
export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /** A signed JWT with the claims. */
    readonly sign: (claims: JWTPayload) => Effect.Effect<string>
    /** The public keys (RFC 7517). */
    readonly jwks: Effect.Effect<JsonWebKeySet>
  }
>()("@delivery/server/crypto/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const repo = yield* SigningKeysRepo
      const keyring = yield* Keyring

      const makeFirst = Effect.gen(function* () {
        const pair = yield* Effect.promise(() => generateKeyPair(alg, { crv, extractable: true }))
        const jwk = yield* Effect.promise(() => exportJWK(pair.privateKey))
        const kid = yield* Effect.promise(() => calculateJwkThumbprint(jwk))
        yield* repo.insert({
          generation: 1,
          kid,
          publicKey: { x: jwk.x ?? "" },
          sealedPrivateKey: yield* keyring.seal(purposeOf(kid), Buffer.from(jwk.d ?? "", "base64url")),
          createdAt: timestamp(yield* Clock.currentTimeMillis)
        })
      })

      if ((yield* repo.list).length === 0) yield* makeFirst
      const stored = yield* repo.list
      const [newest] = stored
      if (newest === undefined) return yield* Effect.die(new Error("No signing key was stored."))

      const { kid, publicKey, sealedPrivateKey } = newest
      const secret = yield* Effect.catchTag(
        keyring.open(purposeOf(kid), sealedPrivateKey),
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
      const privateKey = yield* Effect.promise(() => importJWK({ kty, crv, x: publicKey.x, d }, alg))
      const jwks = {
        keys: stored.map((key) => ({ kty, crv, x: key.publicKey.x, kid: key.kid, alg, use: "sig" }))
      }

      return SigningKeys.of({
        sign: (claims) =>
          Effect.promise(() => new SignJWT(claims).setProtectedHeader({ alg, kid, typ: "JWT" }).sign(privateKey)),
        jwks: Effect.succeed(jwks)
      })
    })
  )
}
