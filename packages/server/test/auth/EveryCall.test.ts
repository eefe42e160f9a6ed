import { DeliveryApi } from "@delivery/domain/Api"
import { NoOtherSites, SessionAuthorization } from "@delivery/domain/auth/SessionAuthorization"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { Effect, Layer } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { assert, describe, it } from "vitest"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { type ErrorBody, onEachServer, signIn } from "../support/Http.ts"
import { freePort } from "../../src/cli/FreePort.ts"

/** What holds for each call of signing in and consent, whatever it does (docs/contract.md, Sessions). */

interface Call {
  readonly method: string
  readonly path: string
  /** Whether it takes the cookie of a session, and nothing else. */
  readonly needsSession: boolean
  /** Whether programs call it, which are no browsers. */
  readonly isForPrograms: boolean
}

const calls: ReadonlyArray<Call> = (() => {
  const found: Array<Call> = []
  HttpApi.reflect(DeliveryApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const { method, middlewares, path } = endpoint as HttpApiEndpoint.Top
      if (!path.startsWith("/auth/v1/")) return
      found.push({
        method,
        path: path.replaceAll(/:\w+/g, "none"),
        needsSession: middlewares.has(SessionAuthorization),
        isForPrograms: middlewares.has(NoOtherSites)
      })
    }
  })
  return found
})()

const isUnsafe = ({ method }: Call) => method !== "GET"
const nameOf = ({ method, path }: Call) => `${method} ${path}`

type Headers = Readonly<Record<string, string>>

/** A request with these headers and no others, and a body that no call takes. */
const send = async (baseUrl: string, { method, path }: Call, headers: Headers) => {
  const hasBody = method === "POST" || method === "PATCH"
  const answer = await fetch(baseUrl + path, {
    method,
    redirect: "manual",
    headers: { ...headers, ...(hasBody ? { "content-type": "application/json" } : {}) },
    ...(hasBody ? { body: "[]" } : {})
  })
  const text = await answer.text()
  const { reason } = (text === "" ? {} : JSON.parse(text)) as Partial<ErrorBody>
  return {
    refusal: [answer.status, ...(reason === undefined ? [] : [reason])].join(" "),
    cached: answer.headers.get("cache-control")
  }
}

const ownPage = { "sec-fetch-site": "same-origin" }

/** Requests that browsers, or no browser, send for pages of others. */
const elsewhere = (own: string): ReadonlyArray<Headers> => [
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "none" },
  { "sec-fetch-site": "cross-site", origin: own },
  { origin: "https://evil.example" },
  { origin: `${own}.evil.example` },
  { origin: "null" },
  {}
]

onEachServer("Every call of signing in", (test) => {
  test("that changes something is refused to other pages, and changes nothing", async (owner) => {
    assert.isAbove(calls.filter(isUnsafe).length, 15)
    const session = await signIn(owner, "owner@example.com")
    const cookie = { cookie: `${sessionCookie}=${session.key}` }
    for (const call of calls.filter(isUnsafe)) {
      for (const headers of elsewhere(owner.baseUrl)) {
        // A request of a program, which is refused for its body alone.
        if (call.isForPrograms && Object.keys(headers).length === 0) continue
        const detail = `${nameOf(call)} ${JSON.stringify(headers)}`
        const withSession = await send(owner.baseUrl, call, { ...headers, ...cookie })
        assert.deepStrictEqual(withSession, { refusal: "403 cross_site", cached: "no-store" }, detail)
        const without = await send(owner.baseUrl, call, headers)
        const expected = call.needsSession ? "401" : "403 cross_site"
        assert.deepStrictEqual(without, { refusal: expected, cached: "no-store" }, detail)
      }
    }
    await session.get("/auth/v1/session")
  })

  test("is kept by no cache, whatever it answers", async (owner) => {
    for (const call of calls) {
      // A session of its own: some of them end it.
      const session = await signIn(owner, "owner@example.com")
      const cookies: ReadonlyArray<Headers> = [
        {},
        { cookie: `${sessionCookie}=${session.key}` },
        { cookie: `${sessionCookie}=x` }
      ]
      for (const cookie of cookies) {
        const { cached, refusal } = await send(owner.baseUrl, call, { ...ownPage, ...cookie })
        assert.strictEqual(cached, "no-store", `${nameOf(call)} ${JSON.stringify(cookie)} ${refusal}`)
      }
    }
  })
})

describe("Every call of signing in, at an address by http that is not this computer", () => {
  it("is refused and says why, but for the ways to sign in", async () => {
    const port = await freePort()
    const server = DeliveryServer.layerMemory({ PORT: String(port), BASE_URL: "http://delivery.example" })
    const asked = Effect.promise(async () => {
      const baseUrl = `http://127.0.0.1:${port}`
      const answered: Record<string, string> = {}
      for (const call of calls) {
        const { refusal } = await send(baseUrl, call, ownPage)
        answered[nameOf(call)] = refusal
        const cookie = { cookie: `${sessionCookie}=wtk_${"0".repeat(42)}` }
        assert.strictEqual((await send(baseUrl, call, { ...ownPage, ...cookie })).refusal, refusal, nameOf(call))
      }
      const { "GET /auth/v1/methods": methods, ...others } = answered
      assert.strictEqual(methods, "200 insecure_base_url")
      assert.deepStrictEqual([...new Set(Object.values(others))], ["403 insecure_base_url"], JSON.stringify(others))
    })
    await Effect.runPromise(Effect.scoped(Effect.andThen(Layer.build(server), asked)))
  })
})
