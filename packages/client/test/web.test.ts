import { DeliveryApi } from "@delivery/domain/Api"
import { type Conflict as ConflictError, createClient as createFullClient, type PromiseClient } from "@delivery/client"
import { createClient, type WebClient } from "@delivery/client/web"
import { SchemaAST } from "effect"
import { HttpApi, type HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, expect, expectTypeOf, it } from "vitest"
import { freePort, type RunningServer, startServer } from "./support/server.ts"

/** What needs a token that no page has: agents, deployed products, runs, and the sign-in of agents and of command lines. */
const otherGroups = new Set(["agent", "agentInbox", "agentPlanning", "deploy", "leases", "logins", "oauth"])

interface Media {
  readonly content?: Readonly<Record<string, unknown>>
}

const operations = new Map(
  Object.values(OpenApi.fromApi(DeliveryApi).paths).flatMap((path) =>
    Object.values(path as Record<string, OpenApi.OpenAPISpecOperation>).map((one) => [one.operationId, one] as const)
  )
)

const isJson = ({ content = {} }: Media): boolean => Object.keys(content).every((type) => type === "application/json")

/** A call takes JSON or nothing, and one of its answers is JSON or nothing. */
const isPlain = (name: string): boolean => {
  const { requestBody, responses } = operations.get(name)!
  const answers = Object.entries(responses).filter(([status]) => status.startsWith("2"))
  return (
    isJson((requestBody ?? {}) as Media) &&
    answers.some(([, answer]) => isJson(answer as Media) || "application/json" in ((answer as Media).content ?? {}))
  )
}

const endpoints: Array<{
  readonly group: string
  readonly id: string
  readonly name: string
  readonly endpoint: HttpApiEndpoint.Top
}> = []
HttpApi.reflect(DeliveryApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    const [id, of] = [endpoint.identifier, group.identifier]
    const name = `${of}.${id}`
    if (!otherGroups.has(of) && isPlain(name)) endpoints.push({ group: of, id, name, endpoint })
  }
})

/** The table as `src/WebRoutes.ts` has it. */
const table = (): string => {
  const groups = Map.groupBy(endpoints, ({ group }) => group)
  const lines = [...groups].map(([group, of]) => {
    const entries = of.map(({ endpoint, id }) => {
      const [key, route] = [`    ${id}:`, `"${endpoint.method} ${endpoint.path}"`]
      return key.length + route.length + 2 > 120 ? `${key}\n      ${route}` : `${key} ${route}`
    })
    return `  ${group}: {\n${entries.join(",\n")}\n  }`
  })
  return `/** Where the calls of a page go. Made from the API: \`pnpm exec vitest run --config vitest.workspace.ts packages/client/test/web.test.ts -u\`. */
export const routes = {
${lines.join(",\n")}
} as const
`
}

const transforms = ({ ast }: { readonly ast: SchemaAST.AST }): boolean => SchemaAST.toEncoded(ast) !== ast

describe("the routes of pages", () => {
  it("are those of the API", () => expect(table()).toMatchFileSnapshot("../src/WebRoutes.ts"))

  it("answer what need not be decoded, but for secrets, which are text", () => {
    const decoded = endpoints.filter(({ endpoint }) =>
      [...endpoint.success].some(
        (schema) => !("mode" in schema) && !HttpApiSchema.isNoContent(schema.ast) && transforms(schema)
      )
    )
    assert.deepStrictEqual([...new Set(decoded.map(({ group }) => group))].toSorted(), ["vault", "webhooks"])
  })

  it("have a body where they write, and none where they read", () => {
    const withBody = endpoints.filter(({ endpoint }) => endpoint.payload.size > 0)
    assert.deepStrictEqual(
      withBody
        .filter(({ endpoint }) => endpoint.method === "GET" || endpoint.method === "DELETE")
        .map(({ name }) => name),
      []
    )
  })
})

