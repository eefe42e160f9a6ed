import {
  type AuditEntry,
  type AuditPage,
  type CasePage,
  Conflict,
  callOf,
  createClient,
  DeliveryClient,
  InvalidInput,
  isTransient,
  NotFound,
  type PromiseClient,
  type StartTestRun,
  TooManyRequests,
  Unauthorized
} from "@delivery/client"
import { Effect, Redacted, Stream } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { openAsBlob } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest"
import { freePort, type RunningServer, startServer } from "./support/server.ts"

let server: RunningServer
let client: PromiseClient
const main = { slug: "main" }

const start: StartTestRun = {
  product: "shop",
  environment: "staging",
  baseUrl: "https://staging.shop.example.com",
  git: { branch: "main", sha: "9fceb02", dirty: false, subject: "Add the basket" },
  machine: { hostname: "ci-7", platform: "linux" },
  selection: { coverage: null, folders: [], caseIds: [] }
}

beforeAll(async () => {
  server = await startServer()
  client = createClient({ baseUrl: `${server.url}/`, apiKey: server.apiKey })
  await client.products.create({ params: main, payload: { slug: "shop", name: "Shop", type: "website" } })
  await client.environments.create({
    params: main,
    payload: { slug: "staging", name: "Staging", class: "non-production" }
  })
  await client.deployments.create({
    params: main,
    payload: { product: "shop", environment: "staging", baseUrl: start.baseUrl }
  })
}, 240_000)

afterAll(() => server.stop())

describe("a client without a key", () => {
  it("has the groups of the Effect client, and no other", () => {
    expectTypeOf<Exclude<keyof PromiseClient, "safe">>().toEqualTypeOf<keyof typeof DeliveryClient.Service>()
    expectTypeOf<PromiseClient["oauth"]>().not.toHaveProperty("authorize")
    expect(client).not.toHaveProperty("auth")
  })

  it("accepts an invite as a new person, reports a token, and is refused all else", async () => {
    const anonymous = createClient({ baseUrl: server.url, apiKey: null })
    const { token } = await client.invites.create({
      params: main,
      payload: { email: "new@example.com", role: "viewer", deliver: "link" }
    })
    const accepted = await anonymous.invites.accept({ payload: { token: token!, name: "New" } })
    expect(accepted.workspace).toMatchObject({ slug: "main", role: "viewer" })
    const { secret } = accepted.apiKey!
    const own = createClient({ baseUrl: server.url, apiKey: secret })
    expect(await own.me.get()).toMatchObject({ name: "New" })
    await anonymous.tokens.report({ payload: { token: secret } })
    await expect(own.me.get()).rejects.toBeInstanceOf(Unauthorized)
    await expect(anonymous.me.get()).rejects.toBeInstanceOf(Unauthorized)
    await expect(anonymous.products.list({ params: main, query: {} })).rejects.toBeInstanceOf(Unauthorized)
  })

  it("does the same as an Effect", async () => {
    const { token } = await client.invites.create({
      params: main,
      payload: { email: "other@example.com", role: "viewer", deliver: "link" }
    })
    const accepting = Effect.gen(function* () {
      const anonymous = yield* DeliveryClient
      const { apiKey } = yield* anonymous.invites.accept({ payload: { token: token!, name: "Other" } })
      yield* anonymous.tokens.report({ payload: { token: apiKey!.secret } })
      return yield* Effect.flip(anonymous.me.get())
    })
    const layer = DeliveryClient.layer({ baseUrl: server.url, apiKey: null })
    expect(await Effect.runPromise(Effect.provide(accepting, layer))).toBeInstanceOf(Unauthorized)
  })
})

describe("a call whose body is optional", () => {
  it("needs none", async () => {
    const key = await client.apiKeys.create({ payload: { name: "brief" } })
    expect(await client.apiKeys.revoke({ params: { apiKeyId: key.id } })).toEqual({ ok: true })
    const { token } = await client.invites.create({
      params: main,
      payload: { email: "leaves@example.com", role: "viewer", deliver: "link" }
    })
    const { apiKey } = await createClient({ baseUrl: server.url, apiKey: null }).invites.accept({
      payload: { token: token!, name: "Lea" }
    })
    const { id } = await createClient({ baseUrl: server.url, apiKey: apiKey!.secret }).me.get()
    expect(await client.members.deactivate({ params: { ...main, member: id } })).toMatchObject({ active: false })
  })
})

describe("credentials", () => {
  it("are listed, blocked and unblocked", async () => {
    const { id, secret } = await client.accountApiKeys.create({ params: main, payload: { name: "ci", role: "viewer" } })
    const blocked = createClient({ baseUrl: server.url, apiKey: secret })
    const params = { ...main, credential: id }
    expect(await client.credentials.block({ params })).toMatchObject({ id, kind: "accountApiKey", blocked: true })
    await expect(blocked.products.list({ params: main, query: {} })).rejects.toBeInstanceOf(NotFound)
    const { credentials } = await client.credentials.list({ params: main })
    expect(credentials.filter((credential) => credential.blocked).map((credential) => credential.id)).toEqual([id])
    expect(await client.credentials.unblock({ params })).toMatchObject({ blocked: false })
    expect(await blocked.products.list({ params: main, query: {} })).toMatchObject({ products: [{ slug: "shop" }] })
  })
})

