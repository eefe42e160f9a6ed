import type { AuditCredential, AuditEntry } from "@delivery/domain/audit/Audit"
import type { Change } from "@delivery/domain/events/Event"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { AuditEntryId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { integer, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/**
 * Who did what. The time of an entry is that in its id, so the key of the table is the order of lists. Entries outlive what
 * they name, and have no reference to it.
 */
export const auditEntries = table("audit_entries", {
  id: uuid<AuditEntryId>(),
  workspaceId: uuid<WorkspaceId>(),
  action: text(),
  outcome: text<AuditEntry["outcome"]>(),
  /** Null for who is gone. */
  actorId: nullable(uuid()),
  /** As they were then. */
  actor: json<Actor>(),
  credential: nullable(json<AuditCredential>()),
  address: nullable(text()),
  subjectType: text(),
  subjectId: text(),
  subjectLabel: text(),
  environments: nullable(json<ReadonlyArray<string>>()),
  versions: nullable(json<ReadonlyArray<number>>()),
  changes: nullable(json<ReadonlyArray<Change>>()),
  /** What a deployment has read of its secrets. */
  secrets: nullable(json<NonNullable<AuditEntry["secrets"]>>()),
  /** How many equal requests it tells of. */
  count: integer(),
  requestId: nullable(text())
})

export type AuditRow = Row<typeof auditEntries>

/** Which entries of a workspace. */
export interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly subject?: string | undefined
  readonly outcome?: AuditEntry["outcome"] | undefined
  /** Both inclusive. */
  readonly from?: Timestamp | undefined
  readonly to?: Timestamp | undefined
  /** Only older entries than this one. */
  readonly cursor?: string | undefined
}

/** How many more requests an entry tells of. */
export interface AuditCount extends Pick<AuditRow, "id" | "workspaceId" | "count"> {}

/** Stores what was done, and finds it. */
export class AuditRepo extends Context.Service<
  AuditRepo,
  {
    /** Stores entries, all or none; in the transaction that the fiber is in. */
    readonly insert: (entries: ReadonlyArray<AuditRow>) => Effect.Effect<void>
    /** Adds to the counts of entries. What is not there any more is left out. */
    readonly count: (counts: ReadonlyArray<AuditCount>) => Effect.Effect<void>
    /** The entries that match, newest first. */
    readonly find: (
      workspaceId: WorkspaceId,
      filter: AuditFilter,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AuditRow>>
    /** Who it is now. */
    readonly actor: (ref: ActorRef) => Effect.Effect<Actor>
    /** Erases some entries of before an instant, of every workspace; how many. */
    readonly erase: (before: Timestamp, limit: number) => Effect.Effect<number>
  }
>()("@delivery/server/audit/AuditRepo") {}

/** The lowest id that an entry of this time, or of a later one, can have. */
export const lowestId = (at: Timestamp): string => {
  const time = Math.max(0, Date.parse(at)).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

/** The time of an entry. */
export const timeOf = (id: AuditEntryId): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