describe("a client for pages", () => {
  let server: RunningServer
  let client: WebClient
  let full: PromiseClient
  const params = { slug: "main" }
  const shop = { slug: "shop", name: "Shop", type: "website" } as const
  beforeAll(async () => {
    server = await startServer()
    client = createClient({ baseUrl: `${server.url}/`, apiKey: server.apiKey })
    full = createFullClient({ baseUrl: server.url, apiKey: server.apiKey })
  })
  afterAll(() => server.stop())

  it("answers what the Promise client answers", async () => {
    const made = await client.products.create({ params, payload: shop })
    expectTypeOf(made).toEqualTypeOf<Awaited<ReturnType<PromiseClient["products"]["create"]>>>()
    assert.deepStrictEqual(await full.products.get({ params: { ...params, product: "shop" } }), made)
    await client.environments.create({
      params,
      payload: { slug: "staging", name: "Staging / 1", class: "non-production" }
    })
    await client.deployments.create({
      params,
      payload: { product: "shop", environment: "staging", baseUrl: "https://staging.shop.example.com" }
    })
    assert.deepStrictEqual(await client.products.list({ params }), await full.products.list({ params }))
    const archived = { params: { ...params, product: "shop" } }
    await client.products.archive(archived)
    assert.deepStrictEqual((await client.products.list({ params })).products, [])
    await client.products.restore(archived)
    assert.deepStrictEqual(
      await client.events.list({ params, query: { after: "0", limit: 2 } }),
      await full.events.list({ params, query: { after: "0", limit: 2 } })
    )
    const audit = await client.audit.list({ params, query: {} })
    assert.deepStrictEqual(audit, await full.audit.list({ params, query: {} }))
    const team = await client.teams.create({ params, payload: { name: "Web", key: "WEB" } })
    assert.strictEqual(team.key, "WEB")
  })

  it("has secrets as text, both ways", async () => {
    const at = { slug: "main", productSlug: "shop" }
    await client.vault.create({ params: at, payload: { name: "PASSWORD", values: { staging: "pässword" } } })
    const secret = await client.vault.get({ params: { ...at, name: "PASSWORD" } })
    assert.include(JSON.stringify(secret), "pässword")
    assert.deepStrictEqual(secret, await full.vault.get({ params: { ...at, name: "PASSWORD" } }))
  })

  it("fails with plain objects that say which request failed", async () => {
    const again = await client.safe.products.create({ params, payload: shop })
    assert(!again.ok && again.error._tag === "Conflict")
    expectTypeOf(again.error.reason).toEqualTypeOf<ConflictError["reason"]>()
    assert.strictEqual(Object.getPrototypeOf(again.error), Object.prototype)
    const { call, reason } = again.error
    assert.strictEqual(reason, "slug_in_use")
    assert.deepInclude(call, { method: "POST", path: "/v1/workspaces/main/products", status: 409 })
    assert.match(call!.requestId!, /^[\w-]{8,64}$/)
    const missing = client.products.get({ params: { ...params, product: "a/b" } })
    await expect(missing).rejects.toMatchObject({ _tag: "NotFound", call: { status: 404 } })
    const anonymous = createClient({ baseUrl: server.url })
    await expect(anonymous.me.get()).rejects.toMatchObject({ _tag: "Unauthorized" })
  })

  it("tells no answer and the answers of others", async () => {
    const port = await freePort()
    const proxy = createServer((_, response) => response.writeHead(502).end("<h1>Bad gateway</h1>"))
    const nobody = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "ctk_a" })
    await expect(nobody.me.get()).rejects.toMatchObject({ _tag: "NoAnswer", call: { method: "GET", path: "/v1/me" } })
    await once(proxy.listen(port, "127.0.0.1"), "listening")
    await expect(nobody.me.get()).rejects.toMatchObject({ _tag: "UnknownAnswer", call: { status: 502 } })
    const reason = new Error("no longer needed")
    await expect(nobody.me.get(undefined, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    proxy.close()
  })

  it("follows no redirect, which would drop the key or the body", async () => {
    const moved = createServer((_, response) => response.writeHead(308, { location: server.url }).end())
    await once(moved.listen(0, "127.0.0.1"), "listening")
    const { port } = moved.address() as AddressInfo
    const baseUrl = `http://127.0.0.1:${port}`
    await expect(createClient({ baseUrl, apiKey: "ctk_a" }).me.get()).rejects.toMatchObject({
      _tag: "UnknownAnswer",
      message: "GET /v1/me was answered 308 by a redirect. Use its address as baseUrl."
    })
    moved.close()
  })

  it("sends cookies to the origin of the page alone, and none beside a key", async () => {
    const sent: Array<RequestInit | undefined> = []
    const fetch = (_: unknown, init?: RequestInit) => {
      sent.push(init)
      return Promise.resolve(new Response("{}"))
    }
    await createClient({ baseUrl: server.url, fetch }).me.get()
    await createClient({ baseUrl: server.url, fetch, apiKey: "ctk_a" }).me.get()
    assert.deepStrictEqual(
      sent.map((init) => init?.credentials),
      ["same-origin", "omit"]
    )
  })

  it("refuses what is wrong at once, in a sentence", async () => {
    const wrong = (options: object) => () => createClient(options)
    expect(wrong({ baseUrl: server.url, key: "ctk_a" })).toThrow('A client knows no option "key"')
    expect(wrong({ baseUrl: "shop" })).toThrow(
      'baseUrl: Expected an http(s) URL such as https://delivery.example.com, without a user, a query or /v1, not "shop".'
    )
    expect(wrong({})).toThrow("baseUrl")
    expect(wrong({ baseUrl: server.url, apiKey: "" })).toThrow("apiKey: Expected")
    await expect(client.products.get({ params: { slug: "main", product: ".." } })).rejects.toThrow(
      "products.get needs params.product."
    )
    await expect(client.products.list({ slug: "main" } as never)).rejects.toThrow('products.list knows no "slug"')
  })
})