describe("secrets", () => {
  const params = { ...main, productSlug: "shop" }

  it("are text for promises, in and out", async () => {
    const created = await client.vault.create({ params, payload: { name: "TOKEN", values: { staging: "first" } } })
    expectTypeOf(created.environments[0]!.value).toEqualTypeOf<string | null>()
    const staging = created.environments.find(({ environment }) => environment.slug === "staging")
    expect(staging).toMatchObject({ version: 1, hasValue: true, value: "first", valueHidden: false })
    const one = { ...params, name: "TOKEN" }
    await client.vault.assign({
      params: main,
      payload: { products: ["shop"], environments: ["staging"], name: "TOKEN", value: "second" }
    })
    await client.vault.update({ params: one, payload: { values: { staging: null } } })
    const cleared = await client.vault.get({ params: one })
    expect(cleared.environments.map(({ hasValue, value }) => [hasValue, value])).toContainEqual([false, null])
    const stale = await client.safe.vault.update({ params: one, payload: { expectedVersions: { staging: 1 } } })
    expect(stale.ok ? undefined : stale.error).toMatchObject({ reason: "version_mismatch", current: { staging: 3 } })
    const generated = await client.vault.generate({
      params: main,
      payload: {
        products: ["shop"],
        environments: ["staging"],
        name: "TOKEN",
        generator: { type: "token", bytes: 16, encoding: "hex" },
        reveal: true
      }
    })
    expect(generated.generations[0]?.value).toMatch(/^[0-9a-f]{32}$/)
    const { versions } = await client.vault.versions({
      params: { ...one, environmentSlug: "staging" },
      query: { before: 4 }
    })
    expect(versions.map(({ source, version }) => [version, source])).toEqual([
      [3, "edit"],
      [2, "assignment"],
      [1, "edit"]
    ])
    expect(await client.vault.delete({ params: one })).toBeUndefined()
  })

  it("are redacted for effects", () =>
    Effect.gen(function* () {
      const { vault } = yield* DeliveryClient
      const payload = { name: "REDACTED", values: { staging: Redacted.make("canary-value") } }
      const created = yield* vault.create({ params, payload })
      const read = yield* vault.get({ params: { ...params, name: "REDACTED" } })
      const [value] = read.environments.flatMap((environment) =>
        environment.value === null ? [] : [environment.value]
      )
      expect(value && Redacted.value(value)).toBe("canary-value")
      expect(JSON.stringify([created, read, payload]) + String(value)).not.toContain("canary-value")
      const error = yield* Effect.flip(vault.create({ params, payload }))
      expect(String(error) + JSON.stringify(error)).not.toContain("canary-value")
    }).pipe(Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: server.apiKey })), Effect.runPromise))
})

