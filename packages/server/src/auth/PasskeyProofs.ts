import { type AddPasskey, challengeMillis, type PasskeyProof } from "@delivery/domain/auth/Passkey"
import { Unauthorized } from "@delivery/domain/Errors"
import type { PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Settings } from "../Config.ts"
import { hashToken } from "../ids/Tokens.ts"
import { type PasskeyPurpose, type PasskeyRow, PasskeysRepo } from "./PasskeysRepo.ts"
import { type RelyingParty, relyingParty, userHandle } from "./RelyingParty.ts"

/** A new passkey that is not as it was asked for. */
export class NotAsAsked extends Data.TaggedError("NotAsAsked") {}

/** What a proof said that works: whose it is, and what is stored of its use. */
export interface VerifiedProof extends Pick<PasskeyRow, "id" | "personId" | "counter" | "synced"> {}

/** What is known of a new passkey. */
export type NewCredential = Pick<
  PasskeyRow,
  "credentialId" | "publicKey" | "counter" | "backupEligible" | "synced" | "transports"
>

/** Challenges, and the proofs that answer them (docs/contract.md, Passkeys). */
export class PasskeyProofs extends Context.Service<
  PasskeyProofs,
  {
    /** A new challenge, in base64url. A person answers their own; null: whoever signs in. */
    readonly challenge: (purpose: PasskeyPurpose, personId: PersonId | null) => Effect.Effect<string>
    /**
     * Verifies a proof and uses its challenge up, whatever comes of it. With `only`, it must be of this person. What is
     * answered counts once it is stored by `use`.
     */
    readonly verify: (
      proof: PasskeyProof,
      purpose: "sign_in" | "sudo",
      only: PersonId | null
    ) => Effect.Effect<VerifiedProof, Unauthorized>
    /**
     * Stores the use of a passkey, and answers whose it is; called in the transaction of what the proof is for. Of two
     * devices with the same counter, one succeeds.
     */
    readonly use: (verified: VerifiedProof) => Effect.Effect<PersonId, Unauthorized>
    /** Like `verify`, for a passkey that the person adds. */
    readonly verifyNew: (
      response: AddPasskey["response"],
      personId: PersonId
    ) => Effect.Effect<NewCredential, NotAsAsked>
  }
>()("@delivery/server/auth/PasskeyProofs") {
  static readonly layer = Layer.effect(PasskeyProofs, Effect.gen(make))
}

interface Dependencies {
  readonly rp: RelyingParty
  readonly repo: PasskeysRepo["Service"]
  readonly random: SecureRandom.SecureRandom["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    rp: relyingParty((yield* Settings).baseUrl),
    repo: yield* PasskeysRepo,
    random: yield* SecureRandom.SecureRandom
  }
  return PasskeyProofs.of({
    challenge: challenge(dependencies),
    verify: verify(dependencies),
    use: use(dependencies),
    verifyNew: verifyNew(dependencies)
  })
}

const loadWebAuthn = Effect.promise(() => import("./WebAuthn.ts"))

const challenge = ({ random, repo }: Dependencies) =>
  Effect.fn("PasskeyProofs.challenge")(function* (purpose: PasskeyPurpose, personId: PersonId | null) {
    const challenge = Buffer.from(yield* random.randomBytes(32)).toString("base64url")
    const now = yield* Clock.currentTimeMillis
    yield* repo.addChallenge({
      challengeHash: hashToken(challenge),
      purpose,
      personId,
      createdAt: timestamp(now),
      expiresAt: timestamp(now + challengeMillis)
    })
    return challenge
  })

/** The challenge that was signed; undefined where there is none, or where the page was in a frame of another. */
const challengeIn = (clientDataJSON: string): string | undefined => {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString())
    if (typeof data !== "object" || data === null) return undefined
    const { challenge, crossOrigin } = data as Readonly<Record<string, unknown>>
    return typeof challenge === "string" && crossOrigin !== true ? challenge : undefined
  } catch {
    return undefined
  }
}

/** Uses the challenge up that was signed, and answers it; undefined where it does not work. */
const usedChallenge = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (clientDataJSON: string, purpose: PasskeyPurpose, personId: PersonId | null) {
    const challenge = challengeIn(clientDataJSON)
    if (challenge === undefined) return undefined
    const now = timestamp(yield* Clock.currentTimeMillis)
    const isUsed = yield* repo.useChallenge({ challengeHash: hashToken(challenge), purpose, personId }, now)
    return isUsed ? challenge : undefined
  })

const failed = Effect.fail(Unauthorized.signInFailed)

const verify = (dependencies: Dependencies) => {
  const { repo, rp } = dependencies
  const useChallenge = usedChallenge(dependencies)
  return Effect.fn("PasskeyProofs.verify")(function* (
    proof: PasskeyProof,
    purpose: "sign_in" | "sudo",
    only: PersonId | null
  ) {
    const challenge = yield* useChallenge(proof.response.clientDataJSON, purpose, only)
    const passkey = yield* repo.ofCredential(proof.id)
    if (challenge === undefined || passkey === undefined) return yield* failed
    const { id, personId } = passkey
    // The device says whose it is; where the service has said that, it need not.
    const handle = proof.response.userHandle ?? (only === null ? undefined : userHandle(personId))
    if ((only !== null && only !== personId) || handle !== userHandle(personId)) return yield* failed
    const { verifyProof } = yield* loadWebAuthn
    const said = yield* Effect.catch(verifyProof(rp, proof, challenge, passkey), () => failed)
    return { id, personId, ...said }
  })
}

const use = ({ repo }: Dependencies) =>
  Effect.fn("PasskeyProofs.use")(function* ({ personId, ...said }: VerifiedProof) {
    const lastUsedAt = timestamp(yield* Clock.currentTimeMillis)
    return (yield* repo.use({ ...said, lastUsedAt })) ? personId : yield* failed
  })

/** The ways to reach a device that browsers know. */
const knownTransports = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"]

const verifyNew = (dependencies: Dependencies) => {
  const { rp } = dependencies
  const useChallenge = usedChallenge(dependencies)
  return Effect.fn("PasskeyProofs.verifyNew")(function* (response: AddPasskey["response"], personId: PersonId) {
    const challenge = yield* useChallenge(response.response.clientDataJSON, "add", personId)
    if (challenge === undefined) return yield* new NotAsAsked()
    const { verifyNew } = yield* loadWebAuthn
    const credential = yield* Effect.mapError(verifyNew(rp, response, challenge), () => new NotAsAsked())
    const transports = knownTransports.filter((known) => response.response.transports?.includes(known))
    return { ...credential, transports }
  })
}
