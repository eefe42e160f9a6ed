import type { Ticket } from "@delivery/domain/planning/Ticket"
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Fiber } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { layerPostgresAt, makeDatabase, query } from "../support/Databases.ts"
import { eventually } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** Changes of one caller that hold connections to PostgreSQL while they wait for a lock. */

const owner = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

const asked = async <A>(...[server, key, method, path, body]: Parameters<typeof call>): Promise<A> => {
  const answer = await call<A>(server, key, method, path, body)
  assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
  return answer.body
}

const call = async <A>({ baseUrl }: ServerProcess, key: string, method: string, path: string, body: unknown) => {
  const response = await fetch(`${baseUrl}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: (await response.json()) as A }
}

const main = "workspaces/main"

interface NewKey {
  readonly secret: string
}

const waitingForLocks = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"

/** Keeps a ticket locked until the effect has ended. */
const whileLocked = <A>(url: string, ticket: string, effect: Effect.Effect<A>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const locked = yield* Deferred.make<void>()
    const done = yield* Deferred.make<void>()
    const lock = Effect.andThen(
      sql`select 1 from tickets where id = ${ticket} for update`,
      Deferred.succeed(locked, undefined)
    )
    const holding = yield* Effect.forkChild(sql.withTransaction(Effect.andThen(lock, Deferred.await(done))))
    yield* Deferred.await(locked)
    return yield* Effect.ensuring(
      effect,
      Effect.andThen(Deferred.succeed(done, undefined), Effect.ignore(Fiber.join(holding)))
    )
  }).pipe(Effect.provide(layerPostgresAt(url)))

describe("A caller with many changes at once", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-turns-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it(
    "keeps three of ten connections at most, and 256 changes, while others go on",
    () =>
      Effect.gen(function* () {
        const { url } = yield* makeDatabase
        const server = yield* Effect.acquireRelease(
          Effect.promise(() =>
            startServer({
              DATABASE_URL: url,
              DATA_DIR: directory,
              VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
              BOOTSTRAP_API_KEY: owner,
              LOG_LEVEL: "warn"
            })
          ),
          (started) => Effect.promise(() => started.end())
        )
        const { identifier, id, secret } = yield* Effect.promise(async () => {
          await asked(server, owner, "POST", "workspaces", { slug: "other", name: "Other" })
          await asked(server, owner, "POST", `${main}/teams`, { name: "Engineering", key: "ENG" })
          const ticket = await asked<Ticket>(server, owner, "POST", `${main}/tickets`, { team: "ENG", title: "Pay" })
          const key = { name: "ci", role: "member" }
          return { ...(await asked<NewKey>(server, owner, "POST", `${main}/account-api-keys`, key)), ...ticket }
        })
        const change = () =>
          call<{ readonly _tag: string }>(server, secret, "PATCH", `${main}/tickets/${identifier}`, {
            title: "Pay by card"
          })
        const changes = yield* whileLocked(
          url,
          id,
          Effect.promise(async () => {
            const waiting = Array.from({ length: 257 }, change)
            // The others wait for the lock or for a turn.
            const { body, status } = await Promise.race(waiting)
            assert.deepStrictEqual({ status, _tag: body._tag }, { status: 429, _tag: "TooManyRequests" })
            const locks = await eventually(
              () => query(url, waitingForLocks),
              (rows) => rows.length >= 3
            )
            assert.lengthOf(locks, 3)
            const product = { slug: "shop", name: "Shop", type: "library" }
            await asked(server, owner, "POST", "workspaces/other/products", product)
            assert.lengthOf(await query(url, waitingForLocks), 3)
            return waiting
          })
        )
        const statuses = (yield* Effect.promise(() => Promise.all(changes))).map(({ status }) => status)
        assert.deepStrictEqual(statuses.toSorted(), [...Array.from({ length: 256 }, () => 200), 429])
      }).pipe(Effect.scoped, Effect.runPromise),
    120_000
  )
})
