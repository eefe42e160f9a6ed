import type { AuditEntry, AuditPage } from "@delivery/domain/audit/Audit"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"
import type {
  CreateTrustedPublisher,
  ExchangedKey,
  TrustedPublisher,
  TrustedPublishers
} from "@delivery/domain/identity/TrustedPublisher"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import type { Duration } from "effect"
import { generateKeyPair, SignJWT } from "jose"
import { afterAll, assert } from "vitest"
import {
  type Claims,
  gitHubClaims,
  gitHubPublisher,
  gitLabClaims,
  gitLabPublisher,
  json,
  startCiIssuer
} from "../support/CiIssuer.ts"
import { startCiProvider } from "../support/CiProvider.ts"
import {
  accountKey,
  eventually,
  finishOf,
  finishRun,
  type Http,
  join,
  newDeployment,
  newLink,
  newWorkspace,
  onEachServer,
  refusal,
  signIn,
  startRun,
  withClockOnEachServer
} from "../support/Http.ts"

/** Keys for tokens of CI (docs/contract.md, Trusted publishers). */

const issuer = await startCiIssuer()
const stranger = await startCiIssuer()
const provider = await startCiProvider()
afterAll(() => Promise.all([issuer.close(), stranger.close(), provider.close()]))

let networks = 0
/** Another network address each time: of one, only so many may fail. */
const newNetwork = () => ({ "x-forwarded-for": `10.9.${networks >> 8}.${networks++ & 255}` })

const environment = {
  CI_ISSUERS: `${issuer.url},${provider.url}`,
  AUTH_FAILURE_LIMIT: "60/60",
  TRUSTED_PROXIES: "127.0.0.1/32"
}

const exchange = (http: Http, token: string) =>
  http.as(undefined).send<ExchangedKey>("POST", "/v1/token-exchange", {
    json: { workspace: http.workspace, token },
    headers: newNetwork()
  })

const exchanged = async (http: Http, token: string): Promise<ExchangedKey> => {
  const answer = await exchange(http, token)
  assert.strictEqual(answer.status, 200, answer.text)
  assert.strictEqual(answer.headers["cache-control"], "no-store")
  return answer.body
}

const trust = (http: Http, changes: Partial<CreateTrustedPublisher> = {}) =>
  http.post<TrustedPublisher>("trusted-publishers", { ...gitHubPublisher(issuer.url), ...changes })

/** The newest entries of exchanges: what came of them, and why. */
const entries = async (http: Http): Promise<ReadonlyArray<AuditEntry>> =>
  (await http.get<AuditPage>("audit?action=token_exchanged")).entries

const reasonOf = ({ changes = [], outcome }: AuditEntry): string => {
  const of = (name: string) => changes.find(({ field }) => field === name)?.to
  return [outcome, of("reason"), of("detail")].filter((part) => part !== undefined).join(" ")
}

onEachServer(
  "a token of a real issuer",
  (test) => {
    test("is exchanged for a key, once", async (owner) => {
      const workspace = await newWorkspace(owner)
      await trust(workspace, { issuer: provider.url })
      const token = await provider.token(owner.baseUrl)
      const { apiKey, expiresAt, role, scopes } = await exchanged(workspace, token)
      assert.deepStrictEqual([role, scopes], ["member", ["read", "publish"]])
      const minutes = (Date.parse(expiresAt) - Date.now()) / 60_000
      assert.isTrue(minutes > 13 && minutes <= 15, expiresAt)
      await workspace.as(apiKey).get("test-runs")
      assert.strictEqual(refusal(await exchange(workspace, token)), "401 token_used")
    })
  },
  environment
)

type Clock = (duration: Duration.Input) => void

