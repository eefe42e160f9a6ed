import { layer, type Vitest } from "@effect/vitest"
import { Clock, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock, TestConsole } from "effect/testing"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { DeploymentsRepo } from "../../src/catalog/DeploymentsRepo.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { EnvironmentsRepo } from "../../src/catalog/EnvironmentsRepo.ts"
import { Products } from "../../src/catalog/Products.ts"
import { ProductsRepo } from "../../src/catalog/ProductsRepo.ts"
import { Settings } from "../../src/Config.ts"
import { Events } from "../../src/events/Events.ts"
import { EventsRepo } from "../../src/events/EventsRepo.ts"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { ApiKeyUsage } from "../../src/identity/ApiKeyUsage.ts"
import { Invites } from "../../src/identity/Invites.ts"
import { InvitesRepo } from "../../src/identity/InvitesRepo.ts"
import { Members } from "../../src/identity/Members.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"
import { WorkspacesRepo } from "../../src/identity/WorkspacesRepo.ts"
import { MemoryStorage } from "../../src/storage/MemoryStorage.ts"
import { layerMigrations } from "../../src/storage/Migrations.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { VaultRepo } from "../../src/vault/VaultRepo.ts"
import { layerEmbedded, layerPostgres } from "./Databases.ts"

/** The rooms identity, catalog and events over each storage, for tests that must pass on all of them. */

const layerMemory = Layer.mergeAll(
  Storage.layerMemory,
  EventsRepo.layerMemory,
  PersonsRepo.layerMemory,
  WorkspacesRepo.layerMemory,
  MembersRepo.layerMemory,
  InvitesRepo.layerMemory,
  ApiKeysRepo.layerMemory,
  ProductsRepo.layerMemory,
  EnvironmentsRepo.layerMemory,
  DeploymentsRepo.layerMemory,
  VaultRepo.layerMemory
).pipe(Layer.provide(MemoryStorage.layer))

const layerSql = Layer.mergeAll(
  Storage.layerSql,
  EventsRepo.layerSql,
  PersonsRepo.layerSql,
  WorkspacesRepo.layerSql,
  MembersRepo.layerSql,
  InvitesRepo.layerSql,
  ApiKeysRepo.layerSql,
  ProductsRepo.layerSql,
  EnvironmentsRepo.layerSql,
  DeploymentsRepo.layerSql,
  VaultRepo.layerSql
).pipe(Layer.provide(layerMigrations))

/** Time passes for a database, whatever it does for the tests. */
const layerLiveClock = Layer.sync(Clock.Clock, Clock.Clock.defaultValue)

/** Each storage with its repositories; building a layer makes a new, empty one. */
export const storages = [
  { name: "memory", layer: layerMemory },
  {
    name: "the embedded database",
    layer: Layer.provide(layerSql, layerEmbedded).pipe(Layer.provide(layerLiveClock))
  },
  { name: "PostgreSQL", layer: Layer.provide(layerSql, layerPostgres).pipe(Layer.provide(layerLiveClock)) }
] as const

export type StorageName = (typeof storages)[number]["name"]

type Repositories = Layer.Success<(typeof storages)[number]["layer"]>

/** The public address that the services of tests write into their answers. */
export const baseUrl = "https://delivery.example"

/** Every service of the three rooms but `Bootstrap`, over repositories. */
export const layerServices = Layer.mergeAll(
  Workspaces.layer,
  Members.layer,
  Invites.layer,
  Products.layer,
  Environments.layer
).pipe(
  Layer.provideMerge([ApiKeys.layer, Deployments.layer]),
  Layer.provideMerge([ApiKeyUsage.layer, Events.layer]),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
  Layer.provideMerge(Settings.layer({ BASE_URL: baseUrl }))
)

/** The services wait for times that a test need not reach: no warning. */
const layerTest = Layer.merge(TestConsole.layer, TestClock.layer({ warningDelay: "1 hour" }))

const onLayer = <R, E>(name: string, built: Layer.Layer<R, E>, tests: (it: Vitest.MethodsNonLive<R>) => void): void =>
  layer(Layer.provideMerge(built, layerTest), { excludeTestServices: true })(name, tests)

/** Runs the tests of repositories on each storage; they share its database and a test clock. */
export const onEachStorage = (
  subject: string,
  tests: (it: Vitest.MethodsNonLive<Repositories>, storage: StorageName) => void
): void => {
  for (const storage of storages) onLayer(`${subject} on ${storage.name}`, storage.layer, (it) => tests(it, storage.name))
}

/** Runs the tests of services on each storage; they share its database and a test clock. */
export const withServicesOnEachStorage = (
  subject: string,
  tests: (
    it: Vitest.MethodsNonLive<Repositories | Layer.Success<typeof layerServices>>,
    storage: StorageName
  ) => void
): void => {
  for (const storage of storages) {
    onLayer(`${subject} on ${storage.name}`, Layer.provideMerge(layerServices, storage.layer), (it) =>
      tests(it, storage.name)
    )
  }
}
