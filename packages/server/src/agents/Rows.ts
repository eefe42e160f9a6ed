import type { AgentScope } from "@delivery/domain/agents/Agent"
import type { AgentId, ComputerId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** What is stored of agents beside the agents themselves, which are actors (access/ActorRows.ts). */

/** The computers that each agent is signed in on. An agent has one of each name. */
export const computers = table("computers", {
  id: uuid<ComputerId>(),
  workspaceId: uuid<WorkspaceId>(),
  agentId: uuid<AgentId>(),
  name: text(),
  createdAt: instant(),
  lastSeenAt: instant()
})

export type ComputerRow = Row<typeof computers>

/** What an agent works on at a computer. In memory by `sessionKey`. */
export const sessions = table("sessions", {
  workspaceId: uuid<WorkspaceId>(),
  computerId: uuid<ComputerId>(),
  /** Chosen by the client. */
  id: text(),
  repository: nullable(text()),
  branch: nullable(text()),
  lastSeenAt: instant()
})

export type SessionRow = Row<typeof sessions>

/** Under which a session stands in the memory storage. */
export const sessionKey = ({ computerId, id }: Pick<SessionRow, "computerId" | "id">): string => `${computerId}/${id}`

/** A client's sign-in for an agent. Its id is the `client_id`. A computer has one at most. */
export const signIns = table("sign_ins", {
  id: uuid<SignInId>(),
  workspaceId: uuid<WorkspaceId>(),
  agentId: uuid<AgentId>(),
  /** Null where it was made with the server URL. */
  computerId: nullable(uuid<ComputerId>()),
  /** The most that its tokens may do. */
  scope: text<AgentScope>(),
  /** How many times it was refreshed. */
  generation: integer(),
  /** When the refresh token before the present one was first used; null before the first refresh. */
  refreshedAt: nullable(instant()),
  createdAt: instant()
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

/** The refresh tokens of sign-ins, by their hashes. A generation has one. */
export const refreshTokens = table("refresh_tokens", {
  tokenHash: text(),
  workspaceId: uuid<WorkspaceId>(),
  signInId: uuid<SignInId>(),
  /** The number of refreshes before it was made. */
  generation: integer(),
  expiresAt: instant()
})
