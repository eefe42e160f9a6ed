import { Conflict } from "@delivery/domain/Errors"
import type { PersonId } from "@delivery/domain/Ids"
import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { Settings } from "../../src/Config.ts"
import * as Files from "../../src/files/Files.ts"
import { BlocksRepo } from "../../src/identity/BlocksRepo.ts"
import { TrustedPublishersRepo } from "../../src/identity/TrustedPublishersRepo.ts"
import { hashToken } from "../../src/ids/Tokens.ts"
import * as Keys from "../../src/keys/Keys.ts"
import { RunErasure } from "../../src/runs/erasure/RunErasure.ts"
import { SemaphoresRepo } from "../../src/runs/SemaphoresRepo.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { as, type CallerOf, eventsOf, publisherRow } from "../identity/Scene.ts"
import { layerSigningKeys, sharedStorages } from "../support/Storages.ts"
import { type Deployed, finishBody, git, makeDeployed, newKey, startBody } from "./Scene.ts"
import { layerRuns } from "./Services.ts"

/** A start with a `requestId` starts one run (docs/contract.md, Test runs, Lost answers). */

const runLimit = 60_000

const layerServices = layerRuns.pipe(
  Layer.provideMerge([layerSigningKeys, Files.layerMemory]),
  Layer.provideMerge([
    Keys.layerMemoryKeyring,
    Settings.layer({ BASE_URL: "https://delivery.example", RUN_LIMIT_MS: String(runLimit) })
  ])
)

const start = (at: Deployed, fields: Partial<StartTestRun> = {}, by: CallerOf = at.member) =>
  Effect.flatMap(TestRuns, (runs) => as(by)(runs.start(startBody(at, { requestId: "one", ...fields }))))

const refused = (at: Deployed, fields: Partial<StartTestRun> = {}) =>
  Effect.map(Effect.flip(start(at, fields)), (error) => (error instanceof Conflict ? error.reason : error))

const isKnown = (at: Deployed, token: string) =>
  Effect.flatMap(SemaphoresRepo, (repo) =>
    Effect.map(repo.authenticate(hashToken(token), at.workspace.slug), (found) => found !== undefined)
  )

for (const storage of sharedStorages) {
  // Databases compare the times of tokens with a clock of their own.
  const real = { excludeTestServices: true }
  layer(Layer.provideMerge(layerServices, storage.layer), real)(`Starts that are repeated on ${storage.name}`, (it) => {
    it.effect("get the run of the first, with another token, and tell of it once", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const first = yield* start(at)
        const second = yield* start(at)
        assert.deepStrictEqual(
          [second.number, second.url, second.fixture?.scope, second.semaphores.expiresAt, second.muted],
          [1, first.url, first.fixture?.scope, first.semaphores.expiresAt, first.muted]
        )
        assert.isFalse(yield* isKnown(at, first.semaphores.token))
        assert.isTrue(yield* isKnown(at, second.semaphores.token))
        const events = yield* eventsOf(at.workspace)
        assert.lengthOf(
          events.filter(({ kind }) => kind === "run_started"),
          1
        )
        assert.strictEqual(yield* refused(at, { git: { ...git, branch: "other" } }), "request_id_reused")
        assert.strictEqual((yield* start(at, {}, at.admin)).number, 2)
        assert.strictEqual((yield* start(at, { requestId: "two" })).number, 3)
      })
    )

    it.effect("are one start for all keys of one trusted publisher", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const publisher = publisherRow(at.workspace.id, at.admin.principal.id as PersonId)
        yield* (yield* TrustedPublishersRepo).insert(publisher)
        const trusted = publisher.id
        const starts = [yield* newKey(at, trusted), yield* newKey(at, trusted), yield* newKey(at, null)]
        const numbers = yield* Effect.forEach(starts, (by) => start(at, {}, by))
        assert.deepStrictEqual(
          numbers.map(({ number }) => number),
          [1, 1, 2]
        )
      })
    )

    it.effect("give a token that ends with the credential that it was given to", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const [first, second] = [randomUUID(), randomUUID()]
        const withKey = (id: string): CallerOf => ({
          ...at.member,
          credential: { kind: "apiKey", id, lastFour: "wxyz", scopes: null } as never
        })
        const block = (id: string) =>
          Effect.flatMap(BlocksRepo, (blocks) => blocks.block(at.workspace.id, id, [id], timestamp(Date.now())))
        yield* start(at, {}, withKey(first))
        const { semaphores } = yield* start(at, {}, withKey(second))
        yield* block(first)
        assert.isTrue(yield* isKnown(at, semaphores.token))
        yield* block(second)
        assert.isFalse(yield* isKnown(at, semaphores.token))
      })
    )

    it.effect("are one run of many at once, and of a locked deployment", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const all = yield* Effect.all(
          Array.from({ length: 12 }, () => start(at, { locked: true })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(new Set(all.map(({ number }) => number)), new Set([1]))
        const known = yield* Effect.forEach(all, ({ semaphores }) => isKnown(at, semaphores.token))
        assert.lengthOf(
          known.filter((one) => one),
          1
        )
      })
    )
  })

  layer(Layer.provideMerge(layerServices, storage.layer))(`Starts of runs that have ended on ${storage.name}`, (it) => {
    it.effect("are refused once the run has ended, and start another where it was erased", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        yield* start(at)
        yield* as(at.member)(Effect.flatMap(TestRuns, (runs) => runs.finish(1, finishBody({ tests: [] }))))
        assert.strictEqual(yield* refused(at), "finished")
        yield* start(at, { requestId: "late" })
        yield* TestClock.adjust(runLimit)
        assert.strictEqual(yield* refused(at, { requestId: "late" }), "finished")
        yield* as(at.admin)(Effect.flatMap(RunErasure, (erasure) => erasure.delete(1)))
        assert.strictEqual((yield* start(at)).number, 3)
      })
    )
  })
}
