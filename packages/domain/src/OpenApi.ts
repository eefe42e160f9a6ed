import type { JsonSchema } from "effect"
import type { OpenApi } from "effect/http-api"

/**
 * Finishes the document that `OpenApi.fromApi` generates from the API, for people and for tools. Pure; it knows the
 * conventions of the service (docs/contract.md, Conventions) and no group, so a new group needs nothing here.
 */
export const transform = (generated: Record<string, unknown>): Record<string, unknown> => {
  const spec = readable(generated as unknown as OpenApi.OpenAPISpec)
  const schemas = { ...spec.components.schemas }
  for (const operation of operationsOf(spec)) {
    operation.parameters = operation.parameters.map(finishedParameter)
    if (operation.requestBody !== undefined) addExamples(operation.requestBody.content, schemas)
    for (const [status, response] of Object.entries(operation.responses)) {
      response.headers = { ...response.headers, ...commonHeaders(status) }
      addExamples(response.content, schemas)
      describeError(response, schemas)
    }
  }
  return { ...spec, components: { ...spec.components, schemas, headers: sharedHeaders } }
}

/** The head of the document: what holds for every operation. */
export const overview = `How a team ships: secrets, deployments, projects, test runs, semaphores and coding agents.

## Authentication

Send an API key (\`ctk_...\`) as \`Authorization: Bearer <key>\` or as \`X-API-Key: <key>\`. Both at once must be equal. \
Every operation needs a key unless it says otherwise. A key acts as its person, with their role in each workspace; an \
account API key acts for nobody, in one workspace, with a role of its own. Each role may do what those before it may: \
\`viewer\` reads, \`member\` changes and publishes, \`admin\` manages, \`owner\` also manages owners.

A coding agent has an access token (\`atk_...\`), which registering it answers, for what begins with \`/agent/v1\` and \
for \`/agent/mcp\`: it acts as its member, with their present role. Keys are none there, and access tokens none \
elsewhere.

## Conventions

- **Ids** are UUIDv7 strings made by the server. Where a path, body or query names a workspace, product or \
environment, its slug and its id both do. A slug never has the form of an id, so the two cannot be confused.
- **Timestamps** are UTC with milliseconds, \`2026-11-21T09:30:00.000Z\`. \`updatedAt\` moves on every change.
- **Lists** are complete and in one fixed order, except where an operation says how many it gives. "By name" ignores \
case and compares numbers as numbers; equal names are ordered by code units, then by id.
- **PATCH** changes only the fields sent; \`null\` clears a field that may be null.
- **Actions** that find the object already so (archive, restore) change nothing and answer 200.
- **Text** holds no NUL character and no lone surrogate. Names are trimmed, never empty, and stand on one line. \
Lengths count characters, which are Unicode code points. Bodies are UTF-8.
- **Unknown properties** of a body are ignored, except by the vault, which rejects them. Answers may gain properties: \
ignore those that you do not know.
- **Bodies** are \`application/json\`, at most 1 MiB unless the operation says otherwise.
- **Request ids**: every response carries \`x-request-id\`. One that you send (8 to 64 letters, digits, \`_\` or \`-\`) \
is kept.

## Errors

Every error is JSON with \`_tag\` and \`message\`, from an unknown path to a server failure. \`reason\` is a stable \
word that tells causes of one status apart; act on it, not on the message.

| Status | \`_tag\` | Meaning |
|---|---|---|
| 400 | \`InvalidInput\` | The request is malformed or a value is not allowed; \`issues\` says where. |
| 400 | \`HttpApiDecodeError\` | The vault alone: the body does not match its schema; \`issues\` says where and how. |
| 401 | \`Unauthorized\` | No valid API key. |
| 403 | \`Forbidden\` | The key's user or role may not do this. |
| 404 | \`NotFound\` | Absent, or invisible to the caller: the two answer alike. |
| 409 | \`Conflict\` | The change conflicts with current data. |
| 408, 417, 431 | \`InvalidInput\` | The request came too slowly, expects what the server does not do, or has too \
large headers. |
| 429 | \`TooManyRequests\` | The server's rate limit: see below. |
| 500 | \`Internal\` | A server failure, or a request that took too long (two minutes, unless the server is set up \
otherwise); retry, or report the \`requestId\`. To a write it does not say whether it happened. |

The OAuth endpoints alone answer errors in the form of RFC 6749.

They are checked in this order: 401, 400 for the form of the request, 404 for the workspace, 403, 404 for the object, \
400 for rules that need the stored objects, 409.

## Rate limits

A server may limit the requests of a key, and those of an address that sends no valid key; by default none does. Where it \
does, every answer carries \`RateLimit-Policy: "default";q=600;w=60\` (600 requests in 60 seconds) and \
\`RateLimit: "default";r=598;t=1\` (598 left, all of them again in 1 second), as the IETF's draft names them. Above the \
limit any request is answered with 429 and \`Retry-After\` in seconds, before anything else is checked.

## Versions

The path prefix \`/v1\` is the version of the interface. What it answers is added to, never taken from.`

