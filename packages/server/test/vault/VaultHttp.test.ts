import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { servers } from "../support/Servers.ts"

/** The vault over a real socket: statuses, bodies and headers. Its rules are in Vault.test.ts. */

interface Listed {
  readonly environment: { readonly slug: string }
  readonly version: number
  readonly hasValue: boolean
  readonly value: string | null
  readonly valueHidden: boolean
  readonly slug: string
}

/** What this suite looks at of answers. */
interface Body {
  readonly _tag: string
  readonly name: string
  readonly message: string
  readonly issues: ReadonlyArray<{ readonly _tag: string; readonly path: ReadonlyArray<string> }>
  readonly product: object
  readonly environments: ReadonlyArray<Listed>
  readonly secrets: ReadonlyArray<{ readonly environments: ReadonlyArray<Listed> }>
  readonly versions: ReadonlyArray<{ readonly source: string }>
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

const call = Effect.fnUntraced(function* (method: string, path: string, body?: unknown, key?: string) {
  const { apiKey, baseUrl } = yield* DeliveryServer
  return yield* Effect.promise(async (): Promise<Answer> => {
    const response = await fetch(`${baseUrl}/v1/workspaces/main${path}`, {
      method,
      headers: { authorization: `Bearer ${key ?? Redacted.value(apiKey)}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: (text === "" ? undefined : JSON.parse(text)) as Body
    }
  })
})

const secrets = "/products/shop/secrets"

for (const [name, server] of servers) {
  describe(`the vault over ${name}`, () => {
    layer(server())((it) => {
      it.effect("answers every call with the status and form of the contract, and keeps it out of caches", () =>
        Effect.gen(function* () {
          yield* call("POST", "/products", { slug: "shop", name: "Shop", type: "library" })
          yield* call("POST", "/environments", {
            slug: "staging",
            name: "Staging",
            class: "non-production",
            emoji: "🧪"
          })
          yield* call("POST", "/environments", { slug: "production", name: "Production", class: "production" })
          const create = { name: "A b-c", values: { staging: "s", production: "p" }, requestId: "r" }
          const one = `${secrets}/${encodeURIComponent(create.name)}`
          const bulk = { products: ["shop"], environments: ["staging", "production"], name: "BULK" }
          const generate = { ...bulk, generator: { type: "uuid" }, reveal: true }
          const expected: ReadonlyArray<readonly [status: number, method: string, path: string, body?: unknown]> = [
            [201, "POST", secrets, create],
            [201, "POST", secrets, create],
            [409, "POST", secrets, { ...create, name: "other" }],
            [200, "GET", secrets],
            [200, "GET", one],
            [200, "PATCH", one, { values: { staging: "t" }, expectedVersions: { staging: 1 } }],
            [409, "PATCH", one, { values: { staging: "t" }, expectedVersions: { staging: 1 } }],
            [400, "PATCH", one, { values: { staging: 1 } }],
            [200, "GET", `${one}/environments/staging/versions`],
            [200, "GET", `${one}/environments/staging/versions?before=2`],
            [400, "GET", `${one}/environments/staging/versions?before=0`],
            [400, "GET", `${one}/environments/staging/versions?before=x`],
            [404, "GET", `${one}/environments/none/versions`],
            [200, "POST", "/vault/assignments", { ...bulk, value: "v" }],
            [200, "POST", "/vault/generations", generate],
            [200, "GET", "/vault"],
            [204, "DELETE", one],
            [404, "DELETE", one],
            [404, "GET", one],
            [404, "GET", "/products/none/secrets"]
          ]
          for (const [status, method, path, body] of expected) {
            const answer = yield* call(method, path, body)
            const detail = `${method} ${path}: ${JSON.stringify(answer.body)}`
            assert.strictEqual(answer.status, status, detail)
            assert.strictEqual(answer.headers.get("cache-control"), "no-store", detail)
          }
          const none = yield* call("GET", secrets, undefined, "ctk_none")
          assert.deepStrictEqual([none.status, none.headers.get("cache-control")], [401, "no-store"])
          // Other rooms' answers may be cached as before.
          assert.isNull((yield* call("GET", "/products")).headers.get("cache-control"))

          const { body: read } = yield* call("GET", `${secrets}/BULK`)
          assert.hasAllKeys(read, ["id", "name", "product", "environments", "createdAt", "updatedAt"])
          assert.deepStrictEqual(Object.keys(read.product), ["id", "slug", "name"])
          const [production, staging] = read.environments as [Listed, Listed]
          assert.hasAllKeys(staging, [
            "environment",
            "version",
            "hasValue",
            "deployed",
            "updatedAt",
            "updatedBy",
            "value",
            "valueHidden"
          ])
          assert.hasAllKeys(staging.environment, ["id", "slug", "name", "class", "emoji", "archived"])
          assert.match(String(staging.value), /^[0-9a-f-]{36}$/)
          assert.deepStrictEqual(
            [production.version, production.hasValue, production.value, production.valueHidden, staging.valueHidden],
            [2, true, null, true, false]
          )
          const { body: listed } = yield* call("GET", secrets)
          assert.hasAllKeys(listed, ["product", "environments", "secrets"])
          assert.hasAllKeys(listed.environments[0], ["id", "slug", "name", "class", "emoji", "archived", "deployed"])
          assert.doesNotHaveAnyKeys(listed.secrets[0]?.environments[0] ?? {}, ["value", "valueHidden"])
          const { body: all } = yield* call("GET", "/vault")
          assert.hasAllKeys(all, ["environments", "secrets"])
          assert.hasAllKeys(all.environments[0], ["id", "slug", "name", "class", "emoji", "archived"])
          const { body: page } = yield* call("GET", `${secrets}/BULK/environments/staging/versions`)
          assert.hasAllKeys(page.versions[0], ["version", "hasValue", "source", "createdAt", "createdBy"])
          assert.deepStrictEqual(
            page.versions.map(({ source }) => source),
            ["generation", "assignment"]
          )
        })
      )

      it.effect("rejects bodies that do not match their schema, with the kind of each mismatch and no value", () =>
        Effect.gen(function* () {
          yield* call("POST", "/products", { slug: "shop", name: "Shop", type: "library" })
          const bulk = { products: ["shop"], environments: ["staging"], name: "N" }
          const password = {
            type: "password",
            length: 8,
            lowercase: true,
            uppercase: true,
            digits: true,
            symbols: true
          }
          const cases: ReadonlyArray<readonly [path: string, body: unknown, issues: ReadonlyArray<string>]> = [
            [secrets, {}, ["Missing name"]],
            [secrets, { name: "N", extra: "x" }, ["Unexpected extra"]],
            [secrets, { name: "N", "s3cr3t-value": "x" }, ["Unexpected "]],
            [secrets, { name: 1, values: [] }, ["Type name", "Type values"]],
            [secrets, { name: "N", values: { staging: 5 } }, ["Type values.staging"]],
            [secrets, { name: "N", values: { staging: "\ud800" } }, ["Refinement values.staging"]],
            [secrets, { name: "N", values: { staging: "x".repeat(65_537) } }, ["Refinement values.staging"]],
            [secrets, { name: "N", values: { staging: "é".repeat(32_769) } }, ["Refinement values.staging"]],
            [secrets, { name: "N", requestId: "" }, ["Refinement requestId"]],
            [secrets, { name: "N", requestId: "r".repeat(101) }, ["Refinement requestId"]],
            [secrets, { name: "N", requestId: null }, ["Type requestId"]],
            ...["", " a", "a ", "a/b", ".", "..", "a\nb", "a\u200bb", "\ud800", "x".repeat(256), "\u00a0a"].map(
              (name) => [secrets, { name }, ["Refinement name"]] as const
            ),
            [secrets, "[]", ["Type "]],
            [secrets, "null", ["Type "]],
            ["/vault/assignments", { ...bulk, value: 1 }, ["Type value"]],
            ["/vault/assignments", bulk, ["Missing value"]],
            ["/vault/assignments", { ...bulk, products: [], value: null }, ["Refinement products"]],
            ["/vault/assignments", { ...bulk, environments: [], value: null }, ["Refinement environments"]],
            ["/vault/assignments", { ...bulk, value: null, reveal: true }, ["Unexpected reveal"]],
            ["/vault/generations", bulk, ["Missing generator"]],
            ["/vault/generations", { ...bulk, generator: { type: "none" } }, ["Type generator"]],
            ["/vault/generations", { ...bulk, generator: { type: "uuid", bytes: 16 } }, ["Unexpected generator.bytes"]],
            [
              "/vault/generations",
              { ...bulk, generator: { type: "token", bytes: 15, encoding: "hex" } },
              ["Refinement generator.bytes"]
            ],
            [
              "/vault/generations",
              { ...bulk, generator: { type: "token", bytes: 513, encoding: "base32" } },
              ["Refinement generator.bytes", "Type generator.encoding"]
            ],
            ["/vault/generations", { ...bulk, generator: { ...password, length: 7 } }, ["Refinement generator.length"]],
            [
              "/vault/generations",
              { ...bulk, generator: { ...password, length: 257 } },
              ["Refinement generator.length"]
            ],
            [
              "/vault/generations",
              { ...bulk, generator: { ...password, length: 8.5 } },
              ["Refinement generator.length"]
            ],
            ["/vault/generations", { ...bulk, generator: { ...password, digits: 1 } }, ["Type generator.digits"]]
          ]
          for (const [path, body, expected] of cases) {
            const answer = yield* call("POST", path, body)
            const detail = `${JSON.stringify(body).slice(0, 80)}: ${JSON.stringify(answer.body)}`
            assert.strictEqual(answer.status, 400, detail)
            assert.strictEqual(answer.body._tag, "HttpApiDecodeError", detail)
            assert.isString(answer.body.message)
            const issues: ReadonlyArray<{ _tag: string; path: ReadonlyArray<string> }> = answer.body.issues
            assert.isEmpty(
              expected.filter((one) => !issues.some(({ _tag, path }) => `${_tag} ${path.join(".")}` === one)),
              detail
            )
            assert.notInclude(JSON.stringify(answer.body), "s3cr3t")
          }
          const versions = { expectedVersions: { staging: -1, ci: 1.5 } }
          const patched = yield* call("PATCH", `${secrets}/N`, versions)
          assert.deepStrictEqual(
            patched.body.issues.map((issue) => issue.path.join(".")),
            ["expectedVersions.staging", "expectedVersions.ci"]
          )
          // What the schema allows and a rule does not is InvalidInput.
          const none = { ...password, lowercase: false, uppercase: false, digits: false, symbols: false }
          const noClass = yield* call("POST", "/vault/generations", { ...bulk, generator: none })
          assert.deepStrictEqual([noClass.status, noClass.body._tag], [400, "InvalidInput"])
          const many = Array.from({ length: 1_001 }, (_, index) => `p${index}`)
          const tooMany = yield* call("POST", "/vault/assignments", { ...bulk, products: many, value: null })
          assert.deepStrictEqual([tooMany.status, tooMany.body._tag], [400, "InvalidInput"])
          const others = yield* call("POST", "/products", { slug: "x y" })
          assert.strictEqual(others.body._tag, "InvalidInput")
        })
      )

      it.effect("accepts names, keys and values that are special in JavaScript or SQL", () =>
        Effect.gen(function* () {
          yield* call("POST", "/products", { slug: "shop", name: "Shop", type: "library" })
          yield* call("POST", "/environments", { slug: "constructor", name: "Constructor", class: "non-production" })
          for (const name of ["constructor", "__proto__", "a'; drop table secrets; --", "%2F", "Ünï 🚀", "?#&"]) {
            const made = yield* call("POST", secrets, { name, values: { constructor: name } })
            assert.strictEqual(made.status, 201, JSON.stringify(made.body))
            const read = yield* call("GET", `${secrets}/${encodeURIComponent(name)}`)
            const environment = read.body.environments.find((one) => one.environment.slug === "constructor")
            assert.deepStrictEqual([read.body.name, environment?.value], [name, name])
          }
          const proto = yield* call("POST", secrets, `{"name":"P","values":{"__proto__":"x"}}`)
          assert.deepStrictEqual([proto.status, proto.body._tag], [404, "NotFound"])
        })
      )
    })
  })
}
