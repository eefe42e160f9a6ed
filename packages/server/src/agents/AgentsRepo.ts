import type { Person } from "@delivery/domain/identity/Actor"
import type { AgentId, ComputerId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { AgentRow } from "../access/ActorRows.ts"
import { instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

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

/** The key of a session in the memory storage. */
export const sessionKey = ({ computerId, id }: Pick<SessionRow, "computerId" | "id">): string => `${computerId}/${id}`

/** A reported session: omitted properties stay unchanged. */
export interface SessionReport extends Omit<SessionRow, "repository" | "branch"> {
  readonly repository?: string | null
  readonly branch?: string | null
}

/** An agent with its member, computers and sessions. */
export interface StoredAgent {
  readonly id: AgentId
  readonly client: AgentRow["client"]
  readonly clientName: AgentRow["clientName"]
  readonly createdAt: Timestamp
  readonly person: Person
  /** Whether a sign-in has no computer. */
  readonly serverUrl: boolean
  readonly computers: ReadonlyArray<
    Pick<ComputerRow, "id" | "name" | "lastSeenAt"> & {
      readonly sessions: ReadonlyArray<Omit<SessionRow, "workspaceId" | "computerId">>
    }
  >
}

/** Stores agents, the computers they are signed in on, and what they work on there. */
export class AgentsRepo extends Context.Service<
  AgentsRepo,
  {
    /** The person's agent of the client, by the name where it is `other`, that is not revoked: the existing one, else this. Locked until the transaction ends. */
    readonly register: (agent: AgentRow) => Effect.Effect<AgentRow>
    /** The agent, unless it is revoked. Locked until the transaction ends. */
    readonly lock: (workspaceId: WorkspaceId, id: AgentId) => Effect.Effect<AgentRow | undefined>
    readonly revoke: (id: AgentId, at: Timestamp) => Effect.Effect<void>
    /**
     * Agents that are not revoked, of one active member or of all, with sessions seen after `sessionsAfter`; all in no
     * particular order.
     */
    readonly list: (
      workspaceId: WorkspaceId,
      personId: PersonId | undefined,
      sessionsAfter: Timestamp
    ) => Effect.Effect<ReadonlyArray<StoredAgent>>
    /** The person's agents that are not revoked. */
    readonly ofPerson: (workspaceId: WorkspaceId, personId: PersonId) => Effect.Effect<ReadonlyArray<AgentId>>
    /** The agent's computer of the name: the existing one, with the new `lastSeenAt`, else this. */
    readonly putComputer: (computer: ComputerRow) => Effect.Effect<ComputerRow>
    /** Moves `lastSeenAt` forward, never back. */
    readonly touchComputers: (seen: ReadonlyMap<ComputerId, Timestamp>) => Effect.Effect<void>
    /** Makes or changes the session. A new one ends those of its computer that are not among the newest. */
    readonly putSession: (session: SessionReport) => Effect.Effect<SessionRow>
    readonly endSession: (session: Pick<SessionRow, "workspaceId" | "computerId" | "id">) => Effect.Effect<void>
  }
>()("@delivery/server/agents/AgentsRepo") {}
