import { Layer } from "effect"
import { MemoryStorage } from "./MemoryStorage.ts"
import * as Migrations from "./Migrations.ts"
import * as NoticesMemory from "./NoticesMemory.ts"
import * as NoticesSql from "./NoticesSql.ts"
import * as StorageMemory from "./StorageMemory.ts"
import * as StorageSql from "./StorageSql.ts"

/** Transactions, and notices between servers. */

export const layerSql = Layer.mergeAll(StorageSql.layer, NoticesSql.layer)

export const layerMemory = Layer.mergeAll(StorageMemory.layer, NoticesMemory.layer)

/** Must have run before any statement of a room. */
export const layerMigrations = Migrations.layer

/** The tables that `layerMemory` of every room keeps its rows in. */
export const layerMemoryTables = MemoryStorage.layer
