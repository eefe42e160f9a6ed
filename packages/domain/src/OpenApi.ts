import type { JsonSchema } from "effect"
import type { OpenApi } from "effect/http-api"

/**
 * Finishes the document that `OpenApi.fromApi` generates from the API, for people and for tools. Pure; it knows the
 * conventions of the service (docs/contract.md, Conventions) and none of its groups, so a new group needs nothing here.
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

/** The introduction of the document: what holds for every operation. */
export const overview = `One API for how a team ships: secrets, deployments, test runs, semaphores, projects and tickets, \
coding agents, and what happened.

## Authentication

Send an API key (\`ctk_...\`) in one of two headers:

\`\`\`
Authorization: Bearer ctk_...
X-API-Key: ctk_...
\`\`\`

If you send both, they must be equal. Every operation requires an API key unless it says otherwise. A key acts as its \
person, with their role in each workspace. An account API key belongs to no person: it acts in one workspace, with a \
role of its own.

A key may be limited to scopes and to a time. Every operation needs one scope, which it says as \`x-scope\`; a key \
without it gets 403 \`scope_missing\`.

Each role may do what the roles before it may: a \`viewer\` reads, a \`member\` changes things and publishes test \
runs, an \`admin\` manages the workspace, an \`owner\` also manages owners.

A person who signed in with a browser has a session instead, in the cookie \`__Host-delivery_session\`. It is accepted wherever \
an API key is; a key in a header wins over it. A request that changes something must then come from a page of the \
service (403 \`cross_site\`), and making keys, registering agents, changing passkeys and giving or taking ownership need a \
fresh proof that it is the person (403 \`sudo_required\`).

A coding agent uses an access token (\`atk_...\`) for \`/agent/v1\` and \`/agent/mcp\`. It acts as its member, with \
their present role. API keys are rejected there; access tokens are rejected everywhere else.

A deployed product uses the token of its deployment (\`dtk_...\`) for \`/deploy/v1\`, where it reads its own secrets. \
All other credentials are rejected there, and it is rejected everywhere else.

## Conventions

- **Ids** are UUIDv7 strings that the server makes. Wherever a workspace, product or environment is named, you can \
send its slug or its id. A slug never has the form of an id.
- **Timestamps** are UTC with milliseconds: \`2026-11-21T09:30:00.000Z\`. \`updatedAt\` moves with every change.
- **Lists** are complete and in a fixed order, unless the operation gives a page size. "By name" ignores case and \
compares numbers as numbers; equal names are ordered by code units, then by id.
- **PATCH** changes only the fields that you send. \`null\` clears a field that may be null.
- **Actions** that find the object already in that state (archive, restore) change nothing and answer 200.
- **Text** may not contain NUL characters or lone surrogates. Names are trimmed, never empty, and on one line. Lengths \
count Unicode code points. Bodies are UTF-8.
- **Unknown properties** of a body are ignored, except by the vault and where a deployment token or a trusted \
publisher is made, which reject them: a misspelt limit would be no limit. Responses may gain properties: ignore those \
that you do not know.
- **Bodies** are \`application/json\`, at most 1 MiB unless the operation says otherwise, and 64 KiB where \
no credential is needed.
- **Browsers.** Pages of other origins may call the API where the operator allows their origin (\`CORS_ORIGINS\`), with a \
key and never with a cookie.
- **Request ids.** Every response has the header \`x-request-id\`. You can send one yourself: 8 to 64 letters, digits, \
\`_\` or \`-\`. It may not hold \`tk_\`, as tokens do.

## Errors

Every error is JSON with \`_tag\` and \`message\`, from an unknown path to a failure of the server:

\`\`\`json
{"_tag": "Conflict", "reason": "slug_in_use", "message": "The slug \\"shop\\" is already in use."}
\`\`\`

\`reason\` is a stable word that says why, where one status has several causes. Let your program act on \`reason\`, \
and never on \`message\`.

| Status | \`_tag\` | Meaning |
|---|---|---|
| 400 | \`InvalidInput\` | The request is malformed, or a value is not allowed. \`issues\` says where. |
| 400 | \`HttpApiDecodeError\` | Only in the vault: the body does not match its schema. \`issues\` says where and how. |
| 401 | \`Unauthorized\` | There is no valid API key or token. |
| 403 | \`Forbidden\` | The role or the scopes of the key do not allow this, or a session may not. |
| 404 | \`NotFound\` | The object does not exist, or you cannot see it. The two answer alike. |
| 409 | \`Conflict\` | The request contradicts what is stored. |
| 408, 417, 431 | \`InvalidInput\` | The request came too slowly, expects something that the server does not do, or \
its headers are too large. |
| 429 | \`TooManyRequests\` | You sent too many requests, or the server is overloaded. Nothing has happened. |
| 500 | \`Internal\` | The server failed, or the request took too long (by default, two minutes). Try again, or report \
the \`requestId\`. A write may have happened nevertheless. |

The OAuth endpoints answer errors in the form of RFC 6749 instead.

A request that is wrong in several ways gets the first of these: 401, 400 for the form of the request, 404 for the \
workspace, 403, 404 for the object, 400 for rules that depend on what is stored, 409.

## Rate limits

A server may limit the requests of each person and each account API key, whichever credential they use, and of each \
address that sends no valid credential. By default there is no limit but of requests with a credential that is not valid: \
60 a minute from an address. With a limit, every response has these headers, as the IETF's draft names them:

\`\`\`
RateLimit-Policy: "default";q=600;w=60     600 requests in 60 seconds
RateLimit: "default";r=598;t=1             598 are left; all 600 again in 1 second
\`\`\`

Above the limit, every request is answered with 429 and \`Retry-After\` (in seconds), before anything else is checked.

## Versions

The path prefix \`/v1\` is the version of the interface. Fields and operations are added to it, never removed.`

