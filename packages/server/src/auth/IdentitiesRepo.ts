import type { IdentityId, PersonId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { UniqueViolation } from "../storage/Sql.ts"
import { instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** Accounts at providers by which persons sign in. An issuer names each of its accounts by a subject. */
export const identities = table("identities", {
  id: uuid<IdentityId>(),
  personId: uuid<PersonId>(),
  /** The id of the provider in the settings when it was used last. */
  provider: text(),
  issuer: text(),
  subject: text(),
  /** As the issuer named it last. */
  email: nullable(text()),
  createdAt: instant(),
  lastUsedAt: instant()
})

export type IdentityRow = Row<typeof identities>

/** Stores identities. An account of an issuer belongs to one person. */
export class IdentitiesRepo extends Context.Service<
  IdentitiesRepo,
  {
    readonly insert: (identity: IdentityRow) => Effect.Effect<void, UniqueViolation>
    readonly findBySubject: (issuer: string, subject: string) => Effect.Effect<IdentityRow | undefined>
    /** The oldest first. */
    readonly ofPerson: (personId: PersonId) => Effect.Effect<ReadonlyArray<IdentityRow>>
    /** Stores what its last use told. */
    readonly use: (identity: Pick<IdentityRow, "id" | "provider" | "email" | "lastUsedAt">) => Effect.Effect<void>
    readonly delete: (id: IdentityId) => Effect.Effect<void>
  }
>()("@delivery/server/auth/IdentitiesRepo") {}
