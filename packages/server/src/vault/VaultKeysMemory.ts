import type { WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { canaries, type CanaryRow, type DataKey, type DataKeyRow, dataKeys, VaultKeysRepo } from "./VaultKeysRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  VaultKeysRepo,
  Effect.map(MemoryStorage, (memory) =>
    VaultKeysRepo.of({
      canaries: memory.read((database) => Array.from(database.table(canaries).values())),
      insertCanary: insertCanary(memory),
      countDataKeys: countDataKeys(memory),
      dataKeys: ofWorkspace(memory),
      insertDataKey: insertDataKey(memory),
      lockOthers: lockOthers(memory),
      updateDataKeys: updateDataKeys(memory)
    })
  )
)

const insertCanary = (memory: Memory) => (canary: CanaryRow) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(canaries)
      if (rows.get(canary.keyId) === undefined) rows.set(canary.keyId, canary)
    })
  )

const countDataKeys = (memory: Memory) =>
  memory.read((database) => {
    const counts = new Map<string, number>()
    for (const { keyId } of database.table(dataKeys).values()) counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
    return Array.from(counts, ([keyId, count]) => ({ keyId, count })).toSorted((a, b) => compare(a.keyId, b.keyId))
  })

/** Data keys by workspace, which has one at most: what replaces them needs a database. */
const ofWorkspace = (memory: Memory) => (workspaceId: WorkspaceId) =>
  memory.read((database) => {
    const key = database.table(dataKeys).get(workspaceId)
    return key === undefined ? [] : [key]
  })

const insertDataKey = (memory: Memory) => (key: DataKeyRow) =>
  memory.write((database) =>
    Effect.sync(() => {
      const keys = database.table(dataKeys)
      if (keys.get(key.workspaceId) === undefined) keys.set(key.workspaceId, key)
    })
  )

const lockOthers = (memory: Memory) => (keyId: string, limit: number) =>
  memory.read((database) =>
    database
      .table(dataKeys)
      .filter((key) => key.keyId !== keyId)
      .toSorted((a, b) => compare(a.id, b.id))
      .slice(0, limit)
  )

const updateDataKeys = (memory: Memory) => (changed: ReadonlyArray<DataKey>) =>
  memory.write((database) =>
    Effect.sync(() => {
      const keys = database.table(dataKeys)
      for (const { keyId, sealed, workspaceId } of changed) {
        keys.set(workspaceId, { ...keys.get(workspaceId)!, keyId, sealed })
      }
    })
  )
