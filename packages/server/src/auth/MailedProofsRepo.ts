import type { MailedProofId, PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** What a mailed proof is good for: signing in, or proving one's own address. */
export type MailedPurpose = "sign_in" | "address"

/** Links with their codes, as they were mailed. A row is gone when either was used. */
export const mailedProofs = table("mailed_proofs", {
  id: uuid<MailedProofId>(),
  /** Null where nobody has proven the address: nothing was mailed then, and what is tried meets a row as it would else. */
  personId: nullable(uuid<PersonId>()),
  purpose: text<MailedPurpose>(),
  tokenHash: text(),
  /** Of the code with the secret of the browser that asked for it. */
  codeHash: text(),
  /** Of that secret. */
  browserHash: text(),
  /** How often a code of its browser was tried. */
  tries: integer(),
  createdAt: instant(),
  expiresAt: instant(),
  /** What was counted of the network that asked, which is given back when it is used; null of what an earlier version mailed. */
  counter: nullable(text()),
  countedFrom: nullable(instant())
})

export type MailedProofRow = Row<typeof mailedProofs>

/** Stores what was mailed. */
export class MailedProofsRepo extends Context.Service<
  MailedProofsRepo,
  {
    /** Stores it, and forgets what has expired. */
    readonly insert: (proof: MailedProofRow) => Effect.Effect<void>
    /** Whose link has the token, if it has not expired. */
    readonly findByToken: (
      purpose: MailedPurpose,
      tokenHash: string,
      now: Timestamp
    ) => Effect.Effect<MailedProofRow | undefined>
    /**
     * Counts one try of a code for all that the browser asked for, and answers those that had been tried less than `most`
     * times. Of those who try at once, each counts.
     */
    readonly tryCode: (
      purpose: MailedPurpose,
      browserHash: string,
      now: Timestamp,
      most: number
    ) => Effect.Effect<ReadonlyArray<MailedProofRow>>
    /** Whose mails have this token, or were asked for by this browser: expired ones, too, while they are known. */
    readonly personsOf: (
      purpose: MailedPurpose,
      of: { readonly tokenHash: string; readonly browserHash: string }
    ) => Effect.Effect<ReadonlyArray<PersonId>>
    /** Uses it up: of those who try at once, one gets it. */
    readonly use: (id: MailedProofId, now: Timestamp) => Effect.Effect<MailedProofRow | undefined>
  }
>()("@delivery/server/auth/MailedProofsRepo") {}