type Schemas = Record<string, JsonSchema.JsonSchema>
type Content = Record<string, OpenApi.OpenApiSpecMediaType & { example?: unknown; examples?: unknown }>

const refPrefix = "#/components/schemas/"

/** Error classes describe themselves; what travels is generated as `ConflictEncoded`, which is nobody's word for it. */
const publicName = (name: string): string => name.replace(/Encoded$/, "")

/** The document with its components under public names and without what only the generator means. */
const readable = (generated: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  const closed = closedComponents(generated)
  const clean = <A>(node: A, isClosed: boolean): A => mapObjects(node, (object) => cleanSchema(object, isClosed)) as A
  const { schemas, ...components } = generated.components
  return {
    ...clean({ ...generated, components }, false),
    components: {
      ...components,
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [publicName(name), clean(schema, closed.has(name))])
      )
    }
  }
}

const cleanSchema = (object: Record<string, unknown>, isClosed: boolean): Record<string, unknown> => {
  const { "x-effect-stream": _, ...out } = object
  if (typeof out["$ref"] === "string") out["$ref"] = publicName(out["$ref"])
  // The generator closes every object, while the service ignores what it does not know and may answer more.
  if (out["additionalProperties"] === false && !isClosed) delete out["additionalProperties"]
  // Every JSON integer is between these.
  if (out["minimum"] === Number.MIN_SAFE_INTEGER) delete out["minimum"]
  if (out["maximum"] === Number.MAX_SAFE_INTEGER) delete out["maximum"]
  return out
}

/** What the bodies that reject unknown properties are made of: those whose operation answers `HttpApiDecodeError`. */
const closedComponents = (spec: OpenApi.OpenAPISpec): ReadonlySet<string> => {
  const names = new Set<string>()
  const collect = (node: unknown): unknown =>
    mapObjects(node, (object) => {
      const name = refName(object)
      if (name !== undefined && !names.has(name)) {
        names.add(name)
        collect(spec.components.schemas[name])
      }
      return object
    })
  for (const operation of operationsOf(spec)) {
    if (JSON.stringify(operation.responses[400]?.content ?? {}).includes("HttpApiDecodeError")) {
      collect(operation.requestBody)
    }
  }
  return names
}

const operationsOf = (spec: OpenApi.OpenAPISpec): ReadonlyArray<OpenApi.OpenAPISpecOperation> =>
  Object.values(spec.paths).flatMap((path) => Object.values(path) as Array<OpenApi.OpenAPISpecOperation>)

/** Readers and tools look for these beside the name, not in the schema. Numbers are text on the wire, not in the API. */
const finishedParameter = (parameter: OpenApi.OpenAPISpecParameter): OpenApi.OpenAPISpecParameter => {
  const { description, examples, ...schema } = parameter.schema as JsonSchema.JsonSchema
  const isNumber = schema["format"] === "int32"
  return {
    ...parameter,
    ...(typeof description === "string" ? { description } : {}),
    ...(Array.isArray(examples) ? { example: isNumber ? Number(examples[0]) : examples[0] } : {}),
    schema: isNumber ? { ...schema, type: "integer", minimum: 1 } : schema
  }
}

