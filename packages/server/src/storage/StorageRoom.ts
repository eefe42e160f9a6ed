import { Layer } from "effect"
import { MemoryStorage } from "./MemoryStorage.ts"
import { layerMigrations } from "./Migrations.ts"
import { Notices } from "./Notices.ts"
import { Storage } from "./Storage.ts"

/** Transactions, and notices between servers. */

export const layerSql = Layer.mergeAll(Storage.layerSql, Notices.layerSql)

export const layerMemory = Layer.mergeAll(Storage.layerMemory, Notices.layerMemory)

/** Must have run before any statement of a room. */
export { layerMigrations }

/** What `layerMemory` of every room keeps its rows in. */
export const layerMemoryTables = MemoryStorage.layer
