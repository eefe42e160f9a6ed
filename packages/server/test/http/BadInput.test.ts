import { DeliveryApi } from "@delivery/domain/Api"
import { SessionAuthorization } from "@delivery/domain/auth/SessionAuthorization"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import fc from "fast-check"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { type Answer, type Http, http, registerAgent, startRun, unique } from "../support/Http.ts"
import { servers } from "../support/Servers.ts"

/** Wrong bodies, queries, paths and headers for every endpoint: never a fault, always the contract's error body. */

interface Target {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly example: unknown
  readonly isOpen: boolean
  /** Its bodies are forms, its errors those of RFC 6749. */
  readonly isOAuth: boolean
}

const targets: ReadonlyArray<Target> = (() => {
  const found: Array<Target> = []
  HttpApi.reflect(DeliveryApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { method, path } = endpoint as HttpApiEndpoint.Top
      const [payload] = [...(endpoint as HttpApiEndpoint.Top).payload.values()]
      const examples = payload?.schemas[0].ast.annotations?.["examples"] as ReadonlyArray<unknown> | undefined
      found.push({
        name: `${group.identifier}.${endpoint.identifier}`,
        method,
        path,
        example: examples?.[0],
        isOpen:
          ["system", "oauth"].includes(group.identifier) ||
          path === "/v1/invites/accept" ||
          path === "/v1/tokens/report" ||
          path === "/v1/token-exchange" ||
          (["auth", "authorizations", "logins"].includes(group.identifier) &&
            !endpoint.middlewares.has(SessionAuthorization)),
        isOAuth: path.startsWith("/agent/oauth/")
      })
    }
  })
  return found
})()

const tags: Record<number, ReadonlyArray<string>> = {
  400: ["InvalidInput"],
  401: ["Unauthorized"],
  403: ["Forbidden"],
  404: ["NotFound"],
  409: ["Conflict"],
  416: ["InvalidInput"],
  429: ["TooManyRequests"],
  503: ["Unavailable"]
}

const assertContract = (target: Target, answer: Answer) => {
  const detail = `${target.name}: ${answer.status} ${answer.text.slice(0, 300)}`
  assert.isBelow(answer.status, 500, detail)
  assert.match(String(answer.headers["x-request-id"]), /^[A-Za-z0-9_-]{8,64}$/, detail)
  if (answer.status < 400) return
  assert.match(String(answer.headers["content-type"]), /^application\/json/, detail)
  if (target.isOAuth) {
    const body = answer.body as { error: unknown; error_description: unknown }
    assert.strictEqual(answer.status, 400, detail)
    assert.match(String(body.error), /^[a-z]+(_[a-z]+)*$/, detail)
    assert.isString(body.error_description, detail)
    return
  }
  const body = answer.body as { _tag: string; message: unknown; issues?: unknown; reason?: unknown }
  const strict = target.name.startsWith("vault.") && answer.status === 400 ? ["HttpApiDecodeError"] : []
  assert.include([...(tags[answer.status] ?? []), ...strict], body._tag, detail)
  assert.isString(body.message, detail)
  if (answer.status === 400) assert.isArray(body.issues, detail)
  if (body._tag === "Conflict") assert.match(String(body.reason), /^[a-z]+(_[a-z]+)*$/, detail)
}

const unusualValue = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\uD800",
  "𐀀".repeat(40),
  "x".repeat(70_000),
  "../../etc/passwd",
  "'; drop table persons; --",
  "%00",
  "2026-02-30T00:00:00.000Z",
  "-271821-04-20T00:00:00.000Z",
  "http://",
  "javascript:alert(1)",
  [],
  {},
  [null],
  { __proto__: null },
  { toString: 1 }
)
const anyValue = fc.oneof({ weight: 3, arbitrary: unusualValue }, { weight: 1, arbitrary: fc.jsonValue() })