type Schemas = Record<string, JsonSchema.JsonSchema>
type Content = Record<string, OpenApi.OpenApiSpecMediaType & { example?: unknown; examples?: unknown }>

const refPrefix = "#/components/schemas/"

/** The encoded form of an error class is generated as `ConflictEncoded`. Readers know it as `Conflict`. */
const publicName = (name: string): string => name.replace(/Encoded$/, "")

/** The document with its components under public names, and without what only the generator uses. */
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
  // The generator closes every object, but the service ignores unknown properties, and its answers may gain some.
  if (out["additionalProperties"] === false && !isClosed) delete out["additionalProperties"]
  // These limits hold for every JSON integer.
  if (out["minimum"] === Number.MIN_SAFE_INTEGER) delete out["minimum"]
  if (out["maximum"] === Number.MAX_SAFE_INTEGER) delete out["maximum"]
  return out
}

/** The components of bodies that reject unknown properties: bodies of operations that answer `HttpApiDecodeError`. */
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

/** Tools look for description and example beside the name, not in the schema. Numbers are text only on the wire. */
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
    description: "The id of the request, which is also in the log of the server.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_-]{8,64}$" },
    example: "8c5f2b1e-7a5d-4b8e-9d55-0c6a3f1f2e10"
  },
  Challenge: {
    description: "How to authenticate (RFC 9110, section 11.6.1).",
    schema: { type: "string" },
    example: "Bearer"
  },
  RetryAfter: {
    description: "How many seconds to wait before the next request.",
    schema: { type: "integer", minimum: 1 },
    example: 2
  },
  RateLimitPolicy: {
    description: "The limit: `q` requests in `w` seconds.",
    schema: { type: "string" },
    example: '"default";q=600;w=60'
  },
  RateLimit: {
    description: "How many requests are left (`r`), and in how many seconds the limit is full again (`t`).",
    schema: { type: "string" },
    example: '"default";r=0;t=60'
  }
}

const sharedHeader = (name: keyof typeof sharedHeaders) =>
  ({ $ref: `#/components/headers/${name}` }) as unknown as OpenApi.OpenAPISpecHeader

/** The headers that every response of a status has. */
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

/** The encoded form of an error class has lost its description. The response still has it, among others. */
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

/** An example of a schema: its own first one, or one that is put together from the examples of its parts. */
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

/** A copy of a JSON tree in which every object is replaced, the innermost first. */
const mapObjects = (node: unknown, f: (object: Record<string, unknown>) => Record<string, unknown>): unknown => {
  if (Array.isArray(node)) return node.map((item) => mapObjects(item, f))
  if (typeof node !== "object" || node === null) return node
  return f(Object.fromEntries(Object.entries(node).map(([key, value]) => [key, mapObjects(value, f)])))
}
