import type { PasskeyId, PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { UniqueViolation } from "../storage/Sql.ts"
import { boolean, double, instant, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** Passkeys of persons: credentials of WebAuthn. */
export const passkeys = table("passkeys", {
  id: uuid<PasskeyId>(),
  personId: uuid<PersonId>(),
  name: text(),
  /** Made by the device, in base64url. No two passkeys have the same. */
  credentialId: text(),
  /** In the form of COSE, in base64url. */
  publicKey: text(),
  /** How often the device says that it has signed; 0 where it does not count. */
  counter: double(),
  /** How browsers reach the device, in their words. */
  transports: json<ReadonlyArray<string>>(),
  /** Whether the device may keep it in more than one place. It never changes. */
  backupEligible: boolean(),
  /** Whether the device said last that it does. */
  synced: boolean(),
  createdAt: instant(),
  lastUsedAt: nullable(instant())
})

export type PasskeyRow = Row<typeof passkeys>

/** What a proof by a passkey is for. */
export type PasskeyPurpose = "sign_in" | "sudo" | "add"

/** What devices are to sign. A row is gone when its challenge was used. */
export const passkeyChallenges = table("passkey_challenges", {
  challengeHash: text(),
  purpose: text<PasskeyPurpose>(),
  /** Who is to answer it; null of signing in, where that is not known yet. */
  personId: nullable(uuid<PersonId>()),
  createdAt: instant(),
  expiresAt: instant()
})

export type PasskeyChallengeRow = Row<typeof passkeyChallenges>

/** What a use of a passkey changes. */
export type PasskeyUse = Pick<PasskeyRow, "id" | "counter" | "synced"> & { readonly lastUsedAt: Timestamp }

/** Stores passkeys and challenges. */
export class PasskeysRepo extends Context.Service<
  PasskeysRepo,
  {
    readonly insert: (passkey: PasskeyRow) => Effect.Effect<void, UniqueViolation>
    /** Those of a person, in no order. */
    readonly ofPerson: (personId: PersonId) => Effect.Effect<ReadonlyArray<PasskeyRow>>
    readonly ofCredential: (credentialId: string) => Effect.Effect<PasskeyRow | undefined>
    /** Undefined where the person has no such passkey. */
    readonly rename: (personId: PersonId, id: PasskeyId, name: string) => Effect.Effect<PasskeyRow | undefined>
    /** False where the person has no such passkey. */
    readonly remove: (personId: PersonId, id: PasskeyId) => Effect.Effect<boolean>
    /**
     * Stores a use, unless the passkey is gone or its counter has come as far meanwhile: then false. Of two uses with the
     * same counter one is stored, unless the device does not count.
     */
    readonly use: (use: PasskeyUse) => Effect.Effect<boolean>
    /** Stores a challenge, and forgets those that have expired. */
    readonly addChallenge: (challenge: PasskeyChallengeRow) => Effect.Effect<void>
    /** Uses a challenge up that is for this purpose and person: of those who try at once, one gets true. */
    readonly useChallenge: (
      challenge: Pick<PasskeyChallengeRow, "challengeHash" | "purpose" | "personId">,
      now: Timestamp
    ) => Effect.Effect<boolean>
  }
>()("@delivery/server/auth/PasskeysRepo") {}