describe("promises", () => {
  it("resolves with what the endpoint answers", async () => {
    const deployment = await client.deployments.get({ params: { ...main, product: "shop", environment: "staging" } })
    expect(deployment).toMatchObject({ baseUrl: start.baseUrl, active: true, product: { slug: "shop" } })
    expectTypeOf(deployment.baseUrl).toEqualTypeOf<string | null>()
    expect(await client.me.get()).toMatchObject({ kind: "user", email: "owner@example.com" })
    expect(await client.system.health()).toEqual({ status: "ok" })
  })

  it("accepts a query, and omits an optional one", async () => {
    const all = await client.deployments.list({ params: main })
    const some = await client.deployments.list({ params: main, query: { product: "shop", archived: "only" } })
    expect([all.deployments.length, some.deployments.length]).toEqual([1, 0])
    // Without exactOptionalPropertyTypes, the types allow values that are undefined, as a filter that nobody has set.
    const unset = { product: undefined, archived: "exclude" } as { readonly archived: "exclude" }
    expect(await client.deployments.list({ params: main, query: unset })).toEqual(all)
    const none = { params: main, query: undefined } as { readonly params: typeof main }
    expect(await client.deployments.list(none)).toEqual(all)
    const made = await client.products.create({
      params: main,
      payload: { slug: "unset", name: "Unset", type: "website", ...({ repository: undefined } as object) }
    })
    expect(made).toMatchObject({ slug: "unset", repository: null })
  })

  it("makes, changes, rotates and deletes webhooks, and lists their deliveries, as the Effect does", async () => {
    const url = "https://hooks.invalid/delivery"
    const { secret, ...made } = await client.webhooks.create({ params: main, payload: { url, kinds: ["nothing"] } })
    const params = { ...main, webhook: made.id }
    const withEffect = <A, E>(use: (calls: (typeof DeliveryClient.Service)["webhooks"]) => Effect.Effect<A, E>) =>
      Effect.flatMap(DeliveryClient, ({ webhooks }) => use(webhooks)).pipe(
        Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: server.apiKey })),
        Effect.runPromise
      )
    expect(await withEffect((webhooks) => webhooks.get({ params }))).toEqual(made)
    expect(await client.webhooks.list({ params: main })).toEqual({ webhooks: [made] })
    const rotated = await client.webhooks.rotate({ params, payload: { overlapSeconds: 0 } })
    expect(rotated.secret).not.toBe(secret)
    expect(await client.webhooks.rotate({ params, payload: null })).toMatchObject({ id: made.id })
    expect(await client.webhooks.update({ params, payload: { format: "slack" } })).toMatchObject({ format: "slack" })
    expect(await withEffect((webhooks) => webhooks.deliveries({ params, query: {} }))).toEqual({
      deliveries: [],
      nextCursor: null
    })
    const unsafe = client.webhooks.create({ params: main, payload: { url: "https://127.0.0.1/" } })
    await expect(unsafe).rejects.toMatchObject({ _tag: "InvalidInput", issues: [{ path: ["url"] }] })
    await client.webhooks.delete({ params })
    await expect(client.webhooks.get({ params })).rejects.toBeInstanceOf(NotFound)
  })

  it("tells releases, versions and traces, and what holds a deployment, as the Effect does", async () => {
    const params = { ...main, product: "shop", environment: "live" }
    await client.environments.create({ params: main, payload: { slug: "live", name: "Live", class: "production" } })
    await client.deployments.create({
      params: main,
      payload: { product: "shop", environment: "live", baseUrl: "https://shop.example.com" }
    })
    const commits = [{ sha: "9fceb02d0ae5", subject: "TRC-1: pay by card" }]
    await client.teams.create({ params: main, payload: { key: "TRC", name: "Traced" } })
    await client.tickets.create({ params: main, payload: { team: "TRC", title: "Pay by card" } })
    await client.deployments.update({ params, payload: { version: "v1", commits } })
    const run = await client.testRuns.start({ params: main, payload: { ...start, environment: "live", locked: true } })
    const refused = await client.deployments
      .update({ params, payload: { version: "v2", waitMs: 0 } })
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ _tag: "Conflict", reason: "run_in_progress", runs: [run.number] })
    await client.deployments.update({ params, payload: { version: "v2", force: true } })
    expect(await client.testRuns.get({ params: { ...main, run: run.number } })).toMatchObject({
      release: 1,
      locked: true,
      deploymentChanged: true
    })
    const { releases } = await client.releases.history({ params, query: { before: 2 } })
    expect(releases).toMatchObject([{ number: 1, version: "v1", commits: [{ tickets: ["TRC-1"] }] }])
    const version = await client.releases.version({ params: { ...main, product: "shop", version: "v1" } })
    expect(version.tickets).toMatchObject([{ identifier: "TRC-1" }])
    const trace = await Effect.gen(function* () {
      const { releases } = yield* DeliveryClient
      return yield* releases.trace({ params: { ...main, ticket: "trc-1" } })
    }).pipe(Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: server.apiKey })), Effect.runPromise)
    expect(trace).toEqual(await client.releases.trace({ params: { ...main, ticket: "TRC-1" } }))
    expect(trace.text).toMatch(/^In Live since \d{4}-\d\d-\d\d\.$/)
    await client.deployments.delete({ params })
  })

  it("says how long runs are kept, and deletes one that has ended, as the Effect does", async () => {
    expect(await client.workspaces.update({ params: main, payload: { runDays: 90.5 } })).toMatchObject({
      runDays: 90.5,
      fileDays: null
    })
    expect(await client.workspaces.update({ params: main, payload: { runDays: null } })).toMatchObject({
      runDays: null
    })
    const { number } = await client.testRuns.start({ params: main, payload: start })
    const params = { ...main, run: number }
    await expect(client.testRuns.delete({ params })).rejects.toMatchObject({ _tag: "Conflict", reason: "running" })
    await client.testRuns.finish({ params, payload: { interrupted: false, durationMs: 1, tests: [] } })
    expect(await client.testRuns.delete({ params })).toBeUndefined()
    const again = Effect.flatMap(DeliveryClient, ({ testRuns }) => Effect.flip(testRuns.delete({ params }))).pipe(
      Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: Redacted.make(server.apiKey) })),
      Effect.runPromise
    )
    expect(await again).toBeInstanceOf(NotFound)
  })

  it("tells what tests come to over many runs, as the Effect does", async () => {
    const product = { ...main, product: "cart" }
    const made = { slug: "cart", name: "Cart", type: "library", baseBranch: "trunk" } as const
    expect(await client.products.create({ params: main, payload: made })).toMatchObject({ baseBranch: "trunk" })
    await client.deployments.create({ params: main, payload: { product: "cart", environment: "staging" } })
    const { number: run } = await client.testRuns.start({ params: main, payload: { ...start, product: "cart" } })
    const test = {
      title: "Pays by card",
      file: "checkout/pay.spec.ts",
      coverage: "acceptance",
      testKind: "journey",
      caseId: "checkout/pay.spec.ts › by card"
    } as const
    const startedAt = "2026-11-21T09:30:10.000Z"
    const attempt = { status: "failed", durationMs: 12.5, startedAt, errorMessage: "Expected 200, got 500" } as const
    await client.testRuns.finish({
      params: { ...main, run },
      payload: { interrupted: false, durationMs: 20, tests: [{ ...test, attempt }] }
    })
    const { errors } = await client.cases.errors({ params: { ...main, run } })
    expect(errors).toMatchObject([{ message: "Expected 200, got 500", count: 1, state: "new" }])
    // It counts a moment after the run has finished.
    const counted = async (): Promise<CasePage> => {
      const page = await client.cases.list({ params: product, query: { state: "failing", q: "card" } })
      return page.cases.length > 0 ? page : counted()
    }
    const { cases, nextCursor } = await counted()
    expect(cases).toMatchObject([{ ...test, states: ["failing"], failingSince: { run }, muted: null, ticket: null }])
    expect(nextCursor).toBeNull()
    const params = { ...product, caseId: test.caseId }
    const one = await Effect.flatMap(DeliveryClient, ({ cases }) =>
      cases.get({ params, query: { before: run + 1 } })
    ).pipe(
      Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: Redacted.make(server.apiKey) })),
      Effect.runPromise
    )
    expect(one).toEqual(await client.cases.get({ params, query: {} }))
    expect(one.results).toMatchObject([{ run, status: "failed", errorGroup: errors[0]!.id }])
    const { days } = await client.cases.trends({ params: product, query: {} })
    expect(days).toHaveLength(30)
    await expect(client.cases.get({ params: { ...params, caseId: "none" }, query: {} })).rejects.toBeInstanceOf(
      NotFound
    )
  })

  it("resolves with undefined where the answer has no body", async () => {
    await client.environments.create({ params: main, payload: { slug: "gone", name: "Gone", class: "non-production" } })
    await client.deployments.create({
      params: main,
      payload: { product: "shop", environment: "gone", baseUrl: "https://gone.example.com" }
    })
    const params = { ...main, product: "shop", environment: "gone" }
    expect(await client.deployments.delete({ params })).toBeUndefined()
    await expect(client.deployments.get({ params })).rejects.toBeInstanceOf(NotFound)
  })

  it("rejects with the tagged errors of the contract", async () => {
    const again = client.products.create({ params: main, payload: { slug: "shop", name: "Shop", type: "api" } })
    const error = await again.then(
      () => undefined,
      (error: unknown) => error
    )
    expect(error).toBeInstanceOf(Conflict)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ _tag: "Conflict", reason: "slug_in_use" })

    const stranger = createClient({ baseUrl: server.url, apiKey: "ctk_unknown" })
    await expect(stranger.me.get()).rejects.toBeInstanceOf(Unauthorized)
    const website = client.deployments.create({ params: main, payload: { product: "shop", environment: "staging" } })
    await expect(website).rejects.toBeInstanceOf(InvalidInput)
  })

  it("distinguishes transient failures from permanent ones", async () => {
    const nowhere = createClient({ baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey: "ctk_unknown" })
    const failure = await nowhere.safe.me.get()
    const refusal = await client.safe.products.get({ params: { ...main, product: "nothing" } })
    expect([failure.ok || isTransient(failure.error), refusal.ok || isTransient(refusal.error)]).toEqual([true, false])
  })

  it("resolves with typed errors in its safe form", async () => {
    const found = await client.safe.products.get({ params: { ...main, product: "shop" } })
    expect(found).toMatchObject({ ok: true, value: { slug: "shop" } })
    const missing = await client.safe.products.get({ params: { ...main, product: "nothing" } })
    if (missing.ok) throw new Error("found")
    expect(missing.error).toBeInstanceOf(NotFound)
    expectTypeOf(missing.error._tag).toEqualTypeOf<
      | "NotFound"
      | "Unauthorized"
      | "Forbidden"
      | "InvalidInput"
      | "TooManyRequests"
      | "Internal"
      | "HttpClientError"
      | "SchemaError"
    >()
  })

  it("reports a rate limit as transient", async () => {
    const limited = await startServer({ RATE_LIMIT: "1/600" })
    try {
      const caller = createClient({ baseUrl: limited.url, apiKey: limited.apiKey })
      await caller.me.get()
      const refused = await caller.safe.me.get()
      if (refused.ok) throw new Error("not refused")
      expect(refused.error).toBeInstanceOf(TooManyRequests)
      expect(refused.error.message).toMatch(/^Too many requests: at most 1 in 600 s\. Try again in \d+ s\.$/)
      expect(isTransient(refused.error)).toBe(true)
    } finally {
      await limited.stop()
    }
  }, 240_000)

  it("rejects an invalid address at once", () => {
    for (const baseUrl of ["", "localhost:4000", "//delivery.example.com", "ftp://delivery.example.com", "http://"]) {
      expect(() => createClient({ baseUrl, apiKey: "ctk_unknown" })).toThrow(
        `baseUrl: Expected an http(s) URL such as https://delivery.example.com, without a user, a query or /v1, not "${baseUrl}"`
      )
    }
  })

  it("rejects options that are missing, unknown or wrong at once, in a sentence", () => {
    const baseUrl = server.url
    for (const [options, message] of [
      [undefined, "A client takes an object such as {baseUrl, apiKey}, not undefined."],
      ["ctk_secret", "A client takes an object such as {baseUrl, apiKey}, not string."],
      [{ baseUrl }, "apiKey: Missing. Pass an API key (ctk_...), or null for calls that need none."],
      [{ baseUrl, apiKey: "" }, "apiKey: Missing. Pass an API key (ctk_...), or null for calls that need none."],
      [{ baseUrl, apiKey: 7 }, "apiKey: Expected an API key as text, not number."],
      [
        { apiKey: "ctk_secret" },
        "baseUrl: Expected an http(s) URL such as https://delivery.example.com, without a user, a query or /v1, not undefined"
      ],
      [{ baseUrl, apiKey: "ctk_secret", fetch: "fetch" }, "fetch: Expected a function, not string."],
      [
        { baseUrl, apiKey: "ctk_secret", token: "ctk_secret" },
        'A client knows no option "token". It takes baseUrl, apiKey, deploymentToken, fetch.'
      ]
    ] as const) {
      expect(() => createClient(options as never)).toThrow(new TypeError(message))
    }
    const layer = DeliveryClient.layer({ baseUrl, apiKey: "ctk_secret", fetch } as never)
    return expect(Effect.runPromise(Effect.provide(DeliveryClient, layer))).rejects.toThrow(
      'A client knows no option "fetch". It takes baseUrl, apiKey, deploymentToken.'
    )
  })

  it("rejects a wrong argument of a call before it is sent, in a sentence", async () => {
    for (const [request, message] of [
      ["main", "products.list takes an object such as {params}, not string."],
      [null, "products.list takes an object such as {params}, not null."],
      [{ slug: "main" }, 'products.list knows no "slug". It takes params, query, headers and payload.']
    ] as const) {
      await expect(client.products.list(request as never)).rejects.toThrow(new TypeError(message))
      await expect(client.safe.products.list(request as never)).rejects.toThrow(new TypeError(message))
    }
  })

  it("says in errors which request failed", async () => {
    const params = { ...main, product: "nothing" }
    const missing = await client.safe.products.get({ params })
    if (missing.ok) throw new Error("found")
    expect(missing.error.call).toEqual({
      method: "GET",
      path: "/v1/workspaces/main/products/nothing",
      status: 404,
      requestId: expect.stringMatching(/^[\w-]{8,}$/)
    })
    const rejected = await client.products
      .list({ params: main, query: { archived: "only" } })
      .then(
        () => client.products.get({ params }),
        () => undefined
      )
      .catch((error: unknown) => callOf(error))
    expect(rejected).toMatchObject({ status: 404 })
    const nowhere = createClient({ baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey: "ctk_unknown" })
    const unanswered = await nowhere.safe.me.get()
    if (unanswered.ok) throw new Error("answered")
    expect(unanswered.error.call).toEqual({ method: "GET", path: "/v1/me" })
    const unsent = await client.safe.products.create({ params: main, payload: { slug: "No Slug" } as never })
    if (unsent.ok) throw new Error("sent")
    expect(unsent.error.call).toBeUndefined()
    const upload = await client.safe.files.upload({ ...main, run: 999_999, path: "a.txt", body: "a" })
    if (upload.ok) throw new Error("stored")
    expect(upload.error.call).toMatchObject({ method: "PUT", status: 404 })
  })

  it("checks the form of a request before it is sent", async () => {
    const wrong = client.products.create({ params: main, payload: { slug: "Not A Slug", name: "x", type: "api" } })
    await expect(wrong).rejects.toMatchObject({ _tag: "SchemaError" })
  })

  it("aborts with the reason of the signal", async () => {
    const reason = new Error("enough")
    await expect(client.me.get(undefined, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    await expect(client.safe.me.get(undefined, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const call = client.testRuns.list({ params: main }, { signal: controller.signal })
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
  })

  it("calls the fetch it is given, with the key and without trace headers", async () => {
    const seen: Array<Record<string, string>> = []
    const watched = createClient({
      baseUrl: server.url,
      apiKey: Redacted.make(server.apiKey),
      fetch: (input, init) => {
        seen.push(Object.fromEntries(new Headers(init?.headers)))
        return fetch(input, init)
      }
    })
    await watched.me.get()
    await watched.system.health()
    expect(seen).toEqual([{ authorization: `Bearer ${server.apiKey}` }, {}])
  })
})

describe("the audit", () => {
  const query = { action: "identity_added" } as const

  it("is read page by page, and exported as it arrives", async () => {
    const { entries, nextCursor } = await client.audit.list({ params: main })
    expectTypeOf(nextCursor).toEqualTypeOf<AuditPage["nextCursor"]>()
    const exported: Array<AuditEntry> = []
    for await (const entry of await client.audit.export({ params: main })) exported.push(entry)
    expect(exported[0]).toMatchObject({ action: "audit_exported", outcome: "allowed" })
    expect(exported.slice(1).slice(0, 100)).toStrictEqual(entries)
    expect(await client.audit.list({ params: main, query })).toStrictEqual({ entries: [], nextCursor: null })
    const few = await client.safe.audit.export({ params: main, query: { actor: "nobody" } })
    expect(few.ok).toBe(true)
    if (few.ok) for await (const entry of few.value) expect.unreachable(entry.id)
  })

  it("rejects with the errors of the service before the first entry", async () => {
    const absent = { slug: "none" }
    await expect(client.audit.export({ params: absent })).rejects.toBeInstanceOf(NotFound)
    const wrong = await client.safe.audit.export({ params: main, query: { cursor: "1" } })
    expect(wrong.ok ? undefined : wrong.error).toMatchObject({ _tag: "SchemaError" })
    const stranger = createClient({ baseUrl: server.url, apiKey: "ctk_none" })
    const refused = await stranger.safe.audit.export({ params: main })
    expect(refused.ok ? undefined : refused.error).toBeInstanceOf(Unauthorized)
  })

  it("is a stream for Effect", async () => {
    const program = Effect.gen(function* () {
      const delivery = yield* DeliveryClient
      return yield* Stream.runCollect(Stream.take(yield* delivery.audit.export({ params: main }), 1))
    }).pipe(Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: server.apiKey })))
    expect(await Effect.runPromise(program)).toMatchObject([{ action: "audit_exported" }])
  })
})

