import type { Role } from "@delivery/domain/identity/Role"
import type { Scope } from "@delivery/domain/Scope"
import type { AgentId, ApiKeyId, DeploymentId, DeploymentTokenId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { ActorRef } from "./Access.ts"
import { instant, json, nullable, type Row, type Table, table, text, uuid } from "../storage/Table.ts"

/** Who can act, as storage keeps them: persons, agents, API keys and deployment tokens. Rooms above write them; all show them as actors. */

/** Persons. An email, kept in lower case, belongs to one person among those who have proven that it is theirs. */
export const persons = table("persons", {
  id: uuid<PersonId>(),
  name: text(),
  email: text(),
  /** Null until the address is proven. */
  emailVerifiedAt: nullable(instant()),
  createdAt: instant()
})

export type PersonRow = Row<typeof persons>

/** Coding-agent clients, each working for one member of a workspace. */
export const agents = table("agents", {
  id: uuid<AgentId>(),
  workspaceId: uuid<WorkspaceId>(),
  personId: uuid<PersonId>(),
  client: text<"claude" | "codex" | "cursor" | "other">(),
  /** As a client that is none of these names itself; null of those. A person has an agent of each such name. */
  clientName: nullable(text()),
  createdAt: instant(),
  revokedAt: nullable(instant())
})

export type AgentRow = Row<typeof agents>

const names = { claude: "Claude", codex: "Codex", cursor: "Cursor" } as const

/** The name of an agent is its client's (docs/contract.md, Agents). In SQL: `coalesce(client_name, initcap(client))`. */
export const agentName = ({ client, clientName }: Pick<AgentRow, "client" | "clientName">): string =>
  client === "other" ? clientName! : names[client]

/** Whose key it is: a person's, or a workspace's account key with a role of its own. */
export type KeyOwner =
  | { readonly personId: PersonId; readonly workspaceId: null; readonly role: null }
  | { readonly personId: null; readonly workspaceId: WorkspaceId; readonly role: Exclude<Role, "owner"> }

const keyColumns = table("api_keys", {
  id: uuid<ApiKeyId>(),
  personId: nullable(uuid<PersonId>()),
  workspaceId: nullable(uuid<WorkspaceId>()),
  role: nullable(text<Exclude<Role, "owner">>()),
  name: text(),
  tokenHash: text(),
  tokenPrefix: text(),
  lastFour: text(),
  /** Null: all. */
  scopes: nullable(json<ReadonlyArray<Scope>>()),
  /** Who made it; null where that is not known, or was the operator of the host. */
  createdByKind: nullable(text<ActorRef["kind"]>()),
  createdById: nullable(uuid<ActorRef["id"]>()),
  createdAt: instant(),
  expiresAt: nullable(instant()),
  lastUsedAt: nullable(instant()),
  revokedAt: nullable(instant()),
  /** The credential that it was made with, with which it ends; null if none. */
  makerId: nullable(uuid()),
  /** The first credential of its chain of makers; null for a key that was made with none. */
  familyId: nullable(uuid())
})

export type ApiKeyRow = KeyOwner & Omit<Row<typeof keyColumns>, keyof KeyOwner>

/** Whether a key or token works at an instant: neither revoked nor expired. */
export const isLive = ({ expiresAt, revokedAt }: Pick<ApiKeyRow, "expiresAt" | "revokedAt">, now: Timestamp): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now)

/** API keys. A constraint of the table keeps the three columns of the owner as `KeyOwner` has them. */
export const apiKeys = keyColumns as Table<ApiKeyRow>

/** Tokens with which products read their own secrets. One of a deployment that was deleted does not work. */
export const deploymentTokens = table("deployment_tokens", {
  id: uuid<DeploymentTokenId>(),
  workspaceId: uuid<WorkspaceId>(),
  deploymentId: uuid<DeploymentId>(),
  name: text(),
  tokenHash: text(),
  tokenPrefix: text(),
  lastFour: text(),
  /** Networks in CIDR notation; null for everywhere. */
  allowedAddresses: nullable(json<ReadonlyArray<string>>()),
  createdById: uuid<PersonId>(),
  createdAt: instant(),
  /** Of a rotated one: the end of the overlap, or before. */
  expiresAt: nullable(instant()),
  lastUsedAt: nullable(instant()),
  lastUsedFrom: nullable(text()),
  revokedAt: nullable(instant()),
  /** The token that was made of it. */
  replacedBy: nullable(uuid<DeploymentTokenId>()),
  /** The credential that it was made with, with which it is blocked, and without which it goes on. */
  makerId: nullable(uuid())
})

export type DeploymentTokenRow = Row<typeof deploymentTokens>
