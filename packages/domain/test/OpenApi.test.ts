import { DeliveryApi } from "@delivery/domain/Api"
import { RequiredScope } from "@delivery/domain/Endpoint"
import { Scope } from "@delivery/domain/Scope"
import { NoStore } from "@delivery/domain/NoStore"
import { transform } from "@delivery/domain/OpenApi"
import { assert, describe, it } from "@effect/vitest"
import { Context, Result, Schema } from "effect"
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The document as `/openapi.json` and `/docs` show it. */

interface Media {
  readonly schema: object
  readonly example?: unknown
  readonly examples?: Record<string, { readonly value: unknown }>
}

interface Response {
  readonly description: string
  readonly headers: Record<string, object>
  readonly content?: Record<string, Media>
}

type Operation = Omit<OpenApi.OpenAPISpecOperation, "responses" | "requestBody"> & {
  readonly requestBody?: { readonly content: Record<string, Media> }
  readonly responses: Record<string, Response>
}

const document = OpenApi.fromApi(DeliveryApi)

const operations = new Map<string, Operation>(
  Object.values(document.paths).flatMap((path) =>
    Object.values(path).map((operation) => [(operation as Operation).operationId, operation as Operation])
  )
)

/** Every operation of the document with the endpoint that it describes. */
const endpoints = (() => {
  type Reflected = Parameters<Parameters<typeof HttpApi.reflect>[1]["onEndpoint"]>[0]
  const found: Array<Reflected & { readonly name: string; readonly operation: Operation | undefined }> = []
  HttpApi.reflect(DeliveryApi, {
    onGroup: () => {},
    onEndpoint: (reflected) => {
      const name = `${reflected.group.identifier}.${reflected.endpoint.identifier}`
      found.push({ ...reflected, name, operation: operations.get(name) })
    }
  })
  return found
})()

const root = join(import.meta.dirname, "../../..")
const require = createRequire(import.meta.url)

