import { layer, type Vitest } from "@effect/vitest"
import type { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Logger, Scope } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { setTimeout } from "node:timers/promises"
import { layerMemoryStorage, layerPorts, layerRooms, layerSqlStorage } from "../../src/App.ts"
import * as AuditRoom from "../../src/audit/AuditRoom.ts"
import { Settings } from "../../src/Config.ts"
import * as EventsRoom from "../../src/events/EventsRoom.ts"
import * as Files from "../../src/files/Files.ts"
import * as Http from "../../src/http/Http.ts"
import * as Ids from "../../src/ids/Ids.ts"
import * as Keys from "../../src/keys/Keys.ts"
import { type AgentMention, AgentMentions } from "../../src/planning/Mentions.ts"
import { Storage } from "../../src/storage/Storage.ts"
import * as StorageRoom from "../../src/storage/StorageRoom.ts"
import { isUsed, layerEmbedded, layerPostgres, type StorageName } from "./Databases.ts"

/** Every repository over each storage, for tests that must pass on all of them. */

/** Time passes for a database, whatever it does for the tests. */
export const layerLiveClock = Layer.sync(Clock.Clock, Clock.Clock.defaultValue)

/** Opens every connection, so that what tests do at once happens at once. */
const openConnections = Effect.flatMap(Storage, (storage) =>
  Effect.all(
    Array.from({ length: 10 }, () => storage.transaction(Effect.promise(() => setTimeout(20)))),
    { concurrency: "unbounded", discard: true }
  )
)

/** Each database with its client and repositories; building a layer makes a new one. */
const databases = {
  "the embedded database": Layer.provide(Layer.provideMerge(layerSqlStorage, layerEmbedded), layerLiveClock),
  PostgreSQL: Layer.provideMerge(layerSqlStorage, layerPostgres).pipe(
    Layer.tap((built) => Effect.provideContext(openConnections, built)),
    Layer.provide(layerLiveClock)
  )
}

/** Each storage with its repositories; building a layer makes a new, empty one. */
export const storages = { memory: layerMemoryStorage, ...databases }

export type Repositories = Layer.Success<typeof layerMemoryStorage>

type Database = Context.Context<Repositories | PgClient.PgClient>

/** A database takes a while to start: each is made once in a worker, for all files that it runs, and ends with it. */
const shared = new Map<string, Promise<Database>>()

const layerShared = (name: keyof typeof databases): Layer.Layer<Repositories | PgClient.PgClient> =>
  Layer.effectContext(
    Effect.promise(() => {
      const built =
        shared.get(name) ??
        Layer.buildWithScope(databases[name], Scope.makeUnsafe()).pipe(
          Effect.provide(Logger.layer([])),
          Effect.runPromise
        )
      shared.set(name, built)
      return built
    })
  )

/** The new storages that suites can have. */
export const newStorages = Object.entries(storages)
  .map(([name, layer]) => ({ name: name as StorageName, layer }))
  .filter(({ name }) => isUsed(name))

/** The databases that the suites of a worker share, with their clients and repositories. */
export const sharedDatabases = (["the embedded database", "PostgreSQL"] as const)
  .filter(isUsed)
  .map((name) => ({ name, layer: layerShared(name) }))

/** Each storage, for suites that need none of their own. Memory costs nothing: each suite has a new one. */
export const sharedStorages: ReadonlyArray<{
  readonly name: StorageName
  readonly layer: Layer.Layer<Repositories>
}> = [...(isUsed("memory") ? [{ name: "memory" as const, layer: layerMemoryStorage }] : []), ...sharedDatabases]

/** Signing keys of the suite's own, kept in memory: those of a shared database follow the clocks of other suites. */
export const layerSigningKeys = Layer.provide(
  Keys.layer,
  Layer.provide(Keys.layerMemory, StorageRoom.layerMemoryTables)
)

/** The keys of all suites of a worker, since they share what is sealed under them. */
export const layerKeyring = Layer.succeedContext(Effect.runSync(Effect.scoped(Layer.build(Keys.layerMemoryKeyring))))

/** The public address that the services of tests write into their answers. */
export const baseUrl = "https://delivery.example"

/** What comments told agents, in the order in which they did. */
export class MentionLog extends Context.Service<MentionLog, Array<AgentMention>>()("@delivery/server/test/MentionLog") {
  static readonly layer = Layer.effectContext(
    Effect.sync(() => {
      const mentions: Array<AgentMention> = []
      return Context.make(MentionLog, mentions).pipe(
        Context.add(AgentMentions, { mentioned: (mention) => Effect.sync(() => void mentions.push(mention)) })
      )
    })
  )
}

/** The services of every room, over repositories, with mentions and keys of the suite's own. */
export const layerServices = Layer.merge(layerRooms, EventsRoom.layerReads).pipe(
  // Some write and look around several times a second, whatever time it is for the tests.
  Layer.provide(layerLiveClock),
  Layer.provideMerge(MentionLog.layer),
  Layer.provideMerge(Layer.provide(layerPorts, layerLiveClock)),
  Layer.provideMerge(AuditRoom.layer),
  Layer.provideMerge([EventsRoom.layer, layerSigningKeys, Layer.provide(Http.layer, layerLiveClock)]),
  Layer.provideMerge([Ids.layer, layerKeyring, Files.layerMemory, Settings.layer({ BASE_URL: baseUrl })])
)

/** The services wait for times that a test need not reach: no warning. */
const layerTest = Layer.merge(TestConsole.layer, TestClock.layer({ warningDelay: "1 hour" }))

const onStorages = <R, E>(
  subject: string,
  over: (storage: Layer.Layer<Repositories>) => Layer.Layer<R, E>,
  tests: (it: Vitest.MethodsNonLive<R>, storage: StorageName) => void,
  storages: typeof sharedStorages = sharedStorages
): void => {
  for (const storage of storages) {
    layer(Layer.provideMerge(over(storage.layer), layerTest), { excludeTestServices: true })(
      `${subject} on ${storage.name}`,
      (it) => tests(it, storage.name)
    )
  }
}

/** Runs the tests of repositories on each storage, which other tests use too. Time is the test's. */
export const onEachStorage = (
  subject: string,
  tests: (it: Vitest.MethodsNonLive<Repositories>, storage: StorageName) => void
): void => onStorages(subject, (storage) => storage, tests)

/** Runs the tests of services on each storage, which other tests use too. Time is the test's. */
export const withServicesOnEachStorage = (
  subject: string,
  tests: (it: Vitest.MethodsNonLive<Repositories | Layer.Success<typeof layerServices>>, storage: StorageName) => void
): void => onStorages(subject, (storage) => Layer.provideMerge(layerServices, storage), tests)

/** The same on storages of the suite's own, for services that work on all workspaces there are. */
export const withServicesOnNewStorages: typeof withServicesOnEachStorage = (subject, tests) =>
  onStorages(
    subject,
    (storage) => Layer.provideMerge(layerServices, storage),
    tests,
    newStorages.map(({ layer, name }) => ({ name, layer: Layer.orDie(layer) }))
  )
