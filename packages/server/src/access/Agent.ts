import type { AgentId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"

/**
 * A coding-agent client that works for one member of a workspace, as an actor. Its computers, sign-ins and messages are
 * the agents room's; who it is stands here, since events, tickets and comments name it.
 */
export interface AgentRow {
  readonly id: AgentId
  readonly workspaceId: WorkspaceId
  readonly personId: PersonId
  readonly client: "claude" | "codex" | "cursor"
  readonly createdAt: Timestamp
  readonly revokedAt: Timestamp | null
}

const names = { claude: "Claude", codex: "Codex", cursor: "Cursor" } as const

/** The name of an agent is its client's (contract, section 9). */
export const agentName = (client: AgentRow["client"]): string => names[client]
