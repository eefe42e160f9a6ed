import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { request } from "node:http"
import { DeliveryServer } from "../../src/testing.ts"
import { servers } from "../support/Servers.ts"

/** What every request passes (contract, section 1), over a real socket. */

interface ErrorBody {
  readonly _tag: string
  readonly message: string
  readonly issues?: ReadonlyArray<{ readonly path: ReadonlyArray<string> }>
}

const json = { "content-type": "application/json" }

for (const [name, server] of servers) {
  describe(`the edge on ${name}`, () => {
    layer(server())((it) => {
      const call = (path: string, init: RequestInit & { readonly key?: string | undefined } = {}) =>
        Effect.gen(function* () {
          const { apiKey, baseUrl } = yield* DeliveryServer
          const authorization = `Bearer ${"key" in init ? init.key : Redacted.value(apiKey)}`
          const headers = new Headers(init.headers)
          if (!headers.has("authorization") && !("key" in init && init.key === undefined)) {
            headers.set("authorization", authorization)
          }
          const response = yield* Effect.promise(() => fetch(`${baseUrl}${path}`, { ...init, headers }))
          const text = yield* Effect.promise(() => response.text())
          return { response, text, body: (text === "" ? undefined : JSON.parse(text)) as ErrorBody }
        })

      it.effect("keeps a request id of the right form and makes another for any other", () =>
        Effect.gen(function* () {
          const kept = yield* call("/v1/me", { headers: { "x-request-id": "my-request_01" } })
          assert.strictEqual(kept.response.headers.get("x-request-id"), "my-request_01")
          for (const wrong of ["short", "has space in it", "x".repeat(65)]) {
            const made = yield* call("/v1/me", { headers: { "x-request-id": wrong } })
            assert.match(made.response.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/)
          }
        }))

      it.effect("takes the key in either header, and both where they are equal", () =>
        Effect.gen(function* () {
          const key = Redacted.value((yield* DeliveryServer).apiKey)
          const only = yield* call("/v1/me", { key: undefined, headers: { "x-api-key": key } })
          assert.strictEqual(only.response.status, 200)
          const both = yield* call("/v1/me", { headers: { "x-api-key": key } })
          assert.strictEqual(both.response.status, 200)
          const lower = yield* call("/v1/me", { headers: { authorization: `bearer ${key}` } })
          assert.strictEqual(lower.response.status, 200)
        }))

      it.effect("answers every wrong credential with one and the same 401", () =>
        Effect.gen(function* () {
          const key = Redacted.value((yield* DeliveryServer).apiKey)
          const attempts = [
            yield* call("/v1/me", { key: undefined }),
            yield* call("/v1/me", { key: "" }),
            yield* call("/v1/me", { key: "nonsense" }),
            yield* call("/v1/me", { key: `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}` }),
            yield* call("/v1/me", { key: key.replace("ctk_", "stk_") }),
            yield* call("/v1/me", { headers: { authorization: `Basic ${key}` } }),
            yield* call("/v1/me", { headers: { "x-api-key": "another" } }),
            yield* call("/v1/me", { headers: { authorization: "Bearer another", "x-api-key": key } }),
            yield* call("/v1/workspaces/none/products", { key: "nonsense", method: "POST", body: "{", headers: json })
          ]
          for (const { body, response } of attempts) {
            assert.strictEqual(response.status, 401)
            assert.strictEqual(response.headers.get("www-authenticate"), "Bearer")
            assert.deepStrictEqual(body, attempts[0]!.body)
            assert.strictEqual(body._tag, "Unauthorized")
          }
        }))

      it.effect("does not find unknown routes and methods, key or no key", () =>
        Effect.gen(function* () {
          for (const key of [{}, { key: undefined }, { key: "nonsense" }]) {
            for (const [method, path] of [["GET", "/"], ["GET", "/v1"], ["GET", "/v1/nothing"], ["DELETE", "/v1/me"], ["PUT", "/health"]]) {
              const { body, response } = yield* call(path!, { ...key, method: method! })
              assert.strictEqual(response.status, 404, `${method} ${path}`)
              assert.strictEqual(body._tag, "NotFound")
            }
          }
        }))

      it.effect("says what is wrong with a body: form, type, size", () =>
        Effect.gen(function* () {
          const path = "/v1/workspaces/main/products"
          const post = (body: string, headers: Record<string, string> = json) => call(path, { method: "POST", body, headers })
          const cut = yield* post("{\"slug\":")
          assert.strictEqual(cut.response.status, 400)
          assert.strictEqual(cut.body._tag, "InvalidInput")
          const typed = yield* post("slug=x", { "content-type": "application/x-www-form-urlencoded" })
          assert.strictEqual(typed.response.status, 400)
          assert.match(typed.body.message, /application\/json/)
          const all = yield* post(JSON.stringify({ slug: "No Slug", name: "", type: "boat" }))
          assert.deepStrictEqual(all.body.issues?.map((issue) => issue.path), [["slug"], ["name"], ["type"]])
          const product = { slug: "large", name: "Large", type: "library" }
          const padded = (size: number) => {
            const body = JSON.stringify({ ...product, padding: "" })
            return JSON.stringify({ ...product, padding: "x".repeat(size - body.length) })
          }
          assert.strictEqual((yield* post(padded(1024 * 1024 + 1))).response.status, 400)
          assert.strictEqual((yield* post(padded(1024 * 1024))).response.status, 201)
        }))

      it.effect("refuses a body that is too large without reading the rest", () =>
        Effect.gen(function* () {
          const { apiKey, baseUrl } = yield* DeliveryServer
          const sent = yield* Effect.promise(
            () =>
              new Promise<{ status: number; sent: number }>((resolve, reject) => {
                const total = 200 * 1024 * 1024
                const outgoing = request(`${baseUrl}/v1/workspaces/main/products`, {
                  method: "POST",
                  headers: {
                    ...json,
                    authorization: `Bearer ${Redacted.value(apiKey)}`,
                    "content-length": String(total)
                  }
                })
                let sent = 0
                const chunk = Buffer.alloc(64 * 1024, "x")
                let isAnswered = false
                const send = () => {
                  while (!isAnswered && sent < total) {
                    sent += chunk.length
                    if (!outgoing.write(chunk)) {
                      outgoing.once("drain", send)
                      return
                    }
                  }
                }
                outgoing.on("response", (response) => {
                  isAnswered = true
                  response.resume()
                  resolve({ status: response.statusCode!, sent })
                  outgoing.destroy()
                })
                outgoing.on("error", (error) => (isAnswered ? undefined : reject(error)))
                send()
              })
          )
          assert.strictEqual(sent.status, 400)
          assert.isBelow(sent.sent, 32 * 1024 * 1024)
        }))

      it.effect("checks in order: key, form, workspace, role, object", () =>
        Effect.gen(function* () {
          const missing = "/v1/workspaces/none/products/none"
          const badForm = { method: "PATCH", body: JSON.stringify({ type: "boat" }), headers: json }
          const goodForm = { method: "PATCH", body: "{}", headers: json }
          assert.strictEqual((yield* call(missing, { ...badForm, key: "nonsense" })).response.status, 401)
          assert.strictEqual((yield* call(missing, badForm)).response.status, 400)
          const workspace = yield* call(missing, goodForm)
          assert.strictEqual(workspace.response.status, 404)
          assert.match(workspace.body.message, /workspace/)
          const created = yield* call("/v1/workspaces/main/account-api-keys", {
            method: "POST",
            body: JSON.stringify({ name: "viewer", role: "viewer" }),
            headers: json
          })
          const { secret } = created.body as unknown as { secret: string }
          const role = yield* call("/v1/workspaces/main/products/none", { ...goodForm, key: secret })
          assert.strictEqual(role.response.status, 403)
          const object = yield* call("/v1/workspaces/main/products/none", goodForm)
          assert.strictEqual(object.response.status, 404)
          assert.match(object.body.message, /product/)
        }))

      it.effect("serves health, readiness, the API description and its page without a key", () =>
        Effect.gen(function* () {
          const { baseUrl } = yield* DeliveryServer
          for (const path of ["/health", "/ready"]) {
            const { response, text } = yield* call(path, { key: undefined })
            assert.strictEqual(response.status, 200)
            assert.deepStrictEqual(JSON.parse(text), { status: "ok" })
          }
          const description = yield* call("/openapi.json", { key: undefined })
          assert.property(JSON.parse(description.text).paths, "/v1/workspaces/{slug}/test-runs/{run}/files/{path}")
          const page = yield* Effect.promise(() => fetch(`${baseUrl}/docs`))
          assert.match(page.headers.get("content-type") ?? "", /text\/html/)
          yield* Effect.promise(() => page.arrayBuffer())
          const keys = yield* call("/.well-known/jwks.json", { key: undefined })
          assert.isNotEmpty(JSON.parse(keys.text).keys)
        }))
    })
  })
}
