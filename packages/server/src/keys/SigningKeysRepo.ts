import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, integer, json, nullable, type Row, table, text } from "../storage/Table.ts"

/** The key pairs that sign tokens, by generation. */
export const signingKeys = table("signing_keys", {
  /** From 1. */
  generation: integer(),
  kid: text(),
  /** The x coordinate of the public key (RFC 8037). */
  publicKey: json<{ readonly x: string }>(),
  /** Encrypted by the keyring. */
  sealedPrivateKey: text(),
  createdAt: instant(),
  /** When it is deleted: set when a newer one is stored. */
  retiresAt: nullable(instant())
})

export type SigningKeyRow = Row<typeof signingKeys>

/** Stores the service's signing keys. */
export class SigningKeysRepo extends Context.Service<
  SigningKeysRepo,
  {
    /** Newest generation first. */
    readonly list: Effect.Effect<ReadonlyArray<SigningKeyRow>>
    /**
     * Stores the key unless its generation exists: of servers that make one at the same time, one does. Older keys that
     * have no time to retire yet retire at `retireOlder`.
     */
    readonly insert: (key: Omit<SigningKeyRow, "retiresAt">, retireOlder: Timestamp) => Effect.Effect<void>
    /** Deletes the keys that retire at `now` or before. */
    readonly retire: (now: Timestamp) => Effect.Effect<void>
    /** Replaces the encrypted private key `from` with `to`, unless it is no longer `from`. */
    readonly replacePrivateKey: (kid: string, from: string, to: string) => Effect.Effect<void>
  }
>()("@delivery/server/keys/SigningKeysRepo") {}