/** What Redocly's command line finds in a document, as `rule at place: message`. */
const lint = async (text: string): Promise<ReadonlyArray<string>> => {
  const folder = await mkdtemp(join(tmpdir(), "delivery-openapi-"))
  try {
    const file = join(folder, "openapi.json")
    await writeFile(file, text)
    const cli = require.resolve("@redocly/cli/bin/cli.js")
    const args = [cli, "lint", file, "--config", join(root, "redocly.yaml"), "--format", "json"]
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
    const output = await new Promise<string>((resolve, reject) =>
      execFile(process.execPath, args, { env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
        // It ends with 1 where it finds something, and prints what it found.
        stdout === "" ? reject(error ?? new Error(stderr)) : resolve(stdout)
      )
    )
    const { problems } = JSON.parse(output) as {
      problems: ReadonlyArray<{ ruleId: string; message: string; location: ReadonlyArray<{ pointer: string }> }>
    }
    return problems.map(({ location, message, ruleId }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const examplesOf = (media: Media): ReadonlyArray<unknown> =>
  media.examples === undefined
    ? media.example === undefined
      ? []
      : [media.example]
    : Object.values(media.examples).map(({ value }) => value)

/** What is wrong with the examples of a body that one of the schemas must decode. */
const undecodable = (
  place: string,
  content: Record<string, Media> | undefined,
  schemas: ReadonlyArray<Schema.Top>
): ReadonlyArray<string> => {
  const media = content?.["application/json"]
  if (media === undefined) return []
  const decode = Schema.decodeUnknownResult(Schema.Union(schemas) as unknown as Schema.Codec<unknown>, {
    errors: "all",
    onExcessProperty: "error"
  })
  return examplesOf(media).flatMap((example) => {
    const result = decode(example)
    return Result.isFailure(result) ? [`${place}: ${result.failure}`] : []
  })
}

describe("the API description", () => {
  it("has no findings in Redocly's recommended-strict", async () => {
    assert.deepStrictEqual(await lint(JSON.stringify(document)), [])
  })

  it("has no answer with a secret that a cache may keep", () => {
    const secret = /^(?:secret|token|apiKey|url|value|access_?token|refresh_?token)$/i
    const hasSecret = (value: unknown): boolean =>
      Array.isArray(value)
        ? value.some(hasSecret)
        : typeof value === "object" &&
          value !== null &&
          Object.entries(value).some(([key, child]) => (secret.test(key) && isToken(child)) || hasSecret(child))
    const isToken = (value: unknown) => typeof value === "string" && /\b(?:[a-z]tk_|whsec_)/.test(value)
    const answering = endpoints.filter(({ operation }) =>
      Object.entries(operation!.responses).some(
        ([status, { content }]) =>
          status.startsWith("2") && Object.values(content ?? {}).some((media) => examplesOf(media).some(hasSecret))
      )
    )
    assert.includeMembers(
      answering.map(({ name }) => name),
      [
        "accountApiKeys.create",
        "apiKeys.create",
        "deploymentTokens.create",
        "deploymentTokens.rotate",
        "invites.accept",
        "invites.create",
        "testRuns.start",
        "retries.start",
        "webhooks.create",
        "webhooks.rotate"
      ]
    )
    const kept = answering.filter(({ endpoint }) => !(endpoint as HttpApiEndpoint.Top).middlewares.has(NoStore))
    assert.deepStrictEqual(
      kept.map(({ name }) => name),
      []
    )
  })

  it("is checked by a linter that finds errors", async () => {
    const { servers: _, ...broken } = document
    assert.lengthOf(await lint(JSON.stringify(broken)), 1)
  })

  it("describes every endpoint and nothing else", () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
    )
    const served = endpoints.map(({ endpoint }) => `${endpoint.method} ${endpoint.path.replaceAll(/:(\w+)/g, "{$1}")}`)
    assert.sameMembers(described, served)
    assert.strictEqual(operations.size, endpoints.length, "an operationId is used twice")
  })

  it("describes what every operation does", () => {
    for (const { name, operation } of endpoints) {
      assert.isAtLeast(operation?.summary?.length ?? 0, 8, `${name}: summary`)
      assert.match(operation?.summary ?? "", /^[A-Z].*[^.]$/, `${name}: summary`)
      assert.isAtLeast(operation?.description?.length ?? 0, 16, `${name}: description`)
      assert.match(operation?.description ?? "", /^[A-Z0-9].*[.]$/s, `${name}: description`)
    }
  })

  it("describes what every operation answers, if only by a redirect", () => {
    for (const { name, operation } of endpoints) {
      const answers = Object.keys(operation?.responses ?? {}).filter((status) => /^[23]/.test(status))
      assert.isNotEmpty(answers, name)
      if (!answers.some((status) => status.startsWith("2"))) {
        for (const status of answers) assert.property(operation?.responses[status]?.headers, "Location", name)
      }
    }
  })

  it("shows the scope of every operation, as its endpoint has it", () => {
    for (const { mergedAnnotations, name, operation } of endpoints) {
      const scope = Context.get(mergedAnnotations, RequiredScope)
      assert.oneOf(scope, [...Scope.literals], name)
      assert.strictEqual((operation as unknown as Record<string, unknown>)["x-scope"], scope, name)
    }
  })

  it("has an example for every body", () => {
    const missing = endpoints.flatMap(({ name, operation }) =>
      [["request", operation?.requestBody] as const, ...Object.entries(operation?.responses ?? {})].flatMap(
        ([place, body]) =>
          Object.values(body?.content ?? {}).flatMap((media) =>
            examplesOf(media).length === 0 ? [`${name} ${place}`] : []
          )
      )
    )
    assert.deepStrictEqual(missing, [])
  })

  it("has only examples that the service's own schemas decode", () => {
    const wrong = endpoints.flatMap(({ endpoint, errors, name, operation, successes }) => [
      ...undecodable(
        `${name} request`,
        operation?.requestBody?.content,
        [...endpoint.payload.values()].flatMap(({ schemas }) => schemas).filter(Schema.isSchema)
      ),
      ...[...successes, ...errors].flatMap(([status, schemas]) =>
        undecodable(`${name} ${status}`, operation?.responses[status]?.content, schemas)
      )
    ])
    assert.deepStrictEqual(wrong, [])
  })

  it("names components with clean words, and describes each", () => {
    const schemas = Object.entries(document.components.schemas)
    assert.isAbove(schemas.length, 50)
    for (const [name, schema] of schemas) {
      assert.match(name, /^[A-Z][A-Za-z]*$/)
      assert.notMatch(name, /Encoded$/)
      assert.isString(schema["description"], name)
    }
    assert.notInclude(JSON.stringify(document), "x-effect")
  })

  it("names the reasons of every 409", () => {
    for (const { name, operation } of endpoints) {
      const media = operation?.responses[409]?.content?.["application/json"]
      if (media !== undefined) assert.isNotEmpty(Object.keys(media.examples ?? {}), name)
    }
  })

  it("requires a key, except where the caller cannot have one yet", () => {
    const open = endpoints.filter(({ operation }) => operation?.security.length === 0).map(({ name }) => name)
    assert.sameMembers(open, [
      "auth.methods",
      "auth.askForLink",
      "auth.consumeLink",
      "auth.acceptInvite",
      "auth.previewInvite",
      "authorizations.client",
      "logins.start",
      "logins.program",
      "logins.redeem",
      "auth.signOut",
      "auth.passkeySignInOptions",
      "auth.signInWithPasskey",
      "tokens.exchange",
      "tokens.report",
      "auth.startSingleSignOn",
      "auth.finishSingleSignOn",
      "oauth.authorizationServer",
      "oauth.protectedResource",
      "oauth.mcpProtectedResource",
      "oauth.authorize",
      "oauth.token",
      "oauth.revoke",
      "oauth.register",
      "system.health",
      "system.ready",
      "system.jwks"
    ])
    const agent = [{ agentToken: [] }]
    const others: Record<string, ReadonlyArray<object>> = {
      auth: [{ session: [] }],
      authorizations: [{ session: [] }],
      logins: [{ session: [] }],
      deploy: [{ deploymentToken: [] }],
      leases: [{ runToken: [] }],
      agent,
      agentInbox: agent,
      agentPlanning: agent
    }
    for (const { name, operation } of endpoints) {
      if (open.includes(name)) continue
      const credentials = [{ bearer: [] }, { apiKey: [] }, { session: [] }]
      const expected = name === "invites.accept" ? [{}, ...credentials] : (others[name.split(".")[0]!] ?? credentials)
      assert.deepStrictEqual(operation?.security, expected, name)
      assert.property(operation?.responses[401]?.headers, "WWW-Authenticate", name)
    }
  })

  it("documents the answer of a rate limit for every operation", () => {
    for (const { name, operation } of endpoints) {
      const refused = operation?.responses[429]
      assert.containsAllKeys(refused?.headers, ["Retry-After", "RateLimit-Policy", "RateLimit"], name)
    }
  })

  it("documents what handlers answer themselves", () => {
    const responses = operations.get("testRuns.download")?.responses ?? {}
    assert.containsAllKeys(responses, ["200", "206", "304", "416"])
    for (const status of ["200", "206", "304", "416"]) assert.property(responses[status]?.headers, "ETag", status)
    for (const status of ["206", "416"]) assert.property(responses[status]?.headers, "Content-Range", status)
  })

  it("documents numbers in paths and queries as numbers", () => {
    const numbers = [...operations.values()].flatMap(({ operationId, parameters }) =>
      // The cursors of approvals, of the audit and of deliveries are ids, those of cases are titles, those of notifications times with ids.
      parameters.filter(
        ({ name }) =>
          name === "run" ||
          (name === "cursor" &&
            !["approvals.list", "audit.list", "cases.list", "webhooks.deliveries", "ticketNotifications.list"].includes(
              operationId
            ))
      )
    )
    assert.isNotEmpty(numbers)
    for (const { schema } of numbers) {
      assert.deepStrictEqual(schema, { type: "integer", format: "int32", minimum: 1 })
    }
  })

  it("closes only the bodies that reject unknown properties", () => {
    const closedIn = Object.entries(document.components.schemas).filter(([, schema]) =>
      JSON.stringify(schema).includes(`"additionalProperties":false`)
    )
    assert.sameMembers(
      closedIn.map(([name]) => name),
      ["CreateSecret", "UpdateSecret", "AssignSecret", "GenerateSecret", "Generator"]
    )

    const ref = (name: string) => ({ "application/json": { schema: { $ref: `#/components/schemas/${name}` } } })
    const object = (properties: object) => ({ type: "object", properties, additionalProperties: false })
    const operation = (error: string) => ({
      parameters: [],
      requestBody: { content: ref(`Body${error}`) },
      responses: {
        200: { description: "Done.", content: ref("Answer") },
        400: { description: "", content: ref(error) }
      }
    })
    const { components } = transform({
      paths: { "/open": { post: operation("InvalidInput") }, "/closed": { post: operation("HttpApiDecodeError") } },
      components: {
        schemas: {
          Answer: object({}),
          BodyInvalidInput: object({}),
          BodyHttpApiDecodeError: object({ part: { $ref: "#/components/schemas/Part" } }),
          Part: object({}),
          InvalidInput: object({}),
          HttpApiDecodeErrorEncoded: object({})
        }
      }
    }) as { components: { schemas: Record<string, { additionalProperties?: boolean }> } }
    const closed = Object.entries(components.schemas).filter(([, schema]) => schema.additionalProperties === false)
    assert.sameMembers(
      closed.map(([name]) => name),
      ["BodyHttpApiDecodeError", "Part"]
    )
  })
})
