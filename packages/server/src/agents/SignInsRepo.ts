import type { AgentScope } from "@delivery/domain/agents/Agent"
import type { Person } from "@delivery/domain/identity/Actor"
import type { Membership } from "@delivery/domain/identity/Authorization"
import type { Role } from "@delivery/domain/identity/Role"
import type { AgentId, ComputerId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { AgentRow } from "../access/ActorRows.ts"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { ComputerRow } from "./AgentsRepo.ts"

/** A client's sign-in for an agent. A computer has one at most. */
export const signIns = table("sign_ins", {
  id: uuid<SignInId>(),
  workspaceId: uuid<WorkspaceId>(),
  agentId: uuid<AgentId>(),
  /** Null where it was made with the server URL. */
  computerId: nullable(uuid<ComputerId>()),
  /** The client that a person let in by the server's URL; null where an agent was registered, whose `client_id` is the sign-in's id. */
  clientId: nullable(text()),
  /** The granted scope. */
  scope: text<AgentScope>(),
  /** How many times it was refreshed. */
  generation: integer(),
  /** When the refresh token before the present one was first used; null before the first refresh. */
  refreshedAt: nullable(instant()),
  createdAt: instant(),
  /** The credential that it was made with, with which it ends; null if none. */
  makerId: nullable(uuid()),
  /** When it ends, however it is used: with its maker. Null: never. */
  expiresAt: nullable(instant())
})

export type SignInRow = Row<typeof signIns>

/** The access tokens of sign-ins, by their hashes. */
export const accessTokens = table("access_tokens", {
  tokenHash: text(),
  workspaceId: uuid<WorkspaceId>(),
  signInId: uuid<SignInId>(),
  scope: text<AgentScope>(),
  expiresAt: instant()
})

/** The `client_id` by which a sign-in's tokens are refreshed and revoked. */
export const clientIdOf = ({ clientId, id }: Pick<SignInRow, "id" | "clientId">): string => clientId ?? id

/** The refresh tokens of sign-ins, by their hashes. A generation has one. */
export const refreshTokens = table("refresh_tokens", {
  tokenHash: text(),
  workspaceId: uuid<WorkspaceId>(),
  signInId: uuid<SignInId>(),
  /** The number of refreshes before it was made. */
  generation: integer(),
  expiresAt: instant(),
  /** When it was first used. Kept of sign-ins by the server's URL alone. */
  usedAt: nullable(instant())
})

/**
 * The refresh tokens of pairs that were lost and replaced by another pair of their generation, by their hashes. Whoever
 * sends one has the answer that was thought lost.
 */
export const replacedTokens = table("replaced_tokens", {
  tokenHash: text(),
  workspaceId: uuid<WorkspaceId>(),
  signInId: uuid<SignInId>(),
  expiresAt: instant()
})

/** A pair of tokens, by their hashes. */
export interface TokenPair {
  readonly access: { readonly hash: string; readonly scope: AgentScope; readonly expiresAt: Timestamp }
  readonly refresh: { readonly hash: string; readonly expiresAt: Timestamp }
}

/** A locked sign-in, with one of its refresh tokens. */
export interface LockedSignIn {
  readonly signIn: SignInRow
  /** The number of refreshes before the token was made; null if another took its place. */
  readonly tokenGeneration: number | null
  readonly tokenExpiresAt: Timestamp
  /** When the token was first used, of a sign-in by the server's URL. */
  readonly tokenUsedAt: Timestamp | null
  /** The present role of the member it works for; null while they are inactive, or the workspace has blocked it. */
  readonly role: Role | null
}

/** The agent of a valid access token. */
export interface AuthenticatedAgent {
  readonly agent: Pick<AgentRow, "id" | "client" | "clientName">
  readonly person: Person
  readonly membership: Membership
  readonly computer: Pick<ComputerRow, "id" | "name"> | null
  readonly signInId: SignInId
  readonly scope: AgentScope
}

/** A sign-in, with its agent, its member and its computer. */
export interface LiveSignIn extends Pick<SignInRow, "id" | "scope" | "createdAt" | "refreshedAt"> {
  readonly agent: Pick<AgentRow, "id" | "client" | "clientName">
  readonly person: Person
  readonly role: Role
  readonly computer: Pick<ComputerRow, "id" | "name" | "lastSeenAt"> | null
  /** When it ends, unless it is used before. */
  readonly expiresAt: Timestamp
}

/** Codes that expired before this time are used no more, whatever an exchange takes. */
export const beforeCodes = (now: Timestamp): Timestamp => timestamp(Date.parse(now) - 600_000)

/** A sign-in that has ended, or whose access token has, with its agent and its member. */
export interface EndedSignIn extends Pick<SignInRow, "id" | "workspaceId"> {
  readonly agent: Pick<AgentRow, "id" | "client" | "clientName">
  readonly person: Pick<Person, "id" | "name">
}

/**
 * Stores sign-ins and the hashes of their tokens. A sign-in that ended is gone, with its tokens. Whatever ends
 * access notifies the servers, where calls of the agent may wait.
 */
export class SignInsRepo extends Context.Service<
  SignInsRepo,
  {
    /**
     * A new sign-in with its first pair. Ends the one that its computer had; where it has no computer, those of its agent
     * without one that nothing can refresh any more. Answers those.
     */
    readonly insert: (signIn: SignInRow, tokens: TokenPair) => Effect.Effect<ReadonlyArray<EndedSignIn>>
    /** Whatever ends sign-ins answers them. */
    readonly end: (id: SignInId) => Effect.Effect<ReadonlyArray<EndedSignIn>>
    readonly endOfAgent: (workspaceId: WorkspaceId, agentId: AgentId) => Effect.Effect<ReadonlyArray<EndedSignIn>>
    /** Ends those that were made with these credentials. */
    readonly endMadeBy: (makers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<EndedSignIn>>
    /** Those that were made with these credentials. */
    readonly madeBy: (makers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<SignInId>>
    /** Those of agents of active members that have a token which works at `now`, blocked ones too, in no order. */
    readonly listLive: (workspaceId: WorkspaceId, now: Timestamp) => Effect.Effect<ReadonlyArray<LiveSignIn>>
    /** Notifies the servers that what these sign-ins may do has changed. They stay. */
    readonly notifyChanged: (ids: ReadonlyArray<string>) => Effect.Effect<void>
    /** Notifies the servers that the agents' member may do less or more than before. Their sign-ins stay. */
    readonly notifyAccessChanged: (agents: ReadonlyArray<AgentId>) => Effect.Effect<void>
    /** The sign-in of a current, former or replaced refresh token. Locked until the transaction ends, so that refreshes are serial. */
    readonly lockByRefreshToken: (hash: string) => Effect.Effect<LockedSignIn | undefined>
    /**
     * Stores the pair of a generation: of the next one, or of the present one in place of a pair that was lost, whose
     * refresh token is kept as replaced. Forgets what expired before `now`. With `used`, notes the first use of the refresh
     * token that has this hash.
     */
    readonly putTokens: (
      signIn: Pick<SignInRow, "id" | "workspaceId" | "generation" | "refreshedAt">,
      tokens: TokenPair,
      now: Timestamp,
      used?: string
    ) => Effect.Effect<void>
    /** Those of the sign-ins that give access: they have not ended, are not blocked, and their agent's member is active. */
    readonly live: (ids: ReadonlyArray<SignInId>) => Effect.Effect<ReadonlyArray<SignInId>>
    /**
     * Forgets the blocks of credentials that have ended, unless something can still pass them on: a pending invite, a code
     * until ten minutes after it expired, a run or retry that still runs, whose token they refuse, or a webhook, which they
     * hold back.
     */
    readonly eraseBlocks: (now: Timestamp) => Effect.Effect<void>
    /** The sign-in of an access token. */
    readonly ofAccessToken: (hash: string) => Effect.Effect<Pick<SignInRow, "id" | "clientId"> | undefined>
    /** Ends the access token alone, and answers its sign-in, which goes on. */
    readonly endAccessToken: (hash: string) => Effect.Effect<EndedSignIn | undefined>
    /** The agent, while its sign-in has not ended, is not blocked, and its member is active. */
    readonly authenticate: (accessHash: string, now: Timestamp) => Effect.Effect<AuthenticatedAgent | undefined>
  }
>()("@delivery/server/agents/SignInsRepo") {}
