import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerApp, layerSqlStorage } from "../../src/App.ts"
import * as Keys from "../../src/keys/Keys.ts"
import * as Files from "../../src/files/Files.ts"
import { DeliveryServer, serverOf } from "../../src/testing/DeliveryServer.ts"
import { isUsed, layerPostgres } from "./Databases.ts"

type Environment = Readonly<Record<string, string>>

/** A new directory, which goes with the scope. */
export const dataDir = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "delivery-test-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/**
 * A server over a database on the suites' PostgreSQL, by default a new one, with its files in a new directory unless
 * `FILES_URL` says otherwise.
 */
export const layerPostgresServer = (
  environment: Environment = {},
  database: Layer.Layer<Layer.Success<typeof layerPostgres>, unknown> = layerPostgres
) =>
  Layer.unwrap(
    Effect.map(dataDir, (DATA_DIR) =>
      serverOf(
        layerApp.pipe(
          Layer.provide(layerSqlStorage),
          Layer.provide(database),
          Layer.provide([Files.layer, Keys.layerKeyring]),
          Layer.provide(NodeServices.layer)
        ),
        { DATA_DIR, ...environment }
      )
    )
  )

export type Servers = ReadonlyArray<
  readonly [name: string, layer: (environment?: Environment) => Layer.Layer<DeliveryServer, unknown>]
>

/** The storages of servers, by name, if not all (vitest.workspace.ts). */
const served = process.env["TEST_SERVERS"]?.split(",")

const isServed = (name: "memory" | "PostgreSQL"): boolean => isUsed(name) && (served?.includes(name) ?? true)

/** The servers that HTTP suites run against, over a real socket. */
export const servers: Servers = [
  ...(isServed("memory") ? ([["memory", DeliveryServer.layerMemory]] as const) : []),
  ...(isServed("PostgreSQL")
    ? ([["PostgreSQL", (environment?: Environment) => layerPostgresServer(environment)]] as const)
    : [])
]
