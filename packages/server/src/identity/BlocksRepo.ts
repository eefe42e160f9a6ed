import type { WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { instant, type Row, table, uuid } from "../storage/Table.ts"

/**
 * Credentials that a workspace does not let in. What a blocked credential made is blocked with it: its row has the maker as
 * its root. The row of the maker itself has its own id there.
 */
export const credentialBlocks = table("credential_blocks", {
  workspaceId: uuid<WorkspaceId>(),
  credentialId: uuid(),
  rootId: uuid(),
  createdAt: instant()
})

export type BlockRow = Row<typeof credentialBlocks>

/** Under which a block stands in the memory storage. */
export const blockKey = ({ credentialId, rootId, workspaceId }: Omit<BlockRow, "createdAt">): string =>
  `${workspaceId}/${credentialId}/${rootId}`

/** In the memory storage: whether the workspace does not let the credential in. */
export const isBlocked = (
  database: MemoryDatabase,
  workspaceId: string | undefined,
  credentialId: string | null
): boolean =>
  database
    .table(credentialBlocks)
    .find((row) => row.workspaceId === workspaceId && row.credentialId === credentialId) !== undefined

/** Stores which credentials are blocked in which workspace. */
export class BlocksRepo extends Context.Service<
  BlocksRepo,
  {
    /** Blocks the credentials, the root among them. What is blocked with it already stays as it is. */
    readonly block: (
      workspaceId: WorkspaceId,
      rootId: string,
      credentials: ReadonlyArray<string>,
      at: Timestamp
    ) => Effect.Effect<void>
    /** Takes away what was blocked with the root. */
    readonly unblock: (workspaceId: WorkspaceId, rootId: string) => Effect.Effect<void>
    /** Takes away that these credentials are blocked with these roots. */
    readonly release: (
      workspaceId: WorkspaceId,
      credentials: ReadonlyArray<string>,
      roots: ReadonlyArray<string>
    ) => Effect.Effect<void>
    /** Blocks what a credential made wherever its maker is blocked. Called in the transaction that makes it. */
    readonly inherit: (maker: string | null, made: string) => Effect.Effect<void>
    /** Whether some workspace does not let the credential in. */
    readonly isBlockedAnywhere: (credentialId: string) => Effect.Effect<boolean>
    /** What is blocked in the workspace, with each of its roots. */
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<BlockRow>>
  }
>()("@delivery/server/identity/BlocksRepo") {}