withClockOnEachServer(
  "a token of a CI",
  (test) => {
    let now = Date.now()
    const passes = (advance: Clock, minutes: number) => {
      advance(`${minutes} minutes`)
      now += minutes * 60_000
    }
    const tokenFor = (http: Http, claims: Claims = {}) => issuer.token(http.baseUrl, { claims, now })
    /** Keys are fetched anew in each test. */
    const begin = async (owner: Http, advance: Clock) => {
      passes(advance, 11)
      issuer.answers()
      return newWorkspace(owner)
    }
    const refused = async (http: Http, expected: string, claims: Claims = {}) => {
      assert.strictEqual(refusal(await exchange(http, await tokenFor(http, claims))), `401 ${expected}`)
    }

    test("gives a key with the role and scopes of its publisher, named after the workflow", async (owner, advance) => {
      passes(advance, 11)
      const workspace = await newDeployment(owner)
      const publisher = await trust(workspace)
      assert.strictEqual(publisher.createdBy.kind, "user")
      const { apiKey } = await exchanged(workspace, await tokenFor(owner))
      const ci = workspace.as(apiKey)
      const { number } = await startRun(ci)
      const run = await workspace.get<TestRun>(`test-runs/${number}`)
      assert.deepInclude(run.publishedBy, { kind: "apiKey", name: "e2e.yml" })
      // The role and the scopes of the publisher, and no more.
      await ci.refuse("403 scope_missing", "POST", "teams", { key: "OPS", name: "Ops", visibility: "open" })
      await ci.refuse("403 scope_missing", "GET", "audit")
      const { credentials } = await workspace.get<{ credentials: ReadonlyArray<WorkspaceCredential> }>("credentials")
      const shown = credentials.find(({ name }) => name === "e2e.yml")!
      assert.deepInclude(shown, { kind: "accountApiKey", role: "member", scopes: ["read", "publish"] })
      assert.deepStrictEqual(shown.createdBy, publisher.createdBy)
      const [entry] = await entries(workspace)
      assert.strictEqual(reasonOf(entry!), "allowed")
      assert.deepInclude(entry!.actor, { kind: "apiKey", name: "e2e.yml" })
      assert.strictEqual(entry!.credential?.kind, "ciToken")
      assert.deepInclude([...(entry!.changes ?? [])], { field: "repository", from: null, to: "octo/shop" })
      const { trustedPublishers } = await workspace.get<TrustedPublishers>("trusted-publishers")
      assert.isNotNull(trustedPublishers[0]!.lastUsedAt)
      passes(advance, 15)
      await ci.refuse("401", "GET", "test-runs")
    })

    test("lets a job that takes longer go on with the key of another", async (owner, advance) => {
      passes(advance, 11)
      const workspace = await newDeployment(owner)
      const publisher = await trust(workspace)
      await trust(workspace, { workflow: "other.yml" })
      const key = async (claims: Claims = {}) =>
        workspace.as((await exchanged(workspace, await tokenFor(owner, claims))).apiKey)
      const first = await key()
      const { number, semaphores } = await startRun(first)
      const lease = workspace.as(semaphores.token)
      passes(advance, 16)
      await first.refuse("401", "GET", "test-runs")
      await lease.post("semaphores/staging/leases", { capacity: 1 })
      const path = `test-runs/${number}/finish`
      const others = [
        workspace,
        await accountKey(workspace, "admin"),
        await key({ workflow_ref: "octo/shop/.github/workflows/other.yml@refs/heads/main" })
      ]
      for (const other of others) await other.refuse("403 not_publisher", "POST", path, finishOf())
      const second = await key()
      await finishRun(second, number)
      // What it began ends with what made it.
      const { semaphores: started } = await startRun(second)
      passes(advance, 16)
      await workspace.as(started.token).post("semaphores/staging/leases", { capacity: 1 })
      // PostgreSQL tells the time of leases by its own clock, for which the key has not expired: the round has to end it.
      await eventually(
        () => workspace.get<AuditPage>("audit?action=key_expired"),
        ({ entries }) => entries.length === 3
      )
      await workspace.delete(`trusted-publishers/${publisher.id}`)
      await workspace.as(started.token).refuse("401", "POST", "semaphores/staging/leases", { capacity: 1 })
    })

    test("is refused once it has expired, and when it was used", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      const used = await tokenFor(owner)
      await exchanged(workspace, used)
      assert.strictEqual(refusal(await exchange(workspace, used)), "401 token_used")
      // Not elsewhere either.
      const other = await newWorkspace(owner)
      await trust(other)
      assert.strictEqual(refusal(await exchange(other, used)), "401 token_used")
      const old = await tokenFor(owner)
      passes(advance, 6)
      assert.strictEqual(refusal(await exchange(workspace, old)), "401 token_expired")
      assert.deepStrictEqual((await entries(workspace)).map(reasonOf), [
        "refused token_expired exp",
        "refused token_used jti",
        "allowed"
      ])
      await refused(workspace, "invalid_token", { jti: undefined })
      await refused(workspace, "invalid_token", { exp: undefined })
      await refused(workspace, "invalid_token", { nbf: Math.floor(now / 1000) + 60 })
      const ahead = await exchange(workspace, await tokenFor(owner, { nbf: Math.floor(now / 1000) + 60 }))
      assert.include(ahead.text, "the clock of its issuer is ahead")
    })

    test("is for this server alone, and of an issuer that the operator lists", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      await refused(workspace, "invalid_token", { aud: "https://elsewhere.example.com" })
      await refused(workspace, "invalid_token", { aud: [owner.baseUrl, "https://elsewhere.example.com"] })
      await refused(workspace, "invalid_token", { aud: undefined })
      const foreign = await stranger.token(owner.baseUrl, { now })
      assert.strictEqual(refusal(await exchange(workspace, foreign)), "401 invalid_token")
      // It is not even asked for its keys.
      assert.deepStrictEqual(stranger.requests, [])
      await refused(workspace, "invalid_token", { iss: "https://token.actions.githubusercontent.com.example.com" })
      await workspace.refuse("400 issuer", "POST", "trusted-publishers", gitHubPublisher(stranger.url))
    })

    test("must be signed by a key of its issuer", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      const claims = {
        ...gitHubClaims,
        iss: issuer.url,
        aud: owner.baseUrl,
        jti: "forged",
        exp: Math.floor(now / 1000) + 60
      }
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
      const unsigned = `${part({ alg: "none" })}.${part(claims)}.`
      const publicKey = Buffer.from(JSON.stringify(await issuer.publicKey()))
      const symmetric = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(publicKey)
      const other = await generateKeyPair("RS256")
      const strangers = await new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", kid: (await issuer.publicKey()).kid! })
        .sign(other.privateKey)
      const [head, , signature] = (await tokenFor(owner)).split(".")
      const changed = `${head}.${part({ ...claims, repository_id: "1" })}.${signature}`
      for (const forged of [unsigned, symmetric, strangers, changed, "a", "a.b.c", "..", part({})]) {
        assert.strictEqual(refusal(await exchange(workspace, forged)), "401 invalid_token")
      }
      assert.strictEqual(refusal(await exchange(workspace, "a".repeat(16_385))), "400 token")
    })

    test("tells repository and owner by their numbers, and says nothing by its subject", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      const renamed = {
        repository: "octo-corp/store",
        repository_owner: "octo-corp",
        workflow_ref: "octo-corp/store/.github/workflows/e2e.yml@refs/heads/main",
        sub: "repo:octo-corp/store:ref:refs/heads/main"
      }
      await exchanged(workspace, await tokenFor(owner, renamed))
      // Somebody took the old name.
      await refused(workspace, "not_trusted", { repository_id: "999" })
      await refused(workspace, "not_trusted", { repository_owner_id: "999" })
      for (const sub of ["repository_id:710093112:context:push", "anything", undefined]) {
        await exchanged(workspace, await tokenFor(owner, { sub }))
      }
      // A workflow that another repository brings is not the file of this one.
      await refused(workspace, "invalid_token", {
        workflow_ref: "evil/shop/.github/workflows/e2e.yml@refs/heads/main"
      })
      await refused(workspace, "invalid_token", { repository_id: 710093112 })
      assert.include((await entries(workspace)).map(reasonOf), "refused not_trusted repository")
    })

    test("of a pull request is refused unless they are allowed", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      const fork = { event_name: "pull_request", ref: "refs/pull/7/merge", head_ref: "patch" }
      const events = [
        fork,
        ...["pull_request_target", "pull_request_review", "Pull_Request"].map((event_name) => ({ event_name }))
      ]
      for (const claims of events) await refused(workspace, "not_trusted", claims)
      assert.strictEqual(reasonOf((await entries(workspace))[0]!), "refused not_trusted pull_request")
      await trust(workspace, { environment: "ci", allowPullRequests: true })
      for (const claims of events) await exchanged(workspace, await tokenFor(owner, { ...claims, environment: "CI" }))
    })

    test("must come of the workflow, the ref and the environment", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace, { ref: "refs/heads/main", environment: "production" })
      const right = { environment: "Production" }
      await exchanged(workspace, await tokenFor(owner, right))
      const wrong: ReadonlyArray<readonly [string, Claims]> = [
        ["workflow", { workflow_ref: "octo/shop/.github/workflows/other.yml@refs/heads/main" }],
        ["workflow", { workflow_ref: "octo/shop/.github/workflows/E2E.yml@refs/heads/main" }],
        ["ref", { ref: "refs/heads/main2" }],
        ["ref", { ref: "refs/tags/main" }],
        ["environment", { environment: "staging" }],
        ["environment", { environment: undefined }]
      ]
      for (const [detail, claims] of wrong) {
        await refused(workspace, "not_trusted", { ...right, ...claims })
        assert.strictEqual(reasonOf((await entries(workspace))[0]!), `refused not_trusted ${detail}`)
      }
      for (const workflow_ref of ["octo/shop/e2e.yml@refs/heads/main", "octo/shop/.github/workflows/a/e2e.yml@x", ""]) {
        await refused(workspace, "invalid_token", { ...right, workflow_ref })
      }
      assert.strictEqual(refusal(await exchange(workspace.in("nowhere"), await tokenFor(owner))), "401 not_trusted")
    })

    test("of GitLab stands for the pipeline of a project", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace, { ...gitLabPublisher(issuer.url), ref: "refs/heads/main", environment: "production" })
      const none = Object.fromEntries(Object.keys(gitHubClaims).map((name) => [name, undefined]))
      const right = { ...none, ...gitLabClaims, environment: "production" }
      await exchanged(workspace, await tokenFor(owner, right))
      await exchanged(workspace, await tokenFor(owner, { ...right, ref_path: "refs/heads/main" }))
      const path = "octo-corp/store"
      const renamed = { project_path: path, ci_config_ref_uri: `gitlab.example.com/${path}//.gitlab-ci.yml@x` }
      await exchanged(workspace, await tokenFor(owner, { ...right, ...renamed }))
      const wrong: ReadonlyArray<readonly [string, Claims]> = [
        ["repository", { project_id: "4712" }],
        ["repository", { namespace_id: "73" }],
        ["workflow", { ci_config_ref_uri: "gitlab.example.com/octo/shop//ci/.gitlab-ci.yml@refs/heads/main" }],
        ["ref", { ref_type: "tag" }],
        ["ref", { ref: "other" }],
        // GitLab tells environments apart by case.
        ["environment", { environment: "Production" }],
        ["pull_request", { pipeline_source: "merge_request_event" }],
        ["pull_request", { pipeline_source: "external_pull_request_event" }],
        ["pull_request", { pipeline_source: "parent_pipeline" }]
      ]
      for (const [detail, claims] of wrong) {
        await refused(workspace, "not_trusted", { ...right, ...claims })
        assert.strictEqual(reasonOf((await entries(workspace))[0]!), `refused not_trusted ${detail}`)
      }
      // The file of another project, or none.
      const elsewhere = "gitlab.example.com/evil/shop//.gitlab-ci.yml@refs/heads/main"
      for (const ci_config_ref_uri of [elsewhere, null as never]) {
        await refused(workspace, "invalid_token", { ...right, ci_config_ref_uri })
      }
    })

    test("is verified with new keys of its issuer, which is not asked all the time", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      issuer.requests.length = 0
      await Promise.all(Array.from({ length: 5 }, async () => exchanged(workspace, await tokenFor(owner))))
      assert.deepStrictEqual(issuer.requests, ["/.well-known/openid-configuration", "/jwks"])
      const old = await tokenFor(owner)
      await issuer.rotate("second")
      await refused(workspace, "invalid_token")
      passes(advance, 0.5)
      await exchanged(workspace, await tokenFor(owner))
      assert.lengthOf(issuer.requests, 4)
      // The old key is not among them any more.
      assert.strictEqual(refusal(await exchange(workspace, old)), "401 invalid_token")
      for (let i = 0; i < 10; i++) {
        const unknown = await issuer.token(owner.baseUrl, { now, kid: `unknown-${i}` })
        assert.strictEqual(refusal(await exchange(workspace, unknown)), "401 invalid_token")
      }
      assert.lengthOf(issuer.requests, 4)
    })

    test("is taken with the keys that are there, whatever a forged one has the issuer asked", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      await exchanged(workspace, await tokenFor(owner))
      passes(advance, 0.6)
      issuer.answers({ keys: (response) => response.writeHead(503).end() })
      const forged = await issuer.token(owner.baseUrl, { now, kid: "forged" })
      assert.strictEqual(refusal(await exchange(workspace, forged)), "401 issuer_unavailable")
      await exchanged(workspace, await tokenFor(owner))
      issuer.answers()
      passes(advance, 0.6)
      assert.strictEqual(refusal(await exchange(workspace, forged)), "401 invalid_token")
    })

    test("is refused while its issuer does not answer as it should", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      const elsewhere = (response: Parameters<typeof json>[0]) =>
        response.writeHead(302, { location: `${stranger.url}/jwks` }).end()
      const broken: ReadonlyArray<Parameters<typeof issuer.answers>[0]> = [
        { keys: (response) => response.destroy() },
        { keys: (response) => response.writeHead(503).end() },
        { keys: elsewhere },
        { keys: (response) => response.end("a".repeat(600 * 1024)) },
        { keys: (response) => json(response, { keys: "none" }) },
        { discovery: elsewhere },
        { discovery: (response) => response.writeHead(500).end() },
        { discovery: (response, right) => json(response, { ...right, issuer: stranger.url }) },
        { discovery: (response, right) => json(response, { ...right, jwks_uri: `${stranger.url}/jwks` }) },
        { discovery: (response, right) => json(response, { ...right, jwks_uri: undefined }) }
      ]
      for (const changes of broken) {
        issuer.answers(changes)
        await refused(workspace, "issuer_unavailable")
        // It is left alone for a moment.
        const asked = issuer.requests.length
        await refused(workspace, "issuer_unavailable")
        assert.lengthOf(issuer.requests, asked)
        passes(advance, 0.1)
      }
      assert.deepStrictEqual(stranger.requests, [])
      // Nothing of it used the tokens up.
      issuer.answers({ keys: (response) => response.writeHead(503).end() })
      const token = await tokenFor(owner)
      assert.strictEqual(refusal(await exchange(workspace, token)), "401 issuer_unavailable")
      issuer.answers()
      passes(advance, 0.1)
      await exchanged(workspace, token)
    })

    test("that is wrong too often is refused before anything is recorded, and a right one never", async (owner, advance) => {
      const workspace = await begin(owner, advance)
      await trust(workspace)
      const headers = newNetwork()
      const send = (token: string) =>
        owner
          .as(undefined)
          .send("POST", "/v1/token-exchange", { json: { workspace: workspace.workspace, token }, headers })
      for (let i = 0; i < 60; i++) assert.strictEqual((await send("wrong")).status, 401)
      const over = await send("wrong")
      assert.strictEqual(over.status, 429)
      assert.isDefined(over.headers["retry-after"])
      assert.lengthOf(await entries(workspace), 60)
      assert.strictEqual((await send(await tokenFor(owner))).status, 200)
      const long = { workspace: "main", token: "a", padding: "a".repeat(64 * 1024) }
      assert.isAtLeast((await owner.as(undefined).send("POST", "/v1/token-exchange", { json: long })).status, 400)
    })
  },
  environment
)

