import type { AgentScope } from "@delivery/domain/agents/Agent"
import type { OAuthClient } from "@delivery/domain/agents/OAuthClients"
import type { AuthorizationId, PersonId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** What a client asks for, as it was when it asked. */
const asked = {
  clientId: text(),
  /** As people are shown it. */
  clientName: text(),
  /** Which agent it is. */
  client: text<OAuthClient["agent"]>(),
  redirectUri: text(),
  scope: text<AgentScope>(),
  codeChallenge: text()
}

/** What clients ask for. A row is gone when somebody has decided. */
export const authorizations = table("authorizations", {
  id: uuid<AuthorizationId>(),
  ...asked,
  clientKind: text<OAuthClient["kind"]>(),
  state: nullable(text()),
  createdAt: instant(),
  expiresAt: instant()
})

export type AuthorizationRow = Row<typeof authorizations>

/** The codes of what people allowed, by their hashes. `scope` is what they allowed. */
export const authorizationCodes = table("authorization_codes", {
  codeHash: text(),
  workspaceId: uuid<WorkspaceId>(),
  personId: uuid<PersonId>(),
  ...asked,
  /** The session in which the person allowed it. */
  makerId: uuid(),
  expiresAt: instant(),
  /** The sign-in that it was exchanged for; null before. */
  signInId: nullable(uuid<SignInId>()),
  /** Until when a second use is noticed. */
  keptUntil: instant()
})

export type AuthorizationCodeRow = Row<typeof authorizationCodes>

/** Stores what clients ask for, and the codes of those that people let in. */
export class AuthorizationsRepo extends Context.Service<
  AuthorizationsRepo,
  {
    /** Stores the authorization, and forgets those that have expired. */
    readonly insert: (authorization: AuthorizationRow) => Effect.Effect<void>
    readonly find: (id: string, now: Timestamp) => Effect.Effect<AuthorizationRow | undefined>
    /** Takes the authorization out: of those who decide at once, one gets it. */
    readonly take: (id: string, now: Timestamp) => Effect.Effect<AuthorizationRow | undefined>
    /** Stores the code, and forgets those that need not be kept at `now`. */
    readonly insertCode: (code: AuthorizationCodeRow, now: Timestamp) => Effect.Effect<void>
    /** The code, used or not. Locked until the transaction ends, so that exchanges are serial. */
    readonly lockCode: (codeHash: string) => Effect.Effect<AuthorizationCodeRow | undefined>
    /** Notes what the code was exchanged for. */
    readonly useCode: (codeHash: string, signInId: SignInId, keptUntil: Timestamp) => Effect.Effect<void>
    /** Forgets the code, if it was not exchanged, and answers it. */
    readonly endCode: (codeHash: string) => Effect.Effect<AuthorizationCodeRow | undefined>
    /** Forgets the codes of a member that were not exchanged. */
    readonly endCodes: (workspaceId: WorkspaceId, personId: PersonId) => Effect.Effect<void>
  }
>()("@delivery/server/agents/AuthorizationsRepo") {}