describe("events", () => {
  const tag = (name: string) => client.tags.create({ params: main, payload: { name, color: "#112233" } })

  it("are read page by page, in both directions", async () => {
    const newest = await client.events.list({ params: main, query: { limit: 1 } })
    await tag("paged")
    const { events } = await client.events.list({ params: main, query: { after: newest.after, wait: 5 } })
    expect(events.map(({ subject }) => subject.label)).toEqual(["paged"])
    const wrong = await client.safe.events.list({ params: main, query: { limit: 201 } })
    expect(wrong.ok ? undefined : wrong.error).toMatchObject({ _tag: "SchemaError" })
  })

  it("are followed as they happen, over connections that break", async () => {
    let connections = 0
    const breaking = createClient({
      baseUrl: server.url,
      apiKey: server.apiKey,
      fetch: async (input, init) => {
        const answer = await fetch(input, init)
        if (!String(input).includes("/events/stream")) return answer
        connections++
        // Cut behind the first event.
        let isOver = false
        const cut = answer.body!.pipeThrough(
          new TransformStream<Uint8Array, Uint8Array>({
            transform: (part, controller) => {
              if (isOver) return controller.error(new Error("cut"))
              controller.enqueue(part)
              isOver = new TextDecoder().decode(part).includes("data:")
            }
          })
        )
        return new Response(cut, answer)
      }
    })
    const stream = await breaking.events.stream({ params: main, query: { kinds: "tag_created" } })
    const seen: Array<string> = []
    await tag("followed 0")
    for await (const { cursor, event } of stream) {
      expect(cursor).toBe(event.id)
      seen.push(event.subject.label)
      if (seen.length === 4) break
      await tag(`followed ${seen.length}`)
    }
    expect(seen).toEqual(["followed 0", "followed 1", "followed 2", "followed 3"])
    expect(connections).toBeGreaterThan(1)
  })

  it("are followed until the signal aborts", async () => {
    const [reason, controller] = [new Error("enough"), new AbortController()]
    const stream = await client.events.stream({ params: main, query: { after: "0" } }, { signal: controller.signal })
    let seen = 0
    const read = async () => {
      for await (const _ of stream) {
        seen++
        controller.abort(reason)
      }
    }
    await expect(read()).rejects.toBe(reason)
    expect(seen).toBeGreaterThan(0)
    // Whoever begins to read it later reads nothing.
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toBe(reason)
  })

  it("end with the key, and are refused without one", async () => {
    const { id, secret } = await client.apiKeys.create({ payload: { name: "follower" } })
    const own = createClient({ baseUrl: server.url, apiKey: secret })
    const stream = await own.events.stream({ params: main })
    await client.apiKeys.revoke({ params: { apiKeyId: id } })
    const read = async () => {
      for await (const _ of stream);
    }
    await expect(read()).rejects.toBeInstanceOf(Unauthorized)
    await expect(own.events.stream({ params: main })).rejects.toBeInstanceOf(Unauthorized)
  })

  it("are a stream for Effect", async () => {
    const program = Effect.gen(function* () {
      const delivery = yield* DeliveryClient
      return yield* Stream.runCollect(
        Stream.take(yield* delivery.events.stream({ params: main, query: { after: "0" } }), 2)
      )
    }).pipe(Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: server.apiKey })))
    expect((await Effect.runPromise(program)).map(({ event }) => event.kind)).toHaveLength(2)
  })
})

