import type { SignedIn } from "@delivery/domain/auth/Session"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { http } from "../support/Http.ts"
import { client, type Issuer, settingOf, startIssuer, TestBrowser } from "../support/Issuer.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { startCollector } from "../telemetry/Collector.ts"

/** Single sign-on at two servers of one database: what works once, and what is found in no log, trace, event or row. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

/** What browsers and issuers took from one to the other. */
const secrets = new Set<string>()

describe("Single sign-on at two servers", () => {
  let issuer: Issuer
  let servers: ReadonlyArray<ServerProcess> = []
  let database: Awaited<ReturnType<typeof openDatabase>>
  let collector: Awaited<ReturnType<typeof startCollector>>
  const directory = mkdtempSync(join(tmpdir(), "delivery-sso-"))

  beforeAll(async () => {
    issuer = await startIssuer({ name: "corp" })
    issuer.accounts.set("owner", { email: "owner@example.com", email_verified: true })
    database = await openDatabase()
    collector = await startCollector()
    const start = () =>
      startServer({
        DATABASE_URL: database.url,
        DATA_DIR: directory,
        VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
        BOOTSTRAP_API_KEY: apiKey,
        OIDC_CORP: settingOf(issuer),
        // Both answer for one address, as behind a proxy.
        BASE_URL: "http://127.0.0.1:4000",
        LOG_LEVEL: "trace",
        OTLP_URL: collector.url,
        TRUSTED_PROXIES: "127.0.0.1/32"
      })
    servers = [await start(), await start()]
  }, 120_000)

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end()))
    await issuer.close()
    await collector.close()
    await database.drop()
    rmSync(directory, { recursive: true, force: true })
  })

  /** Both servers are one address to a browser. */
  const at = (url: string, server: ServerProcess) => url.replace("http://127.0.0.1:4000", server.baseUrl)

  let addresses = 0
  /** A browser that comes back from the issuer, and the path and query at which it does. */
  const away = async (subject: string) => {
    const browser = new TestBrowser(subject, { "x-forwarded-for": `10.4.0.${addresses++}` })
    const [first] = servers
    const started = await browser.visit(`${first!.baseUrl}/auth/v1/oidc/corp/start`)
    const page = started.headers.get("location")!
    const callback = new URL(await browser.follow(page, (url) => url.includes("/auth/v1/oidc/corp/callback")))
    const flow = browser.cookie(first!.baseUrl, "__Host-delivery_flow")!
    for (const value of [flow, ...new URL(page).searchParams.values(), ...callback.searchParams.values()]) {
      if (value.length >= 40 && !value.startsWith("http")) secrets.add(value)
    }
    return { browser, flow, url: callback.href }
  }

  it("a callback that is used 50 times at once works once", async () => {
    for (let round = 0; round < 3; round++) {
      const { browser, flow, url } = await away("owner")
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          browser.visit(at(url, servers[index % 2]!), { headers: { cookie: `__Host-delivery_flow=${flow}` } })
        )
      )
      const locations = answers.map((answer) => (answer.status === 429 ? "429" : answer.headers.get("location")))
      assert.lengthOf(
        locations.filter((location) => location === "/"),
        1
      )
      for (const location of locations) assert.oneOf(location, ["/", "/sign-in#error=failed", "429"])
      const cookies = answers.flatMap((answer) => answer.headers.getSetCookie())
      assert.lengthOf(cookies, 1)
      const token = new RegExp(`^${sessionCookie}=(wtk_\\w+);`).exec(cookies[0]!)![1]!
      secrets.add(token)
      const { person } = await http(servers[1]!.baseUrl, token, "main").get<SignedIn>("/auth/v1/session")
      assert.strictEqual(person.email, "owner@example.com")
    }
  }, 60_000)

  it("nothing that a browser took along is in a log, a trace, an event or a row", async () => {
    for (const subject of ["access_denied", "owner"]) {
      const { browser, url } = await away(subject)
      for (const server of servers) await browser.visit(at(url, server))
    }
    // The code is wrong, and the issuer says so.
    const { browser, url } = await away("owner")
    const wrong = new URL(at(url, servers[0]!))
    wrong.searchParams.set("code", randomBytes(32).toString("base64url"))
    secrets.add(wrong.searchParams.get("code")!)
    await browser.visit(wrong.href)
    const events = await (
      await fetch(`${servers[0]!.baseUrl}/v1/workspaces/main/events`, {
        headers: { authorization: `Bearer ${apiKey}` }
      })
    ).text()
    await Promise.all(servers.map((server) => server.end("SIGTERM")))
    const log = servers.map((server) => server.output()).join("\n")
    assert.include(log, "/auth/v1/oidc/corp/callback")
    assert.include(log, "Signing in with corp failed (failed): OAUTH_RESPONSE_BODY_ERROR.")
    assert.include(collector.text(), "/auth/v1/oidc/:provider/callback")
    const rows = await dump(database.url)
    assert.include(rows, issuer.url)
    assert.isAbove(secrets.size, 12)
    secrets.add(client.secret)
    for (const secret of secrets) {
      for (const form of [secret, encodeURIComponent(secret)]) {
        for (const [place, text] of Object.entries({ log, trace: collector.text(), events, rows })) {
          assert.isFalse(text.includes(form), `${place}: ${form}`)
        }
      }
    }
  }, 60_000)
})

/** Every row of every table, as text. */
const dump = (url: string): Promise<string> =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const tables = yield* sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
    const rows = yield* Effect.forEach(
      tables,
      ({ name }) => sql<{ row: string }>`select t::text as row from ${sql(name)} t`
    )
    return rows
      .flat()
      .map(({ row }) => row)
      .join("\n")
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })), Effect.runPromise)