/** The value with the one at a place replaced, removed, or joined by another. */
const mutate = (value: unknown, steps: ReadonlyArray<number>, by: unknown, mode: number): unknown => {
  const [step, ...rest] = steps
  if (step === undefined || typeof value !== "object" || value === null) return by
  const copy: Record<string, unknown> | Array<unknown> = Array.isArray(value) ? [...value] : { ...value }
  const keys = Object.keys(copy)
  if (keys.length === 0) return by
  const key = keys[step % keys.length]! as keyof typeof copy
  if (rest.length === 0 && mode === 0) {
    if (Array.isArray(copy)) copy.splice(Number(key), 1)
    else delete copy[key]
  } else if (rest.length === 0 && mode === 1) (copy as Record<string, unknown>)[`${String(key)}2`] = by
  else copy[key] = mutate(copy[key], rest, by, mode) as never
  return copy
}

const bodyOf = (example: unknown): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }), anyValue, fc.nat(3))
        .map(([steps, by, mode]) => JSON.stringify(mutate(example ?? {}, steps, by, mode)))
    },
    { weight: 2, arbitrary: anyValue.map((value) => JSON.stringify(value)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        undefined,
        "",
        "{",
        "nul",
        '"\\ud800"',
        '{"slug":"a","slug":"b"}',
        "[".repeat(20_000),
        "1e999",
        "\u0000",
        '{"a":"\\u0000"}'
      )
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 50 }) }
  )

/** A form with fields replaced, removed, repeated or added. */
const formOf = (example: unknown): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .array(
          fc.tuple(
            fc.constantFrom(...Object.keys(example ?? {}), "scope", "resource", "x"),
            fc.oneof(
              fc.constantFrom("", "refresh_token", "read", "read write", "\u0000", "rtk_", "atk_".padEnd(46, "0")),
              fc.string({ maxLength: 50 })
            )
          ),
          { maxLength: 3 }
        )
        .map((pairs) => {
          const fields = new URLSearchParams(example as Record<string, string>)
          for (const [index, [name, value]] of pairs.entries()) {
            if (index === 2) fields.append(name, value)
            else if (value === "") fields.delete(name)
            else fields.set(name, value)
          }
          return fields.toString()
        })
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 50 }) },
    { weight: 1, arbitrary: fc.constantFrom(undefined, "", "&&", "=", "%", "%ff=%ff", "a".repeat(1_100_000)) }
  )

const pathPart = fc.oneof(
  fc.constantFrom(
    "main",
    "shop",
    "ci",
    "1",
    "0",
    "-1",
    "01",
    "1e3",
    "2147483648",
    "99999999999999999999",
    "%00",
    "%2F",
    "%zz",
    "%ff",
    "..%2f..",
    "0197a1b2-0000-7000-8000-000000000001",
    "a".repeat(600)
  ),
  fc.string({ minLength: 1, maxLength: 12 }).map(encodeURIComponent)
)

const query = fc.oneof(
  { weight: 2, arbitrary: fc.constant("") },
  {
    weight: 3,
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom(
            "archived",
            "person",
            "team",
            "project",
            "owner",
            "category",
            "product",
            "environment",
            "state",
            "result",
            "q",
            "commit",
            "mine",
            "screen",
            "latest",
            "cursor",
            "x"
          ),
          fc.constantFrom(
            "",
            "1",
            "0",
            "-1",
            "1.5",
            "1e9",
            "99999999999",
            "NaN",
            "true",
            "only",
            "%00",
            "%",
            "%ff",
            "a%20b",
            "main",
            "flaky"
          )
        ),
        { minLength: 1, maxLength: 3 }
      )
      .map((pairs) => `?${pairs.map(([key, value]) => `${key}=${value}`).join("&")}`)
  },
  { weight: 1, arbitrary: fc.constantFrom("?", "??", "?=", "?&&", "?cursor", "?cursor[]=1", "?cursor=1&cursor=2") }
)

