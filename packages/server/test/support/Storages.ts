import { describe, layer, type Vitest } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { setTimeout } from "node:timers/promises"
import { test as base } from "vitest"
import { Agents } from "../../src/agents/Agents.ts"
import { AgentSessions } from "../../src/agents/AgentSessions.ts"
import { ChangedMembers } from "../../src/agents/ChangedMembers.ts"
import { AgentUsage } from "../../src/agents/AgentUsage.ts"
import { Inbox } from "../../src/agents/Inbox.ts"
import { InboxWaits } from "../../src/agents/InboxWaits.ts"
import { Messages } from "../../src/agents/Messages.ts"
import { SignIns } from "../../src/agents/SignIns.ts"
import { layerMemoryStorage, layerSqlStorage } from "../../src/App.ts"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { Products } from "../../src/catalog/Products.ts"
import { Settings } from "../../src/Config.ts"
import { Events } from "../../src/events/Events.ts"
import { RequestQueue } from "../../src/http/RequestQueue.ts"
import { RequestTimes } from "../../src/http/RequestTimes.ts"
import { Stopping } from "../../src/http/Stopping.ts"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { ApiKeyUsage } from "../../src/identity/ApiKeyUsage.ts"
import { Invites } from "../../src/identity/Invites.ts"
import { Members } from "../../src/identity/Members.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"
import { Milestones } from "../../src/planning/Milestones.ts"
import { Projects } from "../../src/planning/Projects.ts"
import { StatusFilters } from "../../src/planning/StatusFilters.ts"
import { Comments } from "../../src/planning/Comments.ts"
import { type AgentMention, AgentMentions } from "../../src/planning/Mentions.ts"
import { Tags } from "../../src/planning/Tags.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { TicketStatuses, TicketStatusTemplates } from "../../src/planning/TicketStatuses.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Views } from "../../src/planning/Views.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { layerEmbedded, layerPostgres } from "./Databases.ts"
import * as Ids from "../../src/ids/Ids.ts"

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

/** Each storage with its repositories; building a layer makes a new, empty one. */
export const storages = {
  memory: layerMemoryStorage,
  "the embedded database": Layer.provide(layerSqlStorage, layerEmbedded).pipe(Layer.provide(layerLiveClock)),
  PostgreSQL: Layer.provide(layerSqlStorage, layerPostgres).pipe(
    Layer.tap((built) => Effect.provideContext(openConnections, built)),
    Layer.provide(layerLiveClock)
  )
}

export type StorageName = keyof typeof storages

type Repositories = Layer.Success<(typeof storages)[StorageName]>

type Built = Context.Context<Repositories>

const build = async (name: StorageName, onCleanup: (cleanup: () => Promise<void>) => void): Promise<Built> => {
  const scope = Scope.makeUnsafe()
  onCleanup(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return await Layer.buildWithScope(storages[name], scope).pipe(Effect.provide(Logger.layer([])), Effect.runPromise)
}

/** A database takes a while to start: each is made once in a worker, for all files that it runs. */
const test = base
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads from the pattern which fixtures are needed.
  .extend("embedded", { scope: "worker" }, ({}, { onCleanup }) => build("the embedded database", onCleanup))
  // oxlint-disable-next-line no-empty-pattern
  .extend("postgres", { scope: "worker" }, ({}, { onCleanup }) => build("PostgreSQL", onCleanup))

/** The worker's storage as a layer, for the suite that is being described. Memory costs nothing: each has its own. */
const layerShared = (name: StorageName): Layer.Layer<Repositories> => {
  if (name === "memory") return layerMemoryStorage
  let built: Built
  const keep = (fixture: Built) => {
    built = fixture
  }
  if (name === "PostgreSQL") test.beforeAll(({ postgres }) => keep(postgres))
  else test.beforeAll(({ embedded }) => keep(embedded))
  return Layer.effectContext(Effect.sync(() => built))
}

/** The public address that the services of tests write into their answers. */
export const baseUrl = "https://delivery.example"

/** What comments told agents, in the order in which they did. */
export class MentionLog extends Context.Service<MentionLog, Array<AgentMention>>()("@delivery/server/test/MentionLog") {
  static readonly layer = Layer.effectContext(
    Effect.sync(() => {
      const told: Array<AgentMention> = []
      return Context.make(MentionLog, told).pipe(
        Context.add(AgentMentions, { mentioned: (mention) => Effect.sync(() => void told.push(mention)) })
      )
    })
  )
}

/** Every service of the rooms on the ground floor, of planning and of agents, over repositories. */
export const layerServices = Layer.mergeAll(
  Workspaces.layer,
  Members.layer,
  Agents.layer,
  AgentSessions.layer,
  Invites.layer,
  Products.layer,
  Environments.layer,
  Teams.layer,
  TicketStatuses.layer,
  Projects.layer,
  Milestones.layer,
  Views.layer,
  Comments.layer,
  Tags.layer
).pipe(
  Layer.provideMerge(MentionLog.layer),
  Layer.provideMerge([ChangedMembers, SignIns.layer, Inbox.layer]),
  Layer.provideMerge([Layer.provide(AgentUsage.layer, layerLiveClock), Messages.layer, InboxWaits.layer]),
  Layer.provideMerge([ApiKeys.layer, Deployments.layer, Tickets.layer, StatusFilters.layer]),
  // It writes twice a second, whatever time it is for the tests.
  Layer.provideMerge([Layer.provide(ApiKeyUsage.layer, layerLiveClock), Events.layer, TicketStatusTemplates]),
  // They look at their requests often, whatever time it is for the tests.
  Layer.provideMerge([
    Ids.layer,
    Stopping.layer,
    Layer.provide(Layer.provide(RequestQueue.layer, RequestTimes.layer), layerLiveClock)
  ]),
  Layer.provideMerge(Settings.layer({ BASE_URL: baseUrl }))
)

/** The services wait for times that a test need not reach: no warning. */
const layerTest = Layer.merge(TestConsole.layer, TestClock.layer({ warningDelay: "1 hour" }))

const onStorages = <R, E>(
  subject: string,
  over: (storage: Layer.Layer<Repositories>) => Layer.Layer<R, E>,
  tests: (it: Vitest.MethodsNonLive<R>, storage: StorageName) => void
): void => {
  for (const name of Object.keys(storages) as ReadonlyArray<StorageName>) {
    describe(`${subject} on ${name}`, () => {
      const built = Layer.provideMerge(over(layerShared(name)), layerTest)
      layer(built, { excludeTestServices: true })((it) => tests(it, name))
    })
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
