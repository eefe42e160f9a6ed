import type { LoginId, PersonId, SessionId } from "@delivery/domain/Ids"
import type { Scope } from "@delivery/domain/Scope"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** What the command line asks for. A row is gone when its key is made. */
export const logins = table("logins", {
  id: uuid<LoginId>(),
  state: text<"pending" | "allowed" | "denied">(),
  /** Of the key that is asked for, and then of the one that is allowed. */
  name: text(),
  scopes: nullable(json<ReadonlyArray<Scope>>()),
  keyExpiresAt: instant(),
  codeChallenge: text(),
  /** Null: the program is not on the computer of the browser. */
  redirectUri: nullable(text()),
  /** What the person types; null where the browser brings a code. */
  userCodeHash: nullable(text()),
  /** From where it was asked for. */
  address: text(),
  createdAt: instant(),
  /** Until when somebody can decide, and then until when the key can be fetched. */
  expiresAt: instant(),
  /** Who allowed it, and the session in which they did; null before. */
  personId: nullable(uuid<PersonId>()),
  sessionId: nullable(uuid<SessionId>()),
  /** Of the code that the browser brings. */
  codeHash: nullable(text())
})

export type LoginRow = Row<typeof logins>

/** What a decision changes. */
export const decidedFields = [
  "state",
  "name",
  "scopes",
  "keyExpiresAt",
  "expiresAt",
  "personId",
  "sessionId",
  "codeHash"
] as const satisfies ReadonlyArray<keyof LoginRow>

/** Stores logins of the command line, until their keys are made. */
export class LoginsRepo extends Context.Service<
  LoginsRepo,
  {
    /** Stores the login, and forgets those that have expired. */
    readonly insert: (login: LoginRow) => Effect.Effect<void>
    /** One that has not expired, whatever was decided. */
    readonly find: (id: LoginId, now: Timestamp) => Effect.Effect<LoginRow | undefined>
    /** The same, locked until the transaction ends: of those who decide, or fetch the key, one comes after the other. */
    readonly lock: (id: LoginId, now: Timestamp) => Effect.Effect<LoginRow | undefined>
    /** Stores what was decided. */
    readonly decide: (login: Pick<LoginRow, "id" | (typeof decidedFields)[number]>) => Effect.Effect<void>
    readonly delete: (id: LoginId) => Effect.Effect<void>
    /** Forgets the login whose code it is, and answers it. */
    readonly endCode: (codeHash: string) => Effect.Effect<LoginRow | undefined>
  }
>()("@delivery/server/auth/LoginsRepo") {}
