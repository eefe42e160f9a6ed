import { layer, type Vitest } from "@effect/vitest"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { layerSqlStorage } from "../../src/App.ts"
import * as AuditRoom from "../../src/audit/AuditRoom.ts"
import * as Catalog from "../../src/catalog/Catalog.ts"
import type { EnvironmentRow } from "../../src/catalog/EnvironmentsRepo.ts"
import type { ProductRow } from "../../src/catalog/ProductsRepo.ts"
import { Settings } from "../../src/Config.ts"
import * as Deploy from "../../src/deploy/Deploy.ts"
import * as EventsRoom from "../../src/events/EventsRoom.ts"
import * as Flow from "../../src/flow/Flow.ts"
import * as Http from "../../src/http/Http.ts"
import * as Runs from "../../src/runs/Runs.ts"
import * as VaultRoom from "../../src/vault/VaultRoom.ts"
import { addEnvironment, addProduct } from "../catalog/Rows.ts"
import { makeScene, type Scene } from "../identity/Scene.ts"
import { layerPostgres, type StorageName } from "../support/Databases.ts"
import { layerKeyring, layerLiveClock, type Repositories, sharedStorages } from "../support/Storages.ts"
import * as Ids from "../../src/ids/Ids.ts"

/** Workspaces with products and environments, and the vault over each storage. */

const layerVault = VaultRoom.layerServices.pipe(
  // It looks around once a second, whatever time it is for the tests.
  Layer.provideMerge(Layer.provide(Catalog.layer, layerLiveClock)),
  Layer.provideMerge([
    VaultRoom.layerSecretHoldings,
    Runs.layerDeploymentLocks,
    Deploy.layerDeploymentEnds,
    Flow.layerReleaseReadiness
  ]),
  Layer.provideMerge(AuditRoom.layer),
  Layer.provideMerge([EventsRoom.layer, VaultRoom.layerKeys]),
  Layer.provideMerge([Layer.provide(Http.layer, layerLiveClock), layerKeyring, Ids.layer]),
  Layer.provideMerge(Settings.layer({ BASE_URL: "https://delivery.example" }))
)

/** Runs the tests of the vault on each storage; they share its database. */
export const onEachStorage = (
  subject: string,
  tests: (it: Vitest.MethodsNonLive<Repositories | Layer.Success<typeof layerVault>>, storage: StorageName) => void
): void => {
  for (const storage of sharedStorages) {
    layer(Layer.provideMerge(layerVault, storage.layer))(`${subject} on ${storage.name}`, (it) =>
      tests(it, storage.name)
    )
  }
}

/** Runs the tests of the vault on real PostgreSQL, with its client, so that they may reach behind the service. */
export const onPostgres = (
  subject: string,
  tests: (it: Vitest.MethodsNonLive<Repositories | Layer.Success<typeof layerVault> | PgClient.PgClient>) => void
): void =>
  layer(
    Layer.provideMerge(layerVault, Layer.provideMerge(Layer.provide(layerSqlStorage, layerLiveClock), layerPostgres))
  )(`${subject} on PostgreSQL`, tests)

export type VaultScene = Scene & {
  readonly shop: ProductRow
  readonly search: ProductRow
  readonly staging: EnvironmentRow
  readonly ci: EnvironmentRow
  readonly production: EnvironmentRow
}

/** A workspace of two products and three environments, one of them production. */
export const makeVaultScene = Effect.gen(function* () {
  const scene = yield* makeScene
  const product = (slug: string, name: string) => addProduct(scene.workspace.id, { slug, name, type: "library" })
  const environment = (slug: string, name: string, fields: Partial<EnvironmentRow> = {}) =>
    addEnvironment(scene.workspace.id, { slug, name, ...fields })
  return {
    ...scene,
    shop: yield* product("shop", "Shop"),
    search: yield* product("search", "Search"),
    ci: yield* environment("ci", "CI"),
    production: yield* environment("production", "Production", { class: "production" }),
    staging: yield* environment("staging", "Staging")
  } satisfies VaultScene
})

/** What a body sends as a value. */
export const secret = (text: string) => Redacted.make(text)

/** Values of a body: plain text to what the service takes. */
export const values = (plain: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(plain).map(([ref, text]) => [ref, text === null ? null : secret(text)]))

/** `value@version` of each environment by slug; `-` for no value, `*` for a hidden one. */
export const statesOf = (answer: {
  readonly environments: ReadonlyArray<{
    readonly environment: { readonly slug: string }
    readonly version: number
    readonly hasValue: boolean
    readonly value?: Redacted.Redacted | null
    readonly valueHidden?: boolean
  }>
}): Record<string, string> =>
  Object.fromEntries(
    answer.environments.map(({ environment, hasValue, value, valueHidden, version }) => [
      environment.slug,
      `${valueHidden === true ? "*" : value === null || value === undefined ? "-" : Redacted.value(value)}@${version}${
        hasValue ? "" : " none"
      }`
    ])
  )
