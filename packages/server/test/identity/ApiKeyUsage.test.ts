import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Metric, References } from "effect"
import { TestClock } from "effect/testing"
import * as Identity from "../../src/identity/Identity.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { ApiKeyUsage } from "../../src/identity/ApiKeyUsage.ts"
import { backgroundFailures } from "../../src/telemetry/Metrics.ts"
import * as StorageRoom from "../../src/storage/StorageRoom.ts"
import { layerPostgres } from "../support/Databases.ts"
import { eventually } from "../support/Eventually.ts"
import { onEachStorage } from "../support/Storages.ts"
import { addPerson, apiKeyRow, keyOfPerson, minute, now } from "./Scene.ts"

/** A key of a new person, with its last use as it is stored and as it is shown. */
const addKey = Effect.gen(function* () {
  const repo = yield* ApiKeysRepo
  const usage = yield* ApiKeyUsage
  const { id } = yield* addPerson()
  const key = apiKeyRow(keyOfPerson(id))
  yield* repo.insert(key)
  return {
    id: key.id,
    keys: repo.ofPerson(id),
    stored: Effect.map(repo.ofPerson(id), (keys) => keys[0]!.lastUsedAt),
    shown: Effect.map(repo.ofPerson(id), (keys) => usage.merge(keys)[0]!.lastUsedAt)
  }
})

onEachStorage("ApiKeyUsage", (it) => {
  it.layer(ApiKeyUsage.layer)((it) => {
    it.effect("writes uses in the background and shows them before they are written", () =>
      Effect.gen(function* () {
        const usage = yield* ApiKeyUsage
        const [used, unused] = [yield* addKey, yield* addKey]
        yield* TestClock.adjust("1 minute")
        yield* usage.note(used.id)
        const at = yield* now
        assert.strictEqual(yield* used.shown, at)
        assert.isNull(yield* used.stored)
        yield* TestClock.adjust("1 second")
        yield* eventually(used.stored, (lastUsedAt) => lastUsedAt === at)
        assert.strictEqual(yield* used.shown, at)
        assert.isNull(yield* unused.shown)
        assert.isNull(yield* unused.stored)
      })
    )

    it.effect("shows a use to those who read the key before it was written", () =>
      Effect.gen(function* () {
        const usage = yield* ApiKeyUsage
        const key = yield* addKey
        yield* usage.note(key.id)
        const [read, at] = [yield* key.keys, yield* now]
        yield* TestClock.adjust("1 second")
        yield* eventually(key.stored, (lastUsedAt) => lastUsedAt === at)
        assert.isNull(read[0]?.lastUsedAt)
        assert.strictEqual(usage.merge(read)[0]?.lastUsedAt, at)
      })
    )

    it.effect("shows the later of its own use and another server's", () =>
      Effect.gen(function* () {
        const usage = yield* ApiKeyUsage
        const key = yield* addKey
        const later = minute(1_000_000)
        yield* (yield* ApiKeysRepo).touch(new Map([[key.id, later]]))
        yield* usage.note(key.id)
        assert.strictEqual(yield* key.shown, later)
      })
    )
  })

  it.effect("writes the rest when the server stops", () =>
    Effect.gen(function* () {
      const key = yield* Effect.gen(function* () {
        const key = yield* addKey
        yield* (yield* ApiKeyUsage).note(key.id)
        assert.isNull(yield* key.stored)
        return key
      }).pipe(Effect.provide(ApiKeyUsage.layer, { local: true }))
      assert.strictEqual(yield* key.stored, yield* now)
    })
  )
})

layer(Identity.layerSql.pipe(Layer.provide(StorageRoom.layerMigrations), Layer.provideMerge(layerPostgres)))(
  "ApiKeyUsage on a database that fails",
  (it) => {
    it.effect("retries failed writes", () =>
      Effect.gen(function* () {
        const warnings: Array<unknown> = []
        const layerUsage = Layer.provide(
          ApiKeyUsage.layer,
          Logger.layer([Logger.make(({ message }) => void warnings.push(message))])
        )
        yield* Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const usage = yield* ApiKeyUsage
          const key = yield* addKey
          yield* usage.note(key.id)
          const at = yield* now
          yield* sql`alter table api_keys rename to unreachable`
          yield* TestClock.adjust("500 millis")
          yield* eventually(
            Effect.sync(() => warnings.length),
            (count) => count > 0
          )
          yield* sql`alter table unreachable rename to api_keys`
          assert.isNull(yield* key.stored)
          assert.strictEqual(yield* key.shown, at)
          yield* TestClock.adjust("500 millis")
          yield* eventually(key.stored, (lastUsedAt) => lastUsedAt === at)
        }).pipe(Effect.provide(layerUsage, { local: true }))
      })
    )

    it.effect("warns less and less often while writes fail, and reports the recovery", () =>
      Effect.gen(function* () {
        const logs: Array<readonly [level: string, message: unknown, failures: unknown]> = []
        const logger = Logger.make(({ fiber, logLevel, message }) => {
          logs.push([logLevel, message, fiber.getRef(References.CurrentLogAnnotations)["failures"]])
        })
        yield* Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const usage = yield* ApiKeyUsage
          const key = yield* addKey
          yield* usage.note(key.id)
          let attempts = 0
          const failures = Effect.map(
            Metric.value(backgroundFailures("api_key_usage")),
            ({ count }) => count - failuresBefore
          )
          const failuresBefore = (yield* Metric.value(backgroundFailures("api_key_usage"))).count
          yield* sql`alter table api_keys rename to unreachable`
          // Five minutes of a database that is down: twice a second it is asked.
          for (let half = 0; half < 600; half++) {
            yield* TestClock.adjust("500 millis")
            attempts = yield* eventually(failures, (count) => count > attempts)
          }
          assert.strictEqual(attempts, 600)
          const warnings = logs.filter(([level]) => level === "Warn")
          // At once, then after 5, 10, 20, 40, 80 and 160 seconds.
          assert.deepStrictEqual(
            warnings.map(([, , failures]) => failures),
            [1, 10, 20, 40, 80, 160]
          )
          yield* sql`alter table unreachable rename to api_keys`
          yield* TestClock.adjust("500 millis")
          yield* eventually(key.stored, (lastUsedAt) => lastUsedAt !== null)
          yield* eventually(
            Effect.sync(() => logs.at(-1)!),
            ([level]) => level === "Info"
          )
          assert.lengthOf(
            logs.filter(([level]) => level === "Warn"),
            6
          )
        }).pipe(Effect.provide(Layer.provide(ApiKeyUsage.layer, Logger.layer([logger])), { local: true }))
      })
    )
  }
)
