import type { SignedIn } from "@delivery/domain/auth/Session"
import type { Identity } from "@delivery/domain/auth/SingleSignOn"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { http, refusal, unique } from "../support/Http.ts"
import { client, type Issuer, settingOf, startIssuer, TestBrowser } from "../support/Issuer.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { startCollector } from "../telemetry/Collector.ts"

/** Single sign-on at two servers of one database: what works once, and what is found in no log, trace, event or row. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

/** What browsers and issuers took from one to the other. */
const secrets = new Set<string>()

describe("Single sign-on at two servers", () => {
  let issuer: Issuer
  let partner: Issuer
  let servers: ReadonlyArray<ServerProcess> = []
  let database: Awaited<ReturnType<typeof openDatabase>>
  let collector: Awaited<ReturnType<typeof startCollector>>
  const directory = mkdtempSync(join(tmpdir(), "delivery-sso-"))

  beforeAll(async () => {
    issuer = await startIssuer({ name: "corp" })
    issuer.accounts.set("owner", { email: "owner@example.com", email_verified: true })
    partner = await startIssuer({ name: "partner" })
    database = await openDatabase()
    collector = await startCollector()
    const start = () =>
      startServer({
        DATABASE_URL: database.url,
        DATA_DIR: directory,
        VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
        BOOTSTRAP_API_KEY: apiKey,
        OIDC_CORP: settingOf(issuer),
        OIDC_PARTNER: settingOf(partner),
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
    await partner.close()
    await collector.close()
    await database.drop()
    rmSync(directory, { recursive: true, force: true })
  })

  /** Both servers are one address to a browser. */
  const at = (url: string, server: ServerProcess) => url.replace("http://127.0.0.1:4000", server.baseUrl)

  let networks = 0
  const newNetwork = () => ({ "x-forwarded-for": `10.4.${networks >> 8}.${networks++ & 255}` })
  const workspace = () => http(servers[0]!.baseUrl, apiKey, "main")

  interface Way {
    readonly provider?: "corp" | "partner"
    readonly query?: string
    /** The session that the browser has. */
    readonly session?: string
  }

  /** A browser that comes back from the issuer, and the path and query at which it does. */
  const away = async (subject: string, { provider = "corp", query = "", session }: Way = {}) => {
    const browser = new TestBrowser(subject, newNetwork())
    const { baseUrl } = servers[0]!
    if (session !== undefined) browser.setCookie(baseUrl, sessionCookie, session)
    const started = await browser.visit(`${baseUrl}/auth/v1/oidc/${provider}/start${query}`)
    const page = started.headers.get("location")!
    const callback = new URL(await browser.follow(page, (url) => url.includes(`/auth/v1/oidc/${provider}/callback`)))
    const flow = browser.cookie(baseUrl, "__Host-delivery_flow")!
    for (const value of [flow, ...new URL(page).searchParams.values(), ...callback.searchParams.values()]) {
      if (value.length >= 40 && !value.startsWith("http")) secrets.add(value)
    }
    const cookie = `__Host-delivery_flow=${flow}${session === undefined ? "" : `; ${sessionCookie}=${session}`}`
    return { browser, cookie, url: callback.href }
  }

  /** Comes back at one of the servers, from a network of its own: where it is sent, and the token of its session. */
  const back = async ({ browser, cookie, url }: Awaited<ReturnType<typeof away>>, index: number) => {
    const answer = await browser.visit(at(url, servers[index % 2]!), { headers: { cookie, ...newNetwork() } })
    const location = answer.headers.get("location") ?? `${answer.status} ${await answer.text()}`
    const token = new RegExp(`^${sessionCookie}=(wtk_\\w+);`).exec(answer.headers.getSetCookie()[0] ?? "")?.[1]
    if (token !== undefined) secrets.add(token)
    return { location, token }
  }

  const allBack = (ways: ReadonlyArray<Awaited<ReturnType<typeof away>>>) => Promise.all(ways.map(back))
  const times = (count: number) => Array.from({ length: count }, (_, index) => index)
  const current = (index: number, token: string) =>
    http(servers[index]!.baseUrl, token, "main").get<SignedIn>("/auth/v1/session")
  const identitiesOf = async (token: string) =>
    (await http(servers[1]!.baseUrl, token, "main").get<{ identities: ReadonlyArray<Identity> }>("/auth/v1/identities"))
      .identities

  /** An account with an address that nobody has proven and that is invited. */
  const invited = async (issuers: ReadonlyArray<Issuer>) => {
    const subject = unique("invited")
    const email = `${subject}@example.com`
    await workspace().post<NewInvite>("invites", { email, role: "viewer" })
    for (const { accounts } of issuers) accounts.set(subject, { email, email_verified: true })
    return subject
  }

  /** A new person with one account at `corp`: its subject, and the token of a session. */
  const newcomer = async () => {
    const subject = await invited([issuer])
    return { subject, token: (await back(await away(subject), 0)).token! }
  }

  const failed = "/sign-in#error=failed"

  it("a state that is used 50 times at once works once", async () => {
    for (const round of times(3)) {
      const way = await away("owner")
      const answers = await allBack(times(50).map(() => way))
      assert.deepStrictEqual(answers.map(({ location }) => location).toSorted(), ["/", ...times(49).map(() => failed)])
      const tokens = answers.flatMap(({ token }) => token ?? [])
      assert.lengthOf(tokens, 1)
      assert.strictEqual((await current(round % 2, tokens[0]!)).person.email, "owner@example.com")
    }
  }, 60_000)

  it("a proof that is used 50 times at once renews its session once", async () => {
    const { subject, token } = await newcomer()
    const before = await current(0, token)
    const way = await away(subject, { query: "?purpose=sudo", session: token })
    const answers = await allBack(times(50).map(() => way))
    assert.deepStrictEqual(answers.map(({ location }) => location).toSorted(), ["/", ...times(49).map(() => failed)])
    const tokens = answers.flatMap((answer) => answer.token ?? [])
    assert.lengthOf(tokens, 1)
    assert.strictEqual((await current(1, tokens[0]!)).session.id, before.session.id)
    await http(servers[0]!.baseUrl, token, "main").refuse("401", "GET", "/auth/v1/session")
  }, 60_000)

  it("of several proofs of one session at once, one renews it", async () => {
    const { subject, token } = await newcomer()
    const ways = []
    for (const _ of times(6)) ways.push(await away(subject, { query: "?purpose=sudo", session: token }))
    const answers = await allBack(ways)
    assert.deepStrictEqual(answers.map(({ location }) => location).toSorted(), ["/", ...times(5).map(() => failed)])
  }, 60_000)

  it("an account that two persons add at once becomes one's", async () => {
    for (const _ of times(8)) {
      const persons = [await newcomer(), await newcomer()]
      const account = unique("account")
      issuer.accounts.set(account, {})
      const ways = await Promise.all(
        persons.map(({ token }) => away(account, { query: "?purpose=link", session: token }))
      )
      const locations = (await allBack(ways)).map(({ location }) => location)
      assert.deepStrictEqual(locations.toSorted(), ["/", "/sign-in#error=other_person"])
      const [winner, loser] = locations[0] === "/" ? persons : persons.toReversed()
      assert.include(
        (await identitiesOf(winner!.token)).map(({ subject }) => subject),
        account
      )
      assert.lengthOf(await identitiesOf(loser!.token), 1)
    }
  }, 60_000)

  it("50 browsers of two accounts with one address that nobody has proven become one person", async () => {
    for (const _ of times(3)) {
      const subject = await invited([issuer, partner])
      const ways = await Promise.all(
        times(50).map((index) => away(subject, { provider: index % 3 === 0 ? "partner" : "corp" }))
      )
      const answers = await allBack(ways)
      assert.deepStrictEqual([...new Set(answers.map(({ location }) => location))], ["/"])
      const sessions = await Promise.all(answers.map(({ token }, index) => current(index % 2, token!)))
      assert.lengthOf([...new Set(sessions.map(({ person }) => person.id))], 1)
      const found = (await identitiesOf(answers[0]!.token!)).map(({ provider }) => provider)
      assert.deepStrictEqual(found.toSorted(), ["corp", "partner"])
    }
  }, 60_000)

  it("of the last two ways in that are removed at once, one stays", async () => {
    for (const _ of times(8)) {
      const { token } = await newcomer()
      const account = unique("account")
      partner.accounts.set(account, {})
      await back(await away(account, { provider: "partner", query: "?purpose=link", session: token }), 0)
      const answers = await Promise.all(
        (await identitiesOf(token)).map(({ id }, index) =>
          http(servers[index]!.baseUrl, token, "main").send("DELETE", `/auth/v1/identities/${id}`)
        )
      )
      assert.deepStrictEqual(answers.map(refusal).toSorted(), ["204", "409 last_method"])
      assert.lengthOf(await identitiesOf(token), 1)
    }
  }, 60_000)

  it("nothing that a browser took along is in a log, a trace, an event or a row", async () => {
    // Those of the tests above are too many to look for.
    secrets.clear()
    const { subject, token } = await newcomer()
    for (const query of ["?purpose=link", "?purpose=sudo"]) {
      assert.strictEqual((await back(await away(subject, { query, session: token }), 1)).location, "/")
    }
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
    assert.isAbove(secrets.size, 24)
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