const sharedHeaders = {
  RequestId: {
    description: "Names the request in the server's log.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_-]{8,64}$" },
    example: "8c5f2b1e-7a5d-4b8e-9d55-0c6a3f1f2e10"
  },
  Challenge: {
    description: "How to authenticate (RFC 9110, section 11.6.1).",
    schema: { type: "string" },
    example: "Bearer"
  },
  RetryAfter: {
    description: "Seconds after which the next request is taken.",
    schema: { type: "integer", minimum: 1 },
    example: 2
  },
  RateLimitPolicy: {
    description: "How many requests (`q`) in how many seconds (`w`).",
    schema: { type: "string" },
    example: '"default";q=600;w=60'
  },
  RateLimit: {
    description: "How many requests are left (`r`), and in how many seconds all are had again (`t`).",
    schema: { type: "string" },
    example: '"default";r=0;t=60'
  }
}

const sharedHeader = (name: keyof typeof sharedHeaders) =>
  ({ $ref: `#/components/headers/${name}` }) as unknown as OpenApi.OpenAPISpecHeader

/** The headers that a response has for its status alone. */
const commonHeaders = (status: string) => ({
  "x-request-id": sharedHeader("RequestId"),
  ...(status === "401" ? { "WWW-Authenticate": sharedHeader("Challenge") } : {}),
  ...(status === "429"
    ? {
        "Retry-After": sharedHeader("RetryAfter"),
        "RateLimit-Policy": sharedHeader("RateLimitPolicy"),
        RateLimit: sharedHeader("RateLimit")
      }
    : {})
})

const addExamples = (content: Content | undefined, schemas: Schemas): void => {
  for (const media of Object.values(content ?? {})) {
    if (media.example !== undefined || media.examples !== undefined) continue
    const example = exampleOf(media.schema, schemas)
    if (example !== undefined) media.example = example
  }
}

/** The encoded form of an error class has lost the description that its response still carries, beside others'. */
const describeError = (response: OpenApi.OpenApiSpecResponse, schemas: Schemas): void => {
  for (const media of Object.values(response.content ?? {})) {
    const parts = Array.isArray(media.schema["anyOf"]) ? (media.schema["anyOf"] as Array<JsonSchema.JsonSchema>) : []
    const names = (parts.length === 0 ? [media.schema] : parts).map(refName)
    const descriptions = parts.length === 0 ? [response.description] : response.description.split(" | ")
    for (const [index, name] of names.entries()) {
      const schema = name === undefined ? undefined : schemas[name]
      const description = descriptions[index]
      if (
        name !== undefined &&
        schema !== undefined &&
        schema["description"] === undefined &&
        description !== undefined
      ) {
        schemas[name] = { ...schema, description }
      }
    }
  }
}

const refName = (object: Record<string, unknown>): string | undefined => {
  const ref = object["$ref"]
  return typeof ref === "string" && ref.startsWith(refPrefix) ? ref.slice(refPrefix.length) : undefined
}

/** An example of what a schema describes: its own first one, else one put together from those of its parts. */
const exampleOf = (schema: JsonSchema.JsonSchema, schemas: Schemas): unknown => {
  const name = refName(schema)
  if (name !== undefined) return exampleOf(schemas[name] ?? {}, schemas)
  for (const key of ["examples", "enum"]) {
    if (Array.isArray(schema[key])) return schema[key][0]
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    if (Array.isArray(schema[key])) {
      return schema[key].map((part) => exampleOf(part, schemas)).find((example) => example !== undefined)
    }
  }
  if (schema["type"] === "array") {
    const item = exampleOf(schema["items"] as JsonSchema.JsonSchema, schemas)
    return item === undefined ? undefined : [item]
  }
  if (schema["type"] === "object") {
    const properties = Object.entries(schema["properties"] ?? {}).map(([key, part]) => [key, exampleOf(part, schemas)])
    return Object.fromEntries(properties.filter(([, example]) => example !== undefined))
  }
  return schema["format"] === "binary" ? "hello world\n" : undefined
}

/** A copy of a JSON tree with every object in it replaced, the innermost first. */
const mapObjects = (node: unknown, f: (object: Record<string, unknown>) => Record<string, unknown>): unknown => {
  if (Array.isArray(node)) return node.map((item) => mapObjects(item, f))
  if (typeof node !== "object" || node === null) return node
  return f(Object.fromEntries(Object.entries(node).map(([key, value]) => [key, mapObjects(value, f)])))
}
