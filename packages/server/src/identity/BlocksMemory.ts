import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { blockKey, type BlockRow, BlocksRepo, credentialBlocks } from "./BlocksRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  BlocksRepo,
  Effect.map(MemoryStorage, (memory) =>
    BlocksRepo.of({
      block: (workspaceId, rootId, credentials, createdAt) =>
        add(memory, () => credentials.map((credentialId) => ({ workspaceId, credentialId, rootId, createdAt }))),
      unblock: (workspaceId, rootId) =>
        remove(memory, (row) => row.workspaceId === workspaceId && row.rootId === rootId),
      release: (workspaceId, credentials, roots) =>
        remove(
          memory,
          (row) =>
            row.workspaceId === workspaceId && credentials.includes(row.credentialId) && roots.includes(row.rootId)
        ),
      inherit: (maker, made) =>
        add(memory, (rows) =>
          rows.filter(({ credentialId }) => credentialId === maker).map((row) => ({ ...row, credentialId: made }))
        ),
      isBlockedAnywhere: (id) =>
        memory.read(
          (database) => database.table(credentialBlocks).find(({ credentialId }) => credentialId === id) !== undefined
        ),
      list: (workspaceId) =>
        memory.read((database) => database.table(credentialBlocks).filter((row) => row.workspaceId === workspaceId))
    })
  )
)

const add = (memory: Memory, made: (rows: ReadonlyArray<BlockRow>) => ReadonlyArray<BlockRow>) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(credentialBlocks)
      for (const row of made([...rows.values()])) {
        if (rows.get(blockKey(row)) === undefined) rows.set(blockKey(row), row)
      }
    })
  )

const remove = (memory: Memory, isGone: (row: BlockRow) => boolean) =>
  memory.write((database) => Effect.sync(() => database.table(credentialBlocks).deleteWhere(isGone)))
