import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import type { NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { ExchangedKey, TrustedPublisher } from "@delivery/domain/identity/TrustedPublisher"
import type { AcceptedInvite, NewInvite } from "@delivery/domain/identity/Invite"
import type { WebhookWithSecret } from "@delivery/domain/webhooks/Webhook"
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { type CiIssuer, gitHubPublisher, startCiIssuer } from "../support/CiIssuer.ts"
import { openDatabase, query } from "../support/Databases.ts"
import { type Http, http, newDeployment, refresh, sessionIn, startRun, unique } from "../support/Http.ts"
import { baseEnvironment, main, startServer } from "../support/ServerProcess.ts"
import { startCollector } from "../telemetry/Collector.ts"
import { scrape } from "../telemetry/Scrape.ts"
import { allowLogin, newVerifier, redeemLogin, startLogin } from "./LoginScene.ts"

/** Tokens appear in no place but the answers that give them; mail addresses in none where a host is watched. */

const firstKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const anyToken = /[a-z]tk(?:_|%5f)[0-9a-z]{36}|whsec(?:_|%5f)[0-9a-z]{36}/i

/** The forms in which a careless place would hold a token: also without its prefix. */
const formsOf = (token: string) => [
  token.slice(4),
  Buffer.from(token).toString("base64").replace(/=+$/, "").slice(0, -2),
  Buffer.from(token).toString("hex")
]

/** Makes tokens of every kind, uses each, and sends each wherever it is refused. Answers the tokens and the errors. */
const exercise = async (owner: Http, newLink: (who: string) => Promise<string>, issuer: CiIssuer) => {
  const tokens = new Set<string>()
  const errors: Array<string> = []
  const address = `canary-${randomBytes(6).toString("hex")}@example.com`
  const send = async (by: Http, method: string, path: string, init: Parameters<Http["send"]>[2] = {}) => {
    const answer = await by.send<never>(method, path, init)
    if (answer.status >= 400) errors.push(answer.text)
    return answer
  }

  const workspace = await newDeployment(owner)
  const invite = (email: string, role = "admin") => workspace.post<NewInvite>("invites", { email, role })
  const anonymous = owner.as(undefined)
  const invited = await invite(address)
  const accepted = await anonymous.post<AcceptedInvite>("/v1/invites/accept", { token: invited.token, name: "Sam" })
  const person = workspace.as(accepted.apiKey!.secret)
  const pending = await invite(`${unique("pending")}-${address}`)
  const key = await person.post<NewApiKey>("/v1/api-keys", { name: "laptop" }, 200)
  const account = await person.post<NewAccountApiKey>("account-api-keys", { name: "ci", role: "admin" })
  const agent = await person.post<AgentSignIn>("agents/register", { client: "claude", computer: "laptop" })
  const hook = await person.post<WebhookWithSecret>("webhooks", { url: "https://hooks.invalid/", kinds: ["nothing"] })
  const rotated = await person.post<WebhookWithSecret>(`webhooks/${hook.id}/rotate`, undefined, 200)
  const { body: pair } = await refresh(person, agent)
  const run = await startRun(workspace)
  const deployment = await workspace.post<NewDeploymentToken>("deployments/shop/staging/tokens", { name: "product" })
  await workspace.as(deployment.token).get("/deploy/v1/secrets")
  const [link, proof, unused] = [await newLink(address), await newLink(address), await newLink(address)]
  const begun = await anonymous.send("POST", "/auth/v1/links/consume", { json: { token: link } })
  const session = person.as(sessionIn(begun))
  const proved = await session.send("POST", "/auth/v1/sudo", { json: { token: proof } })
  const current = person.as(sessionIn(proved))
  await current.get("members")
  await person.as(pair.access_token).get("/agent/v1/me")
  await workspace.as(run.semaphores.token).post("semaphores/one/leases", { capacity: 1 })
  const [loopback, device] = [await startLogin(owner), await startLogin(owner, { isDevice: true })]
  const codeProof = await allowLogin(current, loopback)
  // The key of this one is never fetched: its row stays.
  await allowLogin(current, device)
  for (const wrong of [
    { ...codeProof, code: `${codeProof.code}x` },
    { ...codeProof, codeVerifier: newVerifier() }
  ]) {
    errors.push((await redeemLogin(owner, loopback.id, wrong)).text)
  }
  const { body: loginKey } = await redeemLogin(owner, loopback.id, codeProof)
  errors.push((await redeemLogin(owner, loopback.id, codeProof)).text)
  const typed = device.userCode!
  for (const secret of [loopback.verifier, device.verifier, typed, typed.replace("-", "")]) tokens.add(`otk_${secret}`)
  const { code: unusedCode = "" } = await allowLogin(current, await startLogin(owner))
  const publisher = await workspace.post<TrustedPublisher>("trusted-publishers", gitHubPublisher(issuer.url))
  // The address that the server calls itself.
  const audience = new URL(invited.url!).origin
  const [ciToken, late] = [await issuer.token(audience), await issuer.token(audience)]
  const exchange = (token: unknown, of = workspace.workspace) =>
    send(anonymous, "POST", "/v1/token-exchange", { json: { workspace: of, token } })
  const exchanged = (await exchange(ciToken)) as { readonly body: ExchangedKey }
  await workspace.as(exchanged.body.apiKey).get("test-runs")
  await exchange(ciToken)
  for (const token of [ciToken, late, await issuer.token("https://elsewhere.example.com")]) {
    const signature = token.slice(token.lastIndexOf(".") + 1)
    tokens.add(token).add(signature)
    await exchange(`${token}x`)
    await exchange(token.replace(/^[^.]*/, ""))
    await exchange(token, token.slice(0, 60))
    await exchange([token])
    await send(anonymous, "GET", `/v1/me?token=${token}`, { headers: { "x-api-key": token } })
    await send(anonymous, "GET", "/deploy/v1/me", { headers: { authorization: `Bearer ${token}` } })
    await send(anonymous, "POST", "/v1/tokens/report", { json: { token } })
    await send(anonymous, "GET", `/v1/workspaces/${token}/products/${token}`)
  }
  await workspace.delete(`trusted-publishers/${publisher.id}`)
  await exchange(late)
  for (const { id } of [key, account]) {
    await person.post(`credentials/${id}/block`, undefined, 200)
    await workspace.post(`credentials/${id}/unblock`, undefined, 200)
  }
  await workspace.get("credentials")

  const made = [
    firstKey,
    invited.token!,
    pending.token!,
    accepted.apiKey!.secret,
    key.secret,
    account.secret,
    hook.secret,
    rotated.secret,
    agent.access_token,
    agent.refresh_token,
    pair.access_token,
    pair.refresh_token,
    run.semaphores.token,
    deployment.token,
    exchanged.body.apiKey,
    loginKey.secret,
    codeProof.code!,
    unusedCode,
    link,
    proof,
    unused,
    session.key!,
    current.key!
  ]
  for (const token of made) tokens.add(token)
  for (const token of made) {
    await send(anonymous, "GET", "/v1/me", { headers: { "x-api-key": `${token} ` } })
    await send(anonymous, "GET", "/v1/me", { headers: { authorization: `Basic ${token}` } })
    await send(anonymous, "GET", "/v1/me", { headers: { authorization: `Bearer ${token}x` } })
    await send(anonymous, "GET", "/v1/me", { headers: { "x-request-id": token } })
    await send(anonymous, "GET", `/invites/${token}`)
    for (const misplaced of [
      `/invites/${token.replace("_", "%5F")}`,
      `/invites/${token.replace("_", "%255F")}`,
      `/invites/%${token.charCodeAt(0).toString(16)}${token.slice(1)}`,
      `/invites%2F${token}`,
      `/invite%23${token}`,
      `/invite/%22${token}`,
      `/x_${token}`,
      `/y${token}`
    ]) {
      await send(anonymous, "GET", misplaced)
    }
    await send(anonymous, "GET", `/v1/workspaces/${token}/products?token=${token}`)
    await send(workspace.as(`${token}x`), "GET", "/deploy/v1/me")
    await send(workspace.as(deployment.token), "GET", `/deploy/v1/secrets/${token}`)
    await send(owner, "GET", `products/${token}`)
    await send(owner, "GET", `products/x_${token}`)
    await send(owner, "GET", `products/%25${token.charCodeAt(0).toString(16)}${token.slice(1)}`)
    await send(owner, "POST", `/v1/api-keys/${token}/revoke`)
    await send(owner, "POST", `credentials/${token}/block`)
    await send(anonymous, "POST", "/v1/invites/accept", { json: { token: `${token}x`, name: "Sam" } })
    await send(anonymous, "POST", "/v1/invites/accept", { json: { token: [token], name: token.repeat(9) } })
    await send(anonymous, "POST", "/auth/v1/sudo", { json: { token } })
    await send(anonymous, "POST", "/v1/tokens/report", { body: `{"token":"${token}`, headers: json })
    await send(anonymous, "POST", "/v1/tokens/report", { json: { token: { token } } })
    const form = { grant_type: "refresh_token", client_id: token, refresh_token: `${token}x` }
    await send(anonymous, "POST", "/agent/oauth/token", { form })
    await send(anonymous, "POST", "/agent/oauth/token", { form: { ...form, [token]: token, scope: token } })
    await send(anonymous, "POST", "/agent/mcp", { json: { token }, headers: { authorization: `Bearer ${token}x` } })
  }
  await send(owner, "POST", "invites", { json: { email: `${address}@`, role: "viewer" } })
  for (const token of made.slice(1)) {
    await send(anonymous, "POST", "/v1/tokens/report", { json: { token } })
    await send(anonymous, "GET", "/v1/me", { headers: { authorization: `Bearer ${token}` } })
  }
  const events = (await workspace.send("GET", "events")).text
  return { address, errors, events, tokens: [...tokens] }
}

const json = { "content-type": "application/json" }

describe("Tokens", () => {
  it("are in no log at level trace, span, metric, event or error, and in no row of the database", async () => {
    const directory = mkdtempSync(join(tmpdir(), "delivery-tokens-"))
    const { drop, url } = await openDatabase()
    const collector = await startCollector()
    const issuer = await startCiIssuer()
    try {
      const settings = {
        DATABASE_URL: url,
        DATA_DIR: directory,
        BOOTSTRAP_API_KEY: firstKey,
        VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
        CI_ISSUERS: issuer.url,
        TOKEN_REPORT_LIMIT: "1000"
      }
      const server = await startServer({ ...settings, OTLP_URL: collector.url, METRICS: "true", LOG_LEVEL: "trace" })
      const newLink = async (who: string) => {
        const env = { ...baseEnvironment, ...settings, BASE_URL: "http://localhost" }
        const { stdout } = await promisify(execFile)(process.execPath, [main, "sign-in-link", who], { env })
        return /#(ltk_\w{42})$/m.exec(stdout)![1]!
      }
      const { address, errors, events, tokens } = await exercise(
        http(server.baseUrl, firstKey, "main"),
        newLink,
        issuer
      )
      assert.lengthOf(tokens, 33)
      assert.isAbove(errors.length, 200)
      const metrics = (await scrape(server.baseUrl)).text
      await server.end("SIGTERM")
      // What the first start prints for its operator is no log.
      const log = server
        .output()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .join("\n")
      assert.include(log, "/v1/tokens/report")
      const rows: Array<string> = []
      for (const row of await query(url, "select tablename as name from pg_tables where schemaname = 'public'")) {
        const { name } = row as { name: string }
        for (const one of await query(url, `select t::text as row from ${name} t`)) rows.push(JSON.stringify(one))
      }
      assert.isAbove(rows.length, 20)
      const places = {
        log,
        spans: collector.text(),
        metrics,
        events,
        errors: errors.join("\n"),
        database: rows.join("\n")
      }
      assert.include(places.spans, "TokenReports.report")
      for (const [place, text] of Object.entries(places)) {
        const found = tokens.flatMap(formsOf).find((form) => text.includes(form))
        assert.isUndefined(found, `${place}: ${found}`)
        if (place !== "errors") assert.notMatch(text, anyToken, place)
      }
      for (const place of ["log", "spans", "metrics"] as const) assert.notInclude(places[place], address, place)
    } finally {
      await collector.close()
      await issuer.close()
      await drop()
      rmSync(directory, { recursive: true, force: true })
    }
  }, 240_000)
})
