import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { DeliveryServer } from "../../src/testing.ts"
import { servers } from "../support/Servers.ts"

/** The vault over a real socket: statuses, bodies and headers as contract, section 5 says. */

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

for (const [name, server] of servers) {
  describe(`the vault over ${name}`, () => {
    layer(server())((it) => {
      const call = Effect.fnUntraced(function*(method: string, path: string, body?: unknown) {
        const { apiKey, baseUrl } = yield* DeliveryServer
        return yield* Effect.promise(async (): Promise<Answer> => {
          const response = await fetch(`${baseUrl}/v1/workspaces/main${path}`, {
            method,
            headers: { authorization: `Bearer ${Redacted.value(apiKey)}`, "content-type": "application/json" },
            ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
          })
          const text = await response.text()
          return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
        })
      })

      it.effect("smoke", () =>
        Effect.gen(function*() {
          yield* call("POST", "/products", { slug: "shop", name: "Shop", type: "library" })
          yield* call("POST", "/products", { slug: "search", name: "Search", type: "library" })
          yield* call("POST", "/environments", { slug: "staging", name: "Staging", class: "non-production" })
          yield* call("POST", "/environments", { slug: "prod", name: "Production", class: "production" })
          const show = (answer: Answer) => console.log(name, answer.status, answer.headers.get("cache-control"), JSON.stringify(answer.body))
          show(yield* call("POST", "/products/shop/secrets", { name: "DB URL", values: { staging: "a", prod: "b" }, requestId: "1" }))
          show(yield* call("POST", "/products/shop/secrets", { name: "DB URL", values: { staging: "a", prod: "b" }, requestId: "1" }))
          show(yield* call("POST", "/products/shop/secrets", { name: "DB URL", values: { staging: "c", prod: "b" }, requestId: "1" }))
          show(yield* call("POST", "/products/shop/secrets", { name: "DB URL", values: { staging: "c", prod: "b" } }))
          show(yield* call("POST", "/products/shop/secrets", { nam: "DB URL", values: { staging: 1, prod: "\ud800" }, requestId: "" }))
          show(yield* call("GET", "/products/shop/secrets"))
          show(yield* call("GET", "/products/shop/secrets/DB%20URL"))
          show(yield* call("PATCH", "/products/shop/secrets/DB%20URL", { newName: "X", values: { staging: null }, expectedVersions: { staging: 1, prod: 1 } }))
          show(yield* call("PATCH", "/products/shop/secrets/X", { expectedVersions: { staging: 1, prod: 1 } }))
          show(yield* call("POST", "/vault/assignments", { name: "X", products: ["shop", "search", "shop"], environments: ["prod", "staging"], value: "v", requestId: "1" }))
          show(yield* call("POST", "/vault/assignments", { name: "X", products: ["shop", "search", "shop"], environments: ["prod", "staging"], value: "v", requestId: "1" }))
          show(yield* call("POST", "/vault/generations", { name: "X", products: ["shop", "search"], environments: ["prod", "staging"], generator: { type: "ed25519" }, reveal: true, requestId: "1" }))
          show(yield* call("POST", "/vault/generations", { name: "X", products: ["shop", "search"], environments: ["prod", "staging"], generator: { type: "ed25519" }, reveal: true, requestId: "1" }))
          show(yield* call("POST", "/vault/generations", { name: "X", products: ["shop"], environments: ["prod"], generator: { type: "ed25519", x: 1 } }))
          show(yield* call("POST", "/vault/generations", { name: "X", products: [], environments: ["prod"], generator: { type: "foo", x: 1 } }))
          show(yield* call("GET", "/vault"))
          show(yield* call("GET", "/products/shop/secrets/X/environments/staging/versions"))
          show(yield* call("GET", "/products/shop/secrets/X/environments/staging/versions?before=0"))
          show(yield* call("PATCH", "/environments/prod", { class: "non-production" }))
          show(yield* call("DELETE", "/products/shop/secrets/X"))
          show(yield* call("GET", "/products/shop/secrets/X"))
          show(yield* call("POST", "/products/shop/secrets", "{"))
          show(yield* call("GET", "/events"))
        }))
    })
  })
}
