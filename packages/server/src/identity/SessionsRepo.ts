import type { SignInMethod } from "@delivery/domain/auth/Session"
import type { Person } from "@delivery/domain/identity/Actor"
import type { Membership } from "@delivery/domain/identity/Authorization"
import type { PersonId, SessionId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, type Row, table, text, uuid } from "../storage/Table.ts"
import type { Credential } from "./Credentials.ts"

/** Sessions of persons who signed in with a browser. A row is gone when its session has ended. */
export const sessions = table("web_sessions", {
  id: uuid<SessionId>(),
  personId: uuid<PersonId>(),
  tokenHash: text(),
  lastFour: text(),
  method: text<SignInMethod>(),
  /** The browser and system, in words. */
  device: text(),
  /** The network address at which it began. */
  address: text(),
  createdAt: instant(),
  lastSeenAt: instant(),
  /** The last proof that it is the person: signing in, or `sudo`. */
  provedAt: instant()
})

export type SessionRow = Row<typeof sessions>

/** What each request must know of its session. */
export const authenticatedColumns = ["id", "personId", "lastFour", "createdAt", "lastSeenAt", "provedAt"] as const

/** What one look-up tells of a session: whose it is, and the membership in the workspace asked for. */
export interface AuthenticatedSession {
  readonly session: Pick<SessionRow, (typeof authenticatedColumns)[number]>
  readonly person: Person
  readonly membership: Membership | undefined
}

/** The part of a session that changes when its person proves again who they are. */
export type SessionProof = Pick<SessionRow, "tokenHash" | "lastFour" | "provedAt">

/** By which it is decided whether a session is too old. */
export type SessionTimes = Pick<SessionRow, "createdAt" | "lastSeenAt">

/** Stores sessions. Whether one is too old is decided by who asks. */
export class SessionsRepo extends Context.Service<
  SessionsRepo,
  {
    readonly insert: (session: SessionRow) => Effect.Effect<void>
    /**
     * In one look-up, shared with requests of the same moment: the session, its person, and their active membership in
     * the workspace (slug or id), which is none where the workspace has blocked the session.
     */
    readonly authenticate: (credential: Credential) => Effect.Effect<AuthenticatedSession | undefined>
    /** A text that changes when `authenticate` answers otherwise for one of these, or when one gets too old. */
    readonly state: (
      asked: ReadonlyArray<Credential>,
      limits: { readonly seenAfter: Timestamp; readonly createdAfter: Timestamp }
    ) => Effect.Effect<string>
    /** The times of the session, unless it has ended. */
    readonly find: (id: SessionId) => Effect.Effect<SessionTimes | undefined>
    /**
     * The same, of the session as the maker of something: until the transaction ends, nobody ends it, and its family stays as
     * it is (`ApiKeysRepo.holdMaker`). Whoever ends it waits.
     */
    readonly hold: (id: SessionId) => Effect.Effect<SessionTimes | undefined>
    /** Those of a person, in no order. */
    readonly ofPerson: (personId: PersonId) => Effect.Effect<ReadonlyArray<SessionRow>>
    /** Those of active members of the workspace, in no order. */
    readonly ofMembers: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<SessionRow>>
    /** Gives the session a new token, unless it has ended or has another token than `from` by now: then false. */
    readonly prove: (id: SessionId, from: string, to: SessionProof) => Effect.Effect<boolean>
    /** Ends the person's session, and answers it; undefined where there is none such. */
    readonly end: (personId: PersonId, id: SessionId) => Effect.Effect<SessionRow | undefined>
    /** Ends the person's sessions but one, and answers them. */
    readonly endOthers: (personId: PersonId, but: SessionId) => Effect.Effect<ReadonlyArray<SessionRow>>
    /** Ends the session with the token, if there is one, and answers it. */
    readonly endByToken: (tokenHash: string) => Effect.Effect<SessionRow | undefined>
    /** Ends the sessions that began or were last seen before these times. */
    readonly endOld: (beganBefore: Timestamp, seenBefore: Timestamp) => Effect.Effect<void>
    /** Moves `lastSeenAt` forward, never back. */
    readonly touch: (uses: ReadonlyMap<SessionId, Timestamp>) => Effect.Effect<void>
  }
>()("@delivery/server/identity/SessionsRepo") {}