describe("attachments", () => {
  it("stores files on tickets, lists, reads and deletes them", async () => {
    const team = await client.teams.create({ params: main, payload: { key: "FILES", name: "Files" } })
    const { identifier: ticket } = await client.tickets.create({
      params: main,
      payload: { team: team.key, title: "Ticket" }
    })
    const at = { ...main, ticket }
    const bytes = randomBytes(100_000)
    const stored = await client.attachments.upload({
      ...at,
      name: "Ünï 1?#.png",
      body: bytes,
      contentType: "image/png"
    })
    expect(stored).toMatchObject({ name: "Ünï 1?#.png", size: bytes.length, contentType: "image/png" })
    const blob = new Blob(["{}"], { type: "text/x" })
    expect((await client.attachments.upload({ ...at, name: "b", body: blob })).contentType).toBe("text/x")
    const { attachments } = await client.attachments.list({ params: at })
    expect(attachments.map(({ name }) => name)).toEqual([stored.name, "b"])
    const address = { ...at, attachment: stored.id }
    const whole = await client.attachments.download(address)
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true)
    const part = await client.attachments.download({ ...address, range: { start: 1, end: 4 } })
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1, 5))).toBe(true)
    await expect(client.attachments.download({ ...address, range: { start: 100_000 } })).rejects.toBeInstanceOf(
      InvalidInput
    )
    await client.attachments.delete({ params: address })
    await expect(client.attachments.download(address)).rejects.toBeInstanceOf(NotFound)
    const refused = await client.safe.attachments.upload({ ...main, ticket: "FILES-999", name: "a", body: "a" })
    if (refused.ok) throw new Error("stored")
    expect(refused.error.call).toMatchObject({ method: "POST", status: 404 })
  })
})

