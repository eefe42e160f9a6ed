import type { JsonWebKeySet } from "@delivery/domain/SystemApi"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWTPayload, SignJWT } from "jose"
import { Settings, SettingsError } from "../Config.ts"
import { background } from "../telemetry/Background.ts"
import { Keyring } from "./Keyring.ts"
import { type SigningKeyRow, SigningKeysRepo } from "./SigningKeysRepo.ts"

const alg = "EdDSA"
const kty = "OKP"
const crv = "Ed25519"

/** The purpose that the private key of this id is encrypted for. */
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
 * The service's Ed25519 keys, with which it signs tokens that others verify offline (docs/contract.md, Fixtures). The
 * first start makes one. Each is replaced after 30 days, or by `rotate`. A replaced key stays published until every token
 * that it signed has expired, so that rotation invalidates none. Private keys are encrypted under the active vault key.
 */
export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /** A signed JWT with the claims. It may not outlive `RUN_LIMIT_MS`. */
    readonly sign: (claims: JWTPayload) => Effect.Effect<string>
    /** The public keys (RFC 7517). */
    readonly jwks: Effect.Effect<JsonWebKeySet>
    /** Makes the next key now; it signs after 15 minutes. Succeeds with its id. */
    readonly rotate: Effect.Effect<string>
    /** One round: deletes keys that retired, replaces the newest where it is old, and reads them all. */
    readonly refresh: Effect.Effect<void, SettingsError>
  }
>()("@delivery/server/keys/SigningKeys") {
  static readonly layer = Layer.effect(SigningKeys, Effect.gen(make))
}

/** Refreshes the keys every minute: a server knows by then what another one made. */
export const layerBackground = Layer.effectDiscard(
  Effect.gen(function* () {
    const { refresh } = yield* SigningKeys
    const round = yield* background("signing_keys", "The signing keys could not be refreshed.", refresh)
    yield* round.pipe(Effect.repeat(Schedule.spaced(refreshInterval)), Effect.delay(refreshInterval), Effect.forkScoped)
  })
)

interface Dependencies {
  readonly repo: SigningKeysRepo["Service"]
  readonly keyring: Keyring["Service"]
  readonly runLimitMillis: number
}

/** The keys as they were last read. */
interface State {
  current: Effect.Success<ReturnType<ReturnType<typeof load>>>
}

function* make() {
  const { runLimitMillis } = yield* Settings
  const dependencies: Dependencies = { repo: yield* SigningKeysRepo, keyring: yield* Keyring, runLimitMillis }
  if ((yield* dependencies.repo.list).length === 0) yield* create(dependencies)(1)
  const state: State = { current: yield* load(dependencies)() }
  return SigningKeys.of({
    sign: sign(state),
    jwks: Effect.sync(() => state.current.jwks),
    rotate: rotate(dependencies, state),
    refresh: refresh(dependencies, state)
  })
}

/** Makes the key of a generation, unless there is one. */
const create = ({ keyring, repo, runLimitMillis }: Dependencies) =>
  Effect.fnUntraced(function* (generation: number) {
    const pair = yield* Effect.promise(() => generateKeyPair(alg, { crv, extractable: true }))
    const jwk = yield* Effect.promise(() => exportJWK(pair.privateKey))
    const kid = yield* Effect.promise(() => calculateJwkThumbprint(jwk))
    const now = yield* Clock.currentTimeMillis
    yield* repo.insert(
      {
        generation,
        kid,
        publicKey: { x: jwk.x ?? "" },
        sealedPrivateKey: yield* keyring.encrypt(signingKeyPurpose(kid), Buffer.from(jwk.d ?? "", "base64url")),
        createdAt: timestamp(now)
      },
      timestamp(now + announcement + runLimitMillis + margin)
    )
  })

const newest = ({ repo }: Dependencies) =>
  Effect.flatMap(repo.list, ([key]) =>
    key === undefined ? Effect.die(new Error("No signing key was stored.")) : Effect.succeed(key)
  )

/** The private key, ready to sign. */
const decrypt = ({ keyring }: Dependencies) =>
  Effect.fnUntraced(function* ({ kid, publicKey, sealedPrivateKey }: SigningKeyRow) {
    const secret = yield* Effect.catchTag(
      keyring.decrypt(signingKeyPurpose(kid), sealedPrivateKey),
      "KeyringError",
      ({ keyId, reason }) =>
        new SettingsError({
          message:
            reason === "unknown_key"
              ? `VAULT_KEYS is invalid: it lacks the key ${keyId}, which encrypts this database's signing key.`
              : `VAULT_KEYS is invalid: its key ${keyId} is not the one that encrypts this database's signing key.`
        })
    )
    const d = Buffer.from(secret).toString("base64url")
    return { kid, privateKey: yield* Effect.promise(() => importJWK({ kty, crv, x: publicKey.x, d }, alg)) }
  })

/**
 * Reads the keys, and which of them signs now.
 *
 * @param before The key that signed before: it is not decrypted again.
 */
const load = (dependencies: Dependencies) => {
  const decryptKey = decrypt(dependencies)
  return Effect.fnUntraced(function* (before?: Effect.Success<ReturnType<typeof decryptKey>>) {
    const stored = yield* dependencies.repo.list
    const announced = timestamp((yield* Clock.currentTimeMillis) - announcement)
    const signing = stored.find((key) => key.createdAt <= announced) ?? stored.at(-1)
    if (signing === undefined) return yield* Effect.die(new Error("No signing key was stored."))
    return {
      signing: before?.kid === signing.kid ? before : yield* decryptKey(signing),
      jwks: { keys: stored.map((key) => ({ kty, crv, x: key.publicKey.x, kid: key.kid, alg, use: "sig" })) }
    }
  })
}

const refresh = (dependencies: Dependencies, state: State) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* dependencies.repo.retire(timestamp(now))
    const { createdAt, generation } = yield* newest(dependencies)
    if (createdAt <= timestamp(now - maxAge)) yield* create(dependencies)(generation + 1)
    state.current = yield* load(dependencies)(state.current.signing)
  })

const sign = (state: State) => (claims: JWTPayload) =>
  Effect.promise(() => {
    const { kid, privateKey } = state.current.signing
    return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: "JWT" }).sign(privateKey)
  })

const rotate = (dependencies: Dependencies, state: State) =>
  Effect.gen(function* () {
    yield* create(dependencies)((yield* newest(dependencies)).generation + 1)
    const { kid } = yield* newest(dependencies)
    state.current = yield* Effect.orDie(load(dependencies)(state.current.signing))
    return kid
  })