const headers = (apiKey: string, contentType: string) =>
  fc.record(
    {
      authorization: fc.oneof(
        { weight: 6, arbitrary: fc.constant(`Bearer ${apiKey}`) },
        { weight: 1, arbitrary: fc.constantFrom("Bearer", "Bearer x", "Basic YTpi", `Bearer ${apiKey}x`, apiKey) }
      ),
      "content-type": fc.oneof(
        { weight: 4, arbitrary: fc.constant(contentType) },
        {
          weight: 1,
          arbitrary: fc.constantFrom("text/plain", "application/json; charset=utf-16", "multipart/form-data", ";", "x")
        }
      ),
      range: fc.constantFrom("bytes=0-", "bytes=5-1", "bytes=-", "bytes=a-b", "x", "bytes=0-1,3-4"),
      "if-none-match": fc.constantFrom("*", '"', "x"),
      "x-request-id": fc.constantFrom("", "short", "a".repeat(65), "kept-id-12345", "bad id with spaces"),
      "x-api-key": fc.constantFrom(apiKey, "other")
    },
    { requiredKeys: ["authorization", "content-type"] }
  )

const workspaceId = async (baseUrl: string, key: string): Promise<string> => {
  const { text } = await http(baseUrl, key, "main").send("GET", "/v1/workspaces")
  return (JSON.parse(text) as { readonly workspaces: ReadonlyArray<{ readonly id: string }> }).workspaces[0]!.id
}

/** Of a deployment of its own: nonsense may have changed any other. */
const runToken = async (owner: Http): Promise<string> => {
  const [product, environment] = [unique("shop"), unique("staging")]
  await owner.post("products", { slug: product, name: "Shop", type: "library" })
  await owner.post("environments", { slug: environment, name: "Staging", class: "non-production" })
  await owner.post("deployments", { product, environment })
  return (await startRun(owner, { product, environment })).semaphores.token
}

for (const [name, server] of servers) {
  describe(`bad input on ${name}`, () => {
    layer(server())((it) => {
      for (const target of targets) {
        it.effect(`${target.name} answers every nonsense in the contract's form`, () =>
          Effect.gen(function* () {
            const { apiKey, baseUrl } = yield* DeliveryServer
            const isOfRun = target.name.startsWith("leases.")
            // By its id: nonsense may change the slug.
            const workspace = yield* Effect.promise(() => workspaceId(baseUrl, Redacted.value(apiKey)))
            const owner = http(baseUrl, Redacted.value(apiKey), workspace)
            const anyone = owner.as(undefined)
            const key = isOfRun
              ? yield* Effect.promise(() => runToken(owner))
              : target.name.startsWith("agent.")
                ? (yield* Effect.promise(() => registerAgent(owner))).access_token
                : Redacted.value(apiKey)
            const parts = target.path.split("/")
            // The token is of one workspace, and no call waits.
            const partOf = (part: string) =>
              isOfRun && part === ":slug" ? fc.constant(workspace) : part.startsWith(":") ? pathPart : fc.constant(part)
            const example =
              isOfRun && "capacity" in Object(target.example) ? { capacity: 1, waitMs: 0 } : target.example
            const [contentType, body] = target.isOAuth
              ? ["application/x-www-form-urlencoded", formOf(example)]
              : ["application/json", bodyOf(example)]
            const paths = fc.tuple(...parts.map(partOf)).map((values) => values.join("/"))
            yield* Effect.promise(() =>
              fc.assert(
                fc.asyncProperty(paths, query, headers(key, contentType), body, async (path, query, headers, body) => {
                  const answer = await anyone.send(target.method, path + query, { headers, body })
                  assertContract(target, answer)
                  const id = headers["x-request-id"]
                  if (id !== undefined && /^[A-Za-z0-9_-]{8,64}$/.test(id)) {
                    assert.strictEqual(answer.headers["x-request-id"], id)
                  }
                  if (!target.isOpen && headers.authorization !== `Bearer ${key}`) {
                    assert.oneOf(answer.status, [401, 404])
                  }
                }),
                { numRuns: 40, interruptAfterTimeLimit: 20_000 }
              )
            )
          })
        )
      }

      it.effect("still serves requests afterwards", () =>
        Effect.gen(function* () {
          const { apiKey, baseUrl } = yield* DeliveryServer
          const answer = yield* Effect.promise(() =>
            http(baseUrl, Redacted.value(apiKey), "main").send("GET", "/v1/me")
          )
          assert.strictEqual(answer.status, 200)
        })
      )
    })
  })
}
