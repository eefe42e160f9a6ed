import { type AddPasskey, passkeyAlgorithms, type PasskeyProof } from "@delivery/domain/auth/Passkey"
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server"
import { decodeAttestationObject } from "@simplewebauthn/server/helpers"
import { Effect } from "effect"
import type { PasskeyRow } from "./PasskeysRepo.ts"
import type { RelyingParty } from "./RelyingParty.ts"

/**
 * What devices sign, verified by the rules of WebAuthn Level 3, sections 7.1 and 7.2. It is loaded when the first proof
 * comes: what it needs takes a while to load.
 */

/** Verifies a proof by a passkey; fails with whatever is wrong with it. The counter must be stored by `PasskeysRepo.use`. */
export const verifyProof = (
  { id, origin }: RelyingParty,
  { response, ...proof }: PasskeyProof,
  challenge: string,
  passkey: PasskeyRow
) =>
  Effect.tryPromise(async () => {
    const { authenticatorData, clientDataJSON, signature } = response
    const { authenticationInfo, verified } = await verifyAuthenticationResponse({
      response: {
        id: proof.id,
        rawId: proof.id,
        type: "public-key",
        response: { authenticatorData, clientDataJSON, signature },
        clientExtensionResults: {}
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
        counter: passkey.counter
      }
    })
    const isEligible = authenticationInfo.credentialDeviceType === "multiDevice"
    if (!verified || isEligible !== passkey.backupEligible) throw new Error("The signature is not of this passkey.")
    return { counter: authenticationInfo.newCounter, synced: authenticationInfo.credentialBackedUp }
  })

/** Verifies a new passkey, and answers what is stored of it; fails with whatever is wrong with it. */
export const verifyNew = (
  { id, origin }: RelyingParty,
  { id: credentialId, response }: AddPasskey["response"],
  challenge: string
) =>
  Effect.tryPromise(async () => {
    const { attestationObject, clientDataJSON } = response
    // Whoever made the device is not asked for, so its certificates are not looked at: that would ask other hosts.
    const attested = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")))
    const format = attested.get("fmt")
    const isSelfSigned = format === "packed" && attested.get("attStmt").get("x5c") === undefined
    if (format !== "none" && !isSelfSigned) throw new Error("An attestation was not asked for.")
    const { registrationInfo, verified } = await verifyRegistrationResponse({
      response: {
        id: credentialId,
        rawId: credentialId,
        type: "public-key",
        response: { attestationObject, clientDataJSON },
        clientExtensionResults: {}
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...passkeyAlgorithms]
    })
    if (!verified || registrationInfo.credential.id !== credentialId) throw new Error("It is another credential.")
    const { credential, credentialBackedUp, credentialDeviceType } = registrationInfo
    return {
      credentialId,
      publicKey: Buffer.from(credential.publicKey).toString("base64url"),
      counter: credential.counter,
      backupEligible: credentialDeviceType === "multiDevice",
      synced: credentialBackedUp
    }
  })