withClockOnEachServer(
  "a trusted publisher",
  (test) => {
    let now = Date.now()
    const token = (http: Http) => issuer.token(http.baseUrl, { now })
    const later = (advance: Clock) => {
      advance("1 hour")
      now += 3_600_000
    }

    test("ends with the keys that it gave when it is deleted", async (owner, advance) => {
      later(advance)
      const workspace = await newWorkspace(owner)
      const { id } = await trust(workspace, { role: "admin", scopes: null })
      const given = workspace.as((await exchanged(workspace, await token(owner))).apiKey)
      const made = await accountKey(given, "viewer")
      await workspace.delete(`trusted-publishers/${id}`)
      await given.refuse("401", "GET", "teams")
      await made.refuse("401", "GET", "teams")
      await workspace.refuse("404 trusted publisher", "DELETE", `trusted-publishers/${id}`)
      assert.strictEqual(refusal(await exchange(workspace, await token(owner))), "401 not_trusted")
      const { entries } = await workspace.get<AuditPage>("audit")
      const actions = entries.map(({ action }) => action)
      for (const action of ["publisher_created", "publisher_deleted", "key_revoked"]) assert.include(actions, action)
    })

    test("gives no more than who made it has, and ends with what made it", async (owner, advance) => {
      later(advance)
      const workspace = await newWorkspace(owner)
      const admin = await join(workspace, "admin")
      const limits = { name: "limited", scopes: ["admin", "read"] }
      const { id, secret } = await admin.post<NewApiKey>("/v1/api-keys", limits, 200)
      const limited = admin.as(secret)
      const wide = { ...gitHubPublisher(issuer.url), scopes: null }
      await limited.refuse("403 scope_missing", "POST", "trusted-publishers", wide)
      await limited.refuse("403 scope_missing", "POST", "trusted-publishers", { ...wide, scopes: ["vault"] })
      await limited.refuse("400 role", "POST", "trusted-publishers", { ...wide, role: "owner", scopes: ["read"] })
      await trust(limited, { scopes: ["read"] })
      const given = workspace.as((await exchanged(workspace, await token(owner))).apiKey)
      await given.get("teams")
      await admin.post(`/v1/api-keys/${id}/revoke`, {}, 200)
      await given.refuse("401", "GET", "teams")
      assert.deepStrictEqual((await workspace.get<TrustedPublishers>("trusted-publishers")).trustedPublishers, [])
    })

    test("ends with a key that expires, which its own keys do not outlive", async (owner, advance) => {
      later(advance)
      const workspace = await newWorkspace(owner)
      const expiresAt = new Date(now + 5 * 60_000).toISOString()
      const { secret } = await owner.post<NewApiKey>("/v1/api-keys", { name: "short", expiresAt }, 200)
      assert.strictEqual((await trust(workspace.as(secret))).expiresAt, expiresAt)
      const exchangedKey = await exchanged(workspace, await token(owner))
      assert.strictEqual(exchangedKey.expiresAt, expiresAt)
      advance("6 minutes")
      now += 6 * 60_000
      await workspace.as(exchangedKey.apiKey).refuse("401", "GET", "teams")
      assert.strictEqual(refusal(await exchange(workspace, await token(owner))), "401 not_trusted")
    })

    test("ends when its maker leaves or may no longer give the role", async (owner, advance) => {
      later(advance)
      const workspace = await newWorkspace(owner)
      for (const keep of [{}, { accountApiKeys: "keep" }]) {
        const admin = await join(workspace, "admin")
        await trust(admin)
        const given = workspace.as((await exchanged(workspace, await token(owner))).apiKey)
        await workspace.post(`members/${admin.id}/deactivate`, keep, 200)
        await given.refuse("401", "GET", "teams")
        assert.strictEqual(refusal(await exchange(workspace, await token(owner))), "401 not_trusted")
      }
      const admin = await join(workspace, "admin")
      await trust(admin)
      await workspace.patch(`members/${admin.id}`, { role: "member" })
      const given = workspace.as((await exchanged(workspace, await token(owner))).apiKey)
      await workspace.patch(`members/${admin.id}`, { role: "viewer" })
      await given.refuse("401", "GET", "teams")
      assert.strictEqual(refusal(await exchange(workspace, await token(owner))), "401 not_trusted")
    })

    test("is blocked with the credential that it was made with", async (owner, advance) => {
      later(advance)
      const workspace = await newWorkspace(owner)
      const admin = await join(workspace, "admin")
      const key = await admin.post<NewApiKey>("/v1/api-keys", { name: "maker" }, 200)
      await trust(admin.as(key.secret))
      const given = workspace.as((await exchanged(workspace, await token(owner))).apiKey)
      await workspace.post(`credentials/${key.id}/block`, undefined, 200)
      await given.refuse("404 workspace", "GET", "teams")
      assert.strictEqual(refusal(await exchange(workspace, await token(owner))), "401 not_trusted")
      await workspace.post(`credentials/${key.id}/unblock`, undefined, 200)
      await given.get("teams")
      await exchanged(workspace, await token(owner))
    })

    test("needs a fresh proof of a session, and outlives it", async (owner, advance) => {
      later(advance)
      const workspace = await newWorkspace(owner)
      const admin = await join(workspace, "admin")
      const session = await signIn(workspace, admin.id)
      const { id } = await trust(session)
      await exchanged(workspace, await token(owner))
      advance("20 minutes")
      now += 20 * 60_000
      await session.refuse("403 sudo_required", "DELETE", `trusted-publishers/${id}`)
      const other = { ...gitHubPublisher(issuer.url), workflow: "other.yml" }
      await session.refuse("403 sudo_required", "POST", "trusted-publishers", other)
      await session.delete("/auth/v1/session")
      await exchanged(workspace, await token(owner))
      assert.isString(await newLink(workspace, admin.id))
    })

    test("is checked when it is made", async (owner, advance) => {
      later(advance)
      const workspace = await newWorkspace(owner)
      await trust(workspace)
      const right = gitHubPublisher(issuer.url)
      await workspace.refuse("409 already_trusted", "POST", "trusted-publishers", { ...right, role: "viewer" })
      const wrong: ReadonlyArray<readonly [string, object]> = [
        ["repositoryId", { repositoryId: "octo/shop" }],
        ["repositoryId", { repositoryId: 710093112 }],
        ["ownerId", { ownerId: "0" }],
        ["workflow", { workflow: "e2e.yml@main" }],
        ["workflow", { workflow: "../e2e.yml" }],
        ["ref", { ref: "main" }],
        ["environment", { environment: "" }],
        ["scopes", { scopes: [] }],
        ["scopes", { scopes: undefined }],
        ["issuer", { issuer: "token.actions.githubusercontent.com" }]
      ]
      for (const [field, changes] of wrong) {
        await workspace.refuse(`400 ${field}`, "POST", "trusted-publishers", { ...right, ...changes })
      }
      const { issuers, trustedPublishers } = await workspace.get<TrustedPublishers>("trusted-publishers")
      assert.deepStrictEqual(issuers.slice(0, 3), [
        "https://token.actions.githubusercontent.com",
        "https://gitlab.com",
        issuer.url
      ])
      assert.lengthOf(trustedPublishers, 1)
    })
  },
  environment
)
