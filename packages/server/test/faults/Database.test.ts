import { NodeServices } from "@effect/platform-node"
import { Effect, Exit, Layer, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { layerServer } from "../../src/App.ts"
import { DatabaseLimits } from "../../src/database/Database.ts"
import { DeliveryServer, serverOf } from "../../src/testing/DeliveryServer.ts"
import { createDatabase } from "../support/Databases.ts"
import { type DatabaseProxy, startDatabaseProxy } from "../support/DatabaseProxy.ts"
import { eventually } from "../support/Http.ts"
import { type Call, MixedLoad } from "../support/MixedLoad.ts"
import { type PostgresServer, startPostgres } from "../support/PostgresServer.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** A PostgreSQL that restarts, is slow, breaks off or falls silent under mixed load, and a server that lives on. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const vaultKeys = `k1:${Buffer.alloc(32, 1).toString("base64")}`
const clients = { read: 6, write: 4, run: 4, lease: 4, waitForLease: 3, inbox: 3, send: 1 }

describe("a PostgreSQL under mixed load", () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    // What it acknowledged has to outlive a crash of it.
    postgres = await startPostgres({ durable: true })
  })
  afterAll(() => postgres.stop())

  const cleanups: Array<() => Promise<unknown> | void> = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  })

  const newDirectory = () => {
    const directory = mkdtempSync(join(tmpdir(), "delivery-database-"))
    cleanups.push(() => rmSync(directory, { recursive: true, force: true }))
    return directory
  }

  const newDatabase = async (): Promise<DatabaseProxy> => {
    const { url } = await Effect.runPromise(createDatabase(postgres.url))
    const proxy = await startDatabaseProxy(url)
    cleanups.push(proxy.stop)
    return proxy
  }

  const loadOn = async (baseUrl: string) => {
    const calls: Array<Call> = []
    const load = new MixedLoad({
      apiKey,
      targets: () => [baseUrl],
      clients,
      pauseMillis: 5,
      onCall: (call) => calls.push(call)
    })
    await load.prepare()
    load.start()
    cleanups.push(() => load.stop())
    await recovered(calls)
    return { calls, load }
  }

  const prepare = async () => {
    const proxy = await newDatabase()
    const server = await startServer({
      DATABASE_URL: proxy.url,
      DATA_DIR: newDirectory(),
      VAULT_KEYS: vaultKeys,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: "warn"
    })
    cleanups.push(() => server.end())
    return { proxy, server, ...(await loadOn(server.baseUrl)) }
  }

  /** Every call has its answer, or an `Internal` with the id of the request. Answers how many of these there are. */
  const assertAnswers = (calls: ReadonlyArray<Call>): number => {
    let internal = 0
    for (const { answer, failure, id, path } of calls) {
      assert.isUndefined(failure, `${path} was not answered`)
      if (answer!.status < 300) continue
      internal++
      assert.deepStrictEqual(
        answer!.body,
        { _tag: "Internal", message: "Something went wrong.", requestId: id },
        `${path}: ${answer!.text}`
      )
    }
    return internal
  }

  /** Calls of each kind that asks the database at once have failed, and as they should. */
  const failed = (calls: ReadonlyArray<Call>) => {
    const from = calls.length
    return eventually(
      async () => calls.slice(from),
      (since) => {
        assertAnswers(since)
        return ["read", "write", "run", "lease"].every((kind) =>
          since.some((call) => call.kind === kind && call.answer!.status >= 300)
        )
      }
    )
  }

  /** Calls go well again, whatever they are. */
  const recovered = (calls: ReadonlyArray<Call>) => {
    const from = calls.length
    return eventually(
      async () => calls.slice(from),
      (since) => {
        const failedLast = since.findLastIndex(({ answer }) => answer === undefined || answer.status >= 300)
        const kinds = new Set(since.slice(failedLast + 1).map(({ kind }) => kind))
        // One call of each kind that does not wait for long.
        return ["read", "write", "run", "lease", "send"].every((kind) => kinds.has(kind as Call["kind"]))
      }
    )
  }

  /** Who waits for a lease or a message is served, and all that was acknowledged is there. */
  const assertServed = async ({ baseUrl }: Pick<ServerProcess, "baseUrl">, calls: Array<Call>, load: MixedLoad) => {
    const from = calls.length
    await load.release(baseUrl)
    await eventually(
      async () => calls.slice(from),
      (since) => since.some(({ answer, kind }) => kind === "waitForLease" && answer?.status === 201)
    )
    await eventually(
      async () => load.taken.length,
      (taken) => taken > 0
    )
    await load.stop()
    await load.verify(baseUrl)
  }

  it("is restarted: calls fail as Internal until it is back, and nothing acknowledged is lost", async () => {
    const { calls, load, server } = await prepare()
    for (const how of ["fast", "immediate"] as const) {
      await postgres.restart(how, 1_500)
      await recovered(calls)
    }
    assert.isAbove(assertAnswers(calls), 0)
    await assertServed(server, calls, load)
    // Work that the server does by itself is told of; how often, its own test says.
    assert.isTrue(
      server
        .output()
        .split("\n")
        .some((line) => line.includes('"WARN"') && line.includes('"task":"notices"'))
    )
  }, 240_000)

  it("takes two seconds for each statement: calls are late and correct", async () => {
    const { calls, load, proxy, server } = await prepare()
    const before = calls.length
    proxy.slowDown(2_000)
    await eventually(
      async () => calls.slice(before).filter(({ millis }) => millis > 2_000),
      (late) => ["read", "write", "run", "lease"].every((kind) => late.some((call) => call.kind === kind))
    )
    proxy.slowDown(0)
    await recovered(calls)
    assert.strictEqual(assertAnswers(calls), 0)
    await assertServed(server, calls, load)
  }, 240_000)

  it("breaks off in the middle: calls fail as Internal, and nothing acknowledged is lost", async () => {
    const { calls, load, proxy, server } = await prepare()
    for (let round = 0; round < 3; round++) {
      proxy.cut()
      await failed(calls)
      proxy.restore()
      await recovered(calls)
    }
    assert.isAbove(assertAnswers(calls), 0)
    await assertServed(server, calls, load)
  }, 240_000)

  it("falls silent: calls fail as Internal in bounded time, and the server finds its way back", async () => {
    const proxy = await newDatabase()
    const scope = Scope.makeUnsafe()
    cleanups.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
    const limits = { statementSeconds: 2, silentSeconds: 3 }
    const context = await Effect.runPromise(
      Layer.buildWithScope(
        serverOf(layerServer, {
          DATABASE_URL: proxy.url,
          DATA_DIR: newDirectory(),
          VAULT_KEYS: vaultKeys,
          BOOTSTRAP_API_KEY: apiKey
        }).pipe(Layer.provide([NodeServices.layer, Layer.succeed(DatabaseLimits, limits)])),
        scope
      )
    )
    const { baseUrl } = await Effect.runPromise(Effect.provide(DeliveryServer, context))
    const { calls, load } = await loadOn(baseUrl)
    proxy.silence()
    await failed(calls)
    proxy.restore()
    await recovered(calls)
    assertAnswers(calls)
    await assertServed({ baseUrl }, calls, load)
  }, 240_000)
})
