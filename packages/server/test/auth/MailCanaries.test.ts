import type { NewInvite } from "@delivery/domain/identity/Invite"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { makeDatabase } from "../support/Databases.ts"
import { type Answer, eventually, http, refusal, sessionIn } from "../support/Http.ts"
import { codeIn, startMailServer, tokenIn } from "../support/MailServer.ts"
import { startServer } from "../support/ServerProcess.ts"
import { startCollector } from "../telemetry/Collector.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** What is mailed is in the mail, and in no other place. */

const mail = await startMailServer()
afterAll(() => mail.close())

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

const newEmail = () => `canary-${randomBytes(9).toString("hex")}@canary.example`

const secretIn = ({ headers }: Answer): string => /=([^;]+);/.exec(headers["set-cookie"]![0]!)![1]!

/** Everything that can be done with mail, and every way to fail; answers what must not be found. */
const exercise = async (baseUrl: string, ownerEmail: string, output: () => string) => {
  const owner = http(baseUrl, apiKey, "main")
  const visitor = owner.as(undefined)
  const secrets: Array<string> = []
  const addresses = [ownerEmail, newEmail(), newEmail(), newEmail()] as const
  const bodies: Array<string> = []
  const post = async (expected: string, path: string, json?: unknown, secret?: string, by = visitor) => {
    const headers = secret === undefined ? undefined : { cookie: `__Host-delivery_asked=${secret}` }
    const answer = await by.send("POST", `/auth/v1/${path}`, { json, ...(headers === undefined ? {} : { headers }) })
    assert.strictEqual(refusal(answer), expected, answer.text)
    if (answer.status >= 400) bodies.push(answer.text)
    return answer
  }
  const ask = async () => {
    const secret = secretIn(await post("202", "links", { email: ownerEmail }))
    const letter = await mail.next(ownerEmail, "sign-in")
    secrets.push(secret, tokenIn(letter), codeIn(letter))
    return { secret, token: tokenIn(letter), code: codeIn(letter) }
  }
  const [first, second] = [await ask(), await ask()]
  await post("403 other_browser", "links/consume", { token: first.token })
  await post("401 sign_in_failed", "links/consume", { code: first.code }, second.secret)
  await post("200", "links/consume", { code: first.code }, first.secret)
  await post("401 sign_in_failed", "links/consume", { token: first.token }, first.secret)
  await post("200", "links/consume", { token: second.token }, second.secret)
  await post("202", "links", { email: addresses[1] })
  await post("400", "links/consume", { token: first.token, code: first.code })
  // In a wrong place, or of a wrong form.
  await visitor.send("GET", `/auth/v1/links/consume/${first.token}`)
  await visitor.send("POST", "/auth/v1/links/consume", {
    body: `{"code":"${first.code}`,
    headers: { "content-type": "application/json" }
  })
  const byMail = { email: addresses[2], role: "viewer", deliver: "mail" }
  await owner.post<NewInvite>("invites", byMail)
  secrets.push(tokenIn(await mail.next(addresses[2], "invite")))
  const byLink = { email: addresses[3], role: "viewer", deliver: "link" }
  const { token } = await owner.post<NewInvite>("invites", byLink)
  const joined = await post("201", "invites/accept", { token, name: "Sam" })
  const session = owner.as(sessionIn(joined))
  secrets.push(token!, session.key!)
  await post("202", "email", undefined, undefined, session)
  const proof = await mail.next(addresses[3], "proof")
  secrets.push(tokenIn(proof), codeIn(proof))
  await post("200", "email/consume", { code: codeIn(proof) }, undefined, session)
  // The mail server says what was mailed, and to whom, when it refuses.
  mail.refuse(550)
  await post("202", "links", { email: addresses[3] })
  await eventually(
    async () => output(),
    (text) => text.includes("A mail could not be sent.")
  )
  bodies.push(JSON.stringify(await owner.get("events")))
  return { addresses, secrets, bodies }
}

const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
  let text = ""
  for (const { name } of tables) {
    for (const row of yield* sql<{ row: string }>`select t::text as row from ${sql(name)} t`) text += `${row.row}\n`
  }
  return text
})

it.live(
  "codes, tokens and addresses are in no log line, span, metric, event, error or row",
  () =>
    Effect.gen(function* () {
      const { url } = yield* makeDatabase
      const directory = mkdtempSync(join(tmpdir(), "delivery-canary-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
      const collector = yield* Effect.acquireRelease(
        Effect.promise(() => startCollector()),
        (collector) => Effect.promise(() => collector.close())
      )
      const ownerEmail = newEmail()
      const { addresses, bodies, metrics, output, secrets } = yield* Effect.promise(async () => {
        const server = await startServer({
          ...mail.environment,
          DATABASE_URL: url,
          DATA_DIR: directory,
          OTLP_URL: collector.url,
          METRICS: "true",
          BOOTSTRAP_API_KEY: apiKey,
          BOOTSTRAP_OWNER_EMAIL: ownerEmail,
          LOG_LEVEL: "trace",
          VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`
        })
        const found = await exercise(server.baseUrl, ownerEmail, server.output)
        const metrics = (await scrape(server.baseUrl)).text
        await server.end("SIGTERM")
        return { ...found, metrics, output: server.output() }
      })
      assert.include(output, "/auth/v1/links/consume")
      assert.include(output, "status 550")
      assert.includeMembers(
        collector.spans().map(({ name }) => name),
        ["POST /auth/v1/links", "MailedProofs.askForLink", "Sessions.consumeLink"]
      )
      // The first start prints the owner's own address.
      const started = output.slice(0, output.indexOf("To sign in with a browser"))
      const log = output.replace(started, "")
      const rows = yield* Effect.provide(dump, PgClient.layer({ url: Redacted.make(url) }))
      assert.include(rows, ownerEmail)
      const places = { log, spans: collector.text(), metrics, errors: bodies.join("\n"), rows }
      for (const [place, text] of Object.entries(places)) {
        for (const secret of secrets) assert.isFalse(text.includes(secret), `${place} holds a secret`)
      }
      for (const address of addresses) {
        for (const place of ["log", "spans", "metrics"] as const) {
          assert.isFalse(places[place].includes(address), `${place} holds an address`)
        }
      }
      // Nobody has it: it was typed, and is kept nowhere.
      assert.notInclude(rows, addresses[1])
    }),
  240_000
)
