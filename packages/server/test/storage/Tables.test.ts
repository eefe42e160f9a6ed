import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as AgentsRoom from "../../src/agents/AgentsRoom.ts"
import * as AuditRoom from "../../src/audit/AuditRoom.ts"
import * as Auth from "../../src/auth/Auth.ts"
import * as Catalog from "../../src/catalog/Catalog.ts"
import * as Deploy from "../../src/deploy/Deploy.ts"
import * as EventsRoom from "../../src/events/EventsRoom.ts"
import * as Flow from "../../src/flow/Flow.ts"
import * as Files from "../../src/files/Files.ts"
import * as Identity from "../../src/identity/Identity.ts"
import * as Keys from "../../src/keys/Keys.ts"
import * as Planning from "../../src/planning/Planning.ts"
import * as Runs from "../../src/runs/Runs.ts"
import * as StorageRoom from "../../src/storage/StorageRoom.ts"
import { type Column, columnName, type Table } from "../../src/storage/Table.ts"
import * as VaultRoom from "../../src/vault/VaultRoom.ts"
import * as WebhooksRoom from "../../src/webhooks/WebhooksRoom.ts"
import { layerPostgres } from "../support/Databases.ts"
import { layerLiveClock } from "../support/Storages.ts"

/** Every table that the migrations made is described in the sources, column by column. */

const tables: ReadonlyArray<Table> = [
  Files.tables,
  Keys.tables,
  EventsRoom.tables,
  AuditRoom.tables,
  Identity.tables,
  Auth.tables,
  Catalog.tables,
  VaultRoom.tables,
  Planning.tables,
  Runs.tables,
  Deploy.tables,
  AgentsRoom.tables,
  WebhooksRoom.tables,
  Flow.tables
].flat()

const layerMigrated = Layer.provideMerge(StorageRoom.layerMigrations, layerPostgres).pipe(Layer.provide(layerLiveClock))

layer(layerMigrated)("tables", (it) => {
  it.effect("are all described", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const found = yield* sql<{ name: string }>`select table_name as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE'`
      assert.sameMembers(
        found.map(({ name }) => name),
        // The first is the migrator's own.
        ["effect_sql_migrations", ...tables.map(({ name }) => name)]
      )
    })
  )

  for (const table of tables) {
    it.effect(`${table.name} is as the migrations made it`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const found = yield* sql<{ name: string; type: string; isNullable: boolean; hasDefault: boolean }>`
          select column_name as name, udt_name as type, is_nullable = 'YES' as "isNullable",
            column_default is not null as "hasDefault"
          from information_schema.columns where table_schema = 'public' and table_name = ${table.name}`
        const columns = table.columns as Readonly<Record<string, Column<unknown>>>
        const described = Object.entries(columns).map(([property, { isNullable, type }]) => ({
          name: columnName(property),
          type,
          isNullable
        }))
        const isDescribed = new Set(described.map(({ name }) => name))
        const made = found.map(({ isNullable, name, type }) => ({ name, type, isNullable }))
        const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1)
        assert.deepStrictEqual(
          described.toSorted(byName),
          made.filter(({ name }) => isDescribed.has(name)).toSorted(byName)
        )
        // What is not described must not be needed for a new row.
        const needed = found.filter(
          ({ hasDefault, isNullable, name }) => !isDescribed.has(name) && !hasDefault && !isNullable
        )
        assert.deepStrictEqual(needed, [])
      })
    )
  }
})
