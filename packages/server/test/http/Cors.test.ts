import { assert } from "vitest"
import { type Http, onEachServer, unique } from "../support/Http.ts"

/** Calls from pages of other origins (docs/contract.md, Running the server). */

const app = "https://app.example.com"
const local = "http://localhost:5173"

const preflight = (http: Http, origin: string, path = "products", method = "PATCH") =>
  http.as(undefined).send("OPTIONS", path, {
    headers: {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "authorization,content-type"
    }
  })

const corsHeaders = (headers: object) => Object.keys(headers).filter((name) => name.startsWith("access-control-"))

const listOf = (header: unknown) => String(header).toLowerCase().split(", ")

onEachServer(
  "pages of origins that may call",
  (test) => {
    test("get their preflights answered without a credential, on every path", async (owner) => {
      for (const origin of [app, local]) {
        for (const path of ["products", "/v1/me", "/v1/nothing"]) {
          const { headers, status, text } = await preflight(owner, origin, path)
          assert.deepStrictEqual([status, text], [204, ""], path)
          assert.strictEqual(headers["access-control-allow-origin"], origin)
          assert.strictEqual(headers["vary"], "Origin")
          assert.includeMembers(listOf(headers["access-control-allow-methods"]), ["get", "patch", "put", "delete"])
          assert.includeMembers(listOf(headers["access-control-allow-headers"]), ["authorization", "content-type"])
        }
      }
    })

    test("read answers and refusals, and the headers of both", async (owner) => {
      const headers = { origin: app }
      const found = await owner.send("GET", "products", { headers })
      const refused = await owner.as(undefined).send("GET", "/v1/me", { headers })
      const unknown = await owner.send("GET", "/v1/nothing", { headers })
      const created = await owner.send("POST", "products", {
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ slug: unique("shop"), name: "Shop", type: "library" })
      })
      const answers = [found, refused, unknown, created]
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 401, 404, 201]
      )
      for (const { headers } of answers) {
        assert.strictEqual(headers["access-control-allow-origin"], app)
        assert.includeMembers(listOf(headers["access-control-expose-headers"]), ["x-request-id", "retry-after"])
      }
    })

    test("are never allowed to send cookies", async (owner) => {
      const answers = [
        await preflight(owner, app),
        await owner.send("GET", "/v1/me", { headers: { origin: app } }),
        await owner.as(undefined).send("GET", "/v1/me", {
          headers: { origin: app, cookie: "__Host-delivery_session=nonsense" }
        })
      ]
      for (const { headers } of answers) assert.notProperty(headers, "access-control-allow-credentials")
    })

    test("are told from others, whose answers stay as they are, but for caches", async (owner) => {
      for (const origin of [
        "https://evil.example.com",
        `${app}.evil.example.com`,
        `${app}:8443`,
        "http://app.example.com",
        "null"
      ]) {
        const asked = await preflight(owner, origin)
        const answered = await owner.send("GET", "products", { headers: { origin } })
        assert.deepStrictEqual([asked.status, answered.status], [404, 200], origin)
        assert.deepStrictEqual([...corsHeaders(asked.headers), ...corsHeaders(answered.headers)], [], origin)
        assert.strictEqual(answered.headers["vary"], "Origin")
      }
      const none = await owner.send("GET", "products")
      assert.deepStrictEqual([none.headers["vary"], corsHeaders(none.headers)], ["Origin", []])
      // Not a preflight, but a request with a method that no path has.
      const plain = await owner.send("OPTIONS", "products", { headers: { origin: app } })
      assert.strictEqual(plain.status, 404)
    })

    test("keep what answers vary by already", async (owner) => {
      const { headers } = await owner.send("GET", "audit", { headers: { origin: app } })
      assert.strictEqual(headers["vary"], "Accept, Origin")
    })
  },
  { CORS_ORIGINS: `${app}, ${local}` }
)

onEachServer("pages of other origins, unless the setting names them", (test) => {
  test("may not call", async (owner) => {
    const asked = await preflight(owner, app)
    const answered = await owner.send("GET", "products", { headers: { origin: app } })
    assert.deepStrictEqual([asked.status, answered.status], [404, 200])
    assert.deepStrictEqual([...corsHeaders(asked.headers), ...corsHeaders(answered.headers)], [])
    assert.notProperty(answered.headers, "vary")
  })
})
