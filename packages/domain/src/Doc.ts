import { Context, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { RequiredScope } from "./Endpoint.ts"
import type { Conflict } from "./Errors.ts"
import type { Scope } from "./Scope.ts"

/** What the schemas of an operation cannot say about its answers. */
interface Answers {
  /** The reasons of its 409, each with an example: the message alone, or all fields but the reason. */
  readonly conflicts?: Readonly<Record<string, string | Omit<typeof Conflict.Encoded, "_tag" | "reason">>>
  /** Statuses and headers that the handler sends itself. They are merged with those of the schemas. */
  readonly responses?: Readonly<Record<number, Partial<OpenApi.OpenApiSpecResponse>>>
  /** Whether the body of the request may be left out. */
  readonly isBodyOptional?: boolean
  /** Whether a request may show a credential, and may show none. */
  readonly isCredentialOptional?: boolean
  /** The query, where the handler reads it itself. */
  readonly query?: Readonly<Record<string, { readonly description: string; readonly required?: boolean }>>
}

/**
 * The summary and description of an operation in the API description, with what its schemas cannot say.
 *
 * @param scope The scope that an API key needs for it.
 */
export const doc = (
  scope: Scope,
  summary: string,
  description: string,
  answers: Answers = {}
): Context.Context<never> =>
  OpenApi.annotations({
    summary,
    description,
    transform: (operation) => ({
      ...operation,
      "x-scope": scope,
      ...(answers.isBodyOptional === true ? { requestBody: { ...operation["requestBody"], required: false } } : {}),
      ...(answers.isCredentialOptional === true
        ? { security: [{}, { bearer: [] }, { apiKey: [] }, { session: [] }] }
        : {}),
      ...(answers.query === undefined ? {} : { parameters: queryOf(answers.query) }),
      responses: withAnswers(operation["responses"], answers)
    })
  }).pipe(Context.add(RequiredScope, scope))

const queryOf = (query: NonNullable<Answers["query"]>) =>
  Object.entries(query).map(([name, { description, required = false }]) => ({
    name,
    in: "query",
    schema: { type: "string" },
    required,
    description
  }))

const withAnswers = (declared: OpenApi.OpenAPISpecResponses, answers: Answers): OpenApi.OpenAPISpecResponses => {
  const responses: OpenApi.OpenAPISpecResponses = { ...declared }
  for (const [key, response] of Object.entries(answers.responses ?? {})) {
    const status = Number(key)
    const headers = { ...declared[status]?.headers, ...response.headers }
    responses[status] = { description: "", ...declared[status], ...response, headers }
  }
  const conflict = declared[409]
  const reasons = Object.entries(answers.conflicts ?? {})
  if (conflict !== undefined && reasons.length > 0) {
    const examples = reasons.map(([reason, example]) => [
      reason,
      { value: { _tag: "Conflict", reason, ...(typeof example === "string" ? { message: example } : example) } }
    ])
    responses[409] = {
      ...conflict,
      ...responses[409],
      content: Object.fromEntries(
        Object.entries(conflict.content ?? {}).map(([type, media]) => [
          type,
          { ...media, examples: Object.fromEntries(examples) }
        ])
      )
    }
  }
  return responses
}

/**
 * A slug, id or name in a path. Any text is accepted: a text that names nothing is 404, and that is decided only after the
 * form of the request (docs/contract.md, Order of checks).
 */
export const PathRef = Schema.String

/** `{slug}`: the workspace of a path, by slug or id. */
export const WorkspaceRef = PathRef.annotate({ description: "The workspace's slug or id.", examples: ["main"] })

/** The prefix of every path in a workspace. */
export const workspacePath = "/v1/workspaces/:slug"
