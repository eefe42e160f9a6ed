import type { SignedIn } from "@delivery/domain/auth/Session"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { layerServer } from "../../src/App.ts"
import { Settings } from "../../src/Config.ts"
import * as Logs from "../../src/http/Logs.ts"
import { makeDatabase } from "../support/Databases.ts"
import { http, refusal, sessionIn } from "../support/Http.ts"
import { codeIn, startMailServer, tokenIn } from "../support/MailServer.ts"
import { freePort } from "../../src/cli/FreePort.ts"

/** What was mailed, used at once over HTTP, at two servers of one PostgreSQL. */

const mail = await startMailServer()
afterAll(() => mail.close())

const owner = "owner@example.com"

const startServer = Effect.fnUntraced(function* (url: string) {
  const port = yield* Effect.promise(() => freePort())
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "delivery-races-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )
  const baseUrl = `http://127.0.0.1:${port}`
  const settings = Settings.layer({
    ...mail.environment,
    PORT: String(port),
    BASE_URL: baseUrl,
    DATABASE_URL: url,
    DATA_DIR: directory,
    VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
    TRUSTED_PROXIES: "127.0.0.1/32",
    LOG_LEVEL: "none"
  })
  yield* Layer.build(Layer.fresh(layerServer).pipe(Layer.provide(Logs.layer), Layer.provide(settings)))
  return http(baseUrl, undefined, "main")
})

it.live("a mailed link and its code, used 50 times at once at two servers, work once", () =>
  Effect.gen(function* () {
    const { url } = yield* makeDatabase
    const servers = [yield* startServer(url), yield* startServer(url)] as const
    yield* Effect.promise(async () => {
      let network = 0
      const from = (secret?: string) => ({
        "x-forwarded-for": `10.2.${network >> 8}.${network++ & 255}`,
        ...(secret === undefined ? {} : { cookie: `__Host-delivery_asked=${secret}` })
      })
      for (const kinds of [["code"], ["token"], ["code", "token"]] as const) {
        const asked = await servers[0].send("POST", "/auth/v1/links", { json: { email: owner }, headers: from() })
        assert.strictEqual(asked.status, 202, asked.text)
        const secret = /=([^;]+);/.exec(asked.headers["set-cookie"]![0]!)![1]!
        const letter = await mail.next(owner, "sign-in")
        const proofs = { code: { code: codeIn(letter) }, token: { token: tokenIn(letter) } }
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            servers[(index >> 1) % 2]!.send<SignedIn>("POST", "/auth/v1/links/consume", {
              json: proofs[kinds[index % kinds.length]!],
              headers: from(secret)
            })
          )
        )
        const refused = answers.map(refusal)
        assert.lengthOf(
          refused.filter((answer) => answer === "200"),
          1
        )
        assert.lengthOf(
          refused.filter((answer) => answer === "401 sign_in_failed"),
          49
        )
        const session = servers[1].as(sessionIn(answers.find(({ status }) => status === 200)!))
        assert.strictEqual((await session.get<SignedIn>("/auth/v1/session")).person.email, owner)
      }
    })
  })
)

it.live("asking for a mail is answered before anything is looked up of whoever has the address", () =>
  Effect.gen(function* () {
    const { url } = yield* makeDatabase
    const server = yield* startServer(url)
    const sql = Context.get(yield* Layer.build(PgClient.layer({ url: Redacted.make(url) })), PgClient.PgClient)
    for (const email of [owner, "nobody@example.com"]) {
      const asked = yield* sql.withTransaction(
        Effect.gen(function* () {
          // Until the transaction ends, nobody finds out who has an address, or stores a proof.
          yield* sql`lock table persons, mailed_proofs in access exclusive mode`
          return yield* Effect.promise(() =>
            server.send("POST", "/auth/v1/links", { json: { email }, headers: { "x-forwarded-for": "10.3.0.1" } })
          )
        })
      )
      assert.deepStrictEqual([asked.status, asked.text], [202, "{}"], email)
      if (email !== owner) continue
      // Stored by then: what stores it holds one of the tables, and waits for the other.
      const letter = yield* Effect.promise(() => mail.next(owner, "sign-in"))
      assert.deepStrictEqual(letter.recipients, [owner])
    }
  })
)