describe("files", () => {
  it("stores bytes, text and blobs under any path", async () => {
    const { number: run } = await client.testRuns.start({ params: main, payload: start })
    const bytes = randomBytes(100_000)
    const path = "checkout/zahlt mit „Karte“ 100% #1?.bin"
    const stored = await client.files.upload({ ...main, run, path, body: bytes, contentType: "image/png" })
    expect(stored).toMatchObject({
      path,
      size: bytes.length,
      contentType: "image/png",
      sha256: createHash("sha256").update(bytes).digest("hex")
    })
    const whole = await client.files.download({ ...main, run, path })
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "image/png"])
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true)

    const text = await client.files.upload({ ...main, run, path: "a.txt", body: "grüße" })
    expect(text).toMatchObject({ size: 7, contentType: "application/octet-stream" })
    const blob = await client.files.upload({ ...main, run, path: "b", body: new Blob(["{}"], { type: "text/x" }) })
    expect(blob).toMatchObject({ size: 2, contentType: "text/x" })
    const empty = await client.files.upload({ ...main, run, path: "empty", body: "" })
    expect(empty.size).toBe(0)
  })

  it("answers ranges, and a range beyond the file with InvalidInput", async () => {
    const { number: run } = await client.testRuns.start({ params: main, payload: start })
    const file = { ...main, run, path: "digits.txt" }
    await client.files.upload({ ...file, body: "0123456789" })
    const read = async (range: { start: number; end?: number } | { last: number }) => {
      const response = await client.files.download({ ...file, range })
      return `${response.status} ${await response.text()}`
    }
    expect(await read({ start: 2, end: 4 })).toBe("206 234")
    expect(await read({ start: 7 })).toBe("206 789")
    expect(await read({ last: 2 })).toBe("206 89")
    await expect(client.files.download({ ...file, range: { start: 10 } })).rejects.toBeInstanceOf(InvalidInput)
  })

  it("fails with the errors of the contract", async () => {
    const { number: run } = await client.testRuns.start({ params: main, payload: start })
    await expect(client.files.download({ ...main, run, path: "missing" })).rejects.toBeInstanceOf(NotFound)
    await expect(client.files.upload({ ...main, run, path: "a/../b", body: "" })).rejects.toBeInstanceOf(InvalidInput)
    await expect(client.files.upload({ ...main, run, path: "..", body: "" })).rejects.toBeInstanceOf(InvalidInput)
    await client.testRuns.finish({
      params: { ...main, run },
      payload: { interrupted: false, durationMs: 1, tests: [] }
    })
    const late = await client.safe.files.upload({ ...main, run, path: "late", body: "" })
    expect(late).toMatchObject({ ok: false, error: { _tag: "Conflict", reason: "not_running" } })
  })

  it("sends a file from disk and reads it as a stream", async () => {
    const directory = await mkdtemp(join(tmpdir(), "delivery-client-"))
    const size = 48 * 1024 * 1024
    try {
      await writeFile(join(directory, "large"), randomBytes(size))
      const { number: run } = await client.testRuns.start({ params: main, payload: start })
      const body = await openAsBlob(join(directory, "large"), { type: "application/zip" })
      const stored = await client.files.upload({ ...main, run, path: "large.zip", body })
      expect(stored).toMatchObject({ size, contentType: "application/zip" })

      const response = await client.files.download({ ...main, run, path: "large.zip" })
      const hash = createHash("sha256")
      for await (const chunk of response.body ?? []) hash.update(chunk)
      expect(hash.digest("hex")).toBe(stored.sha256)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})

describe("a deployed product", () => {
  const place = { ...main, product: "shop", environment: "production" }
  let token: string

  beforeAll(async () => {
    await client.environments.create({
      params: main,
      payload: { slug: "production", name: "Production", class: "production" }
    })
    await client.deployments.create({
      params: main,
      payload: { product: "shop", environment: "production", baseUrl: "https://shop.example.com", version: "1" }
    })
    for (const [name, value] of [
      ["DATABASE_URL", "postgres://it's"],
      ["__proto__", "kept"]
    ] as const) {
      await client.vault.assign({
        params: main,
        payload: { products: ["shop"], environments: ["production"], name, value }
      })
    }
    const made = await client.deploymentTokens.create({ params: place, payload: { name: "product" } })
    token = made.token
    expect(made).toMatchObject({ name: "product", replacedBy: null, createdBy: { active: true } })
  })

  it("reads its secrets, as values and as files, with its token alone", async () => {
    const product = createClient({ baseUrl: server.url, apiKey: null, deploymentToken: token })
    expect(await product.deploy.me()).toMatchObject({
      product: { slug: "shop" },
      environment: { slug: "production" },
      deployment: { version: "1" },
      token: { name: "product" }
    })
    const loaded = await product.deploy.secrets()
    expect(Object.entries(loaded.values)).toEqual([
      ["DATABASE_URL", "postgres://it's"],
      ["__proto__", "kept"]
    ])
    expectTypeOf(loaded.values).toEqualTypeOf<{ readonly [name: string]: string }>()
    expect((await product.deploy.secrets()).revision).toBe(loaded.revision)
    const file = await product.deploy.environmentFile({ query: { format: "env" } })
    expectTypeOf(file).toEqualTypeOf<string>()
    expect(file).toBe("DATABASE_URL=\"postgres://it's\"\n__proto__='kept'\n")
    expect(await product.deploy.environmentFile({ query: { format: "docker" } })).toContain("__proto__=kept\n")
    expect(await product.deploy.secret({ params: { name: "DATABASE_URL" } })).toEqual({
      name: "DATABASE_URL",
      version: 1,
      value: "postgres://it's"
    })
    expect(await product.deploy.setVersion({ payload: { version: "2" } })).toMatchObject({ version: "2" })
    await expect(product.products.list({ params: main })).rejects.toBeInstanceOf(Unauthorized)
    await expect(client.deploy.secrets()).rejects.toBeInstanceOf(Unauthorized)
  })

  it("is told which secrets no file can have", async () => {
    const product = createClient({ baseUrl: server.url, apiKey: null, deploymentToken: token })
    await client.vault.assign({
      params: main,
      payload: { products: ["shop"], environments: ["production"], name: "not-a-name", value: "a" }
    })
    const refused = await product.safe.deploy.environmentFile({ query: { format: "env" } })
    expect(refused).toMatchObject({
      ok: false,
      error: { reason: "not_environment_names", names: ["not-a-name"] }
    })
  })

  it("does the same as an Effect, whose values no log shows", () =>
    Effect.gen(function* () {
      const { deploy } = yield* DeliveryClient
      const { values } = yield* deploy.secrets()
      expect(Redacted.value(values["DATABASE_URL"]!)).toBe("postgres://it's")
      expect(String(values["DATABASE_URL"])).not.toContain("postgres")
      const file = yield* deploy.environmentFile({ query: { format: "docker" } })
      expect(String(file)).not.toContain("postgres")
      expect(Redacted.value(file)).toContain("DATABASE_URL=postgres://it's\n")
      const { value } = yield* deploy.secret({ params: { name: "DATABASE_URL" } })
      expect(String(value)).not.toContain("postgres")
    }).pipe(
      Effect.provide(
        DeliveryClient.layer({ baseUrl: server.url, apiKey: null, deploymentToken: Redacted.make(token) })
      ),
      Effect.runPromise
    ))

  it("has tokens that are rotated and revoked", async () => {
    const { tokens } = await client.deploymentTokens.list({ params: place })
    const { id } = tokens[0]!
    const fresh = await client.deploymentTokens.rotate({
      params: { ...place, token: id },
      payload: { overlapSeconds: 0 }
    })
    await expect(
      createClient({ baseUrl: server.url, apiKey: null, deploymentToken: token }).deploy.me()
    ).rejects.toBeInstanceOf(Unauthorized)
    const product = createClient({ baseUrl: server.url, apiKey: null, deploymentToken: fresh.token })
    await product.deploy.me()
    expect(await client.deploymentTokens.revoke({ params: { ...place, token: fresh.id } })).toEqual({ ok: true })
    await expect(product.deploy.me()).rejects.toBeInstanceOf(Unauthorized)
  })
})

describe("effects", () => {
  it("say in errors which request failed, and leave out what has no required fields", () =>
    Effect.gen(function* () {
      const delivery = yield* DeliveryClient
      const { products } = yield* delivery.products.list({ params: main })
      const me = yield* delivery.me.get()
      const [listed, response] = yield* delivery.products.list({ params: main, responseMode: "decoded-and-response" })
      const missing = yield* Effect.flip(delivery.products.get({ params: { ...main, product: "nothing" } }))
      expect([products.map(({ slug }) => slug).includes("shop"), listed.products, response.status, me.name]).toEqual([
        true,
        products,
        200,
        expect.any(String)
      ])
      expect(callOf(missing)).toMatchObject({
        method: "GET",
        path: "/v1/workspaces/main/products/nothing",
        status: 404
      })
      const wrong = yield* Effect.exit(delivery.products.list({ slug: "main" } as never))
      expect(String(wrong)).toContain('products.list knows no "slug"')
    }).pipe(
      Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: Redacted.make(server.apiKey) })),
      Effect.runPromise
    ))

  it("is a service with the same groups", () =>
    Effect.gen(function* () {
      const delivery = yield* DeliveryClient
      const { number: run } = yield* delivery.testRuns.start({ params: main, payload: start })
      const stored = yield* delivery.files.upload({ ...main, run, path: "trace.zip", body: new Uint8Array(3) })
      const file = yield* delivery.files.download({ ...main, run, path: "trace.zip" })
      const chunks = yield* Stream.runCollect(file.stream)
      const missing = yield* delivery.products
        .get({ params: { ...main, product: "nothing" } })
        .pipe(Effect.catchTag("NotFound", (error) => Effect.succeed(error.message)))
      expect([stored.size, chunks.reduce((size, chunk) => size + chunk.length, 0), missing]).toEqual([
        3,
        3,
        'There is no product "nothing" that you can see.'
      ])
    }).pipe(
      Effect.provide(DeliveryClient.layer({ baseUrl: server.url, apiKey: Redacted.make(server.apiKey) })),
      Effect.runPromise
    ))
})
