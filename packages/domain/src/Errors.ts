import { Schema } from "effect"
import { LeaseHolder } from "./runs/Semaphore.ts"
import { firstCharacters, fits } from "./Text.ts"

/**
 * The errors of the service (docs/contract.md, Errors). Every one is JSON with `_tag` and `message`; none carries a stack
 * trace, SQL or secret input.
 */

/** The example stands here since the encoded form of a class is described without the class's own annotations. */
const message = (example: string) =>
  Schema.String.annotate({ description: "What went wrong, for people.", examples: [example] })

const Reason = Schema.String.annotate({
  description: "A stable snake_case word that tells causes of one status apart."
})

/** One thing wrong with a request: where, and what. */
export const Issue = Schema.Struct({
  path: Schema.Array(Schema.String).annotate({
    description: "Keys from the root of the body or query to the value; empty for the request as a whole."
  }),
  message: Schema.String.annotate({ description: "What is wrong, for people." })
}).annotate({
  identifier: "Issue",
  description: "One thing wrong with a request: where, and what.",
  examples: [{ path: ["name"], message: "Missing key" }]
})
export type Issue = typeof Issue.Type

/** 400: the request is malformed or a value is not allowed. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()(
  "InvalidInput",
  {
    message: message("name: Missing key"),
    reason: Schema.optionalKey(Reason),
    issues: Schema.Array(Issue).annotate({ description: "What is wrong, the first 20 things." })
  },
  {
    httpApiStatus: 400,
    identifier: "InvalidInput",
    description: "The request is malformed or a value is not allowed."
  }
) {
  /** One issue at one place of the body or query. */
  static at(path: string, message: string): InvalidInput {
    return new InvalidInput({ message: `${path}: ${message}`, issues: [{ path: [path], message }] })
  }
}

/** One thing wrong with a body that is read strictly: what kind of thing, where, and what. */
export const DecodeIssue = Schema.Struct({
  _tag: Schema.String.annotate({
    description: "`Missing`, `Unexpected`, `Type`, `Refinement` or `Forbidden`: the kind of mismatch."
  }),
  path: Schema.Array(Schema.String).annotate({ description: "Keys from the root of the body to the value." }),
  message: Schema.String.annotate({ description: "What is wrong, for people." })
}).annotate({
  identifier: "DecodeIssue",
  description: "One thing wrong with a body that is read strictly.",
  examples: [{ _tag: "Missing", path: ["name"], message: "Missing key" }]
})
export type DecodeIssue = typeof DecodeIssue.Type

/** 400: a body that is read strictly does not match its schema (vault only). Never repeats a value. */
export class HttpApiDecodeError extends Schema.TaggedError<HttpApiDecodeError>()(
  "HttpApiDecodeError",
  {
    message: message("name: Missing key"),
    issues: Schema.Array(DecodeIssue).annotate({ description: "What is wrong, the first 20 things." })
  },
  {
    httpApiStatus: 400,
    identifier: "HttpApiDecodeError",
    description: "The body does not match its schema, or has a property that the schema does not know."
  }
) {}

/** 401: no valid credential. The body never says which part was wrong. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()(
  "Unauthorized",
  { message: message("A valid API key is required.") },
  {
    httpApiStatus: 401,
    identifier: "Unauthorized",
    description: "No valid API key, or no valid token where one is needed."
  }
) {
  static readonly generic = new Unauthorized({ message: "A valid API key is required." })
  /** The same where an agent's access token is needed (docs/contract.md, Tokens). */
  static readonly agent = new Unauthorized({ message: "A valid agent access token is required." })
}

/** 403: the caller's role may not do this. */
export class Forbidden extends Schema.TaggedError<Forbidden>()(
  "Forbidden",
  {
    message: message("This needs the role admin or more; yours is viewer."),
    reason: Schema.optionalKey(Reason)
  },
  { httpApiStatus: 403, identifier: "Forbidden", description: "The key's user or role may not do this." }
) {}

/** 404: absent or invisible; the two answer alike. */
export class NotFound extends Schema.TaggedError<NotFound>()(
  "NotFound",
  { message: message("The product does not exist.") },
  {
    httpApiStatus: 404,
    identifier: "NotFound",
    description: "The workspace or object does not exist, or the caller cannot see it."
  }
) {
  /**
   * The object that the path names. `NotFound.of("product", "shop")` says: There is no product "shop" that you can see.
   * Without a value: The product does not exist.
   */
  static of(noun: string, value?: string | number): NotFound {
    return new NotFound({
      message:
        value === undefined ? `The ${noun} does not exist.` : `There is no ${noun} ${quote(value)} that you can see.`
    })
  }
  /**
   * The object that a field of the body or query refers to. `NotFound.reference("teams[0]", "OPS")` says:
   * teams[0]: there is no team "OPS" that you can see.
   *
   * Pass the value as the caller sent it, never the stored object's other names: absent and invisible objects must answer
   * alike. Leave it out where it may be secret. `noun` is needed where the field does not tell what it refers to:
   * `NotFound.reference("before", "site", "project")`.
   */
  static reference(field: string, value?: string | number, noun = nounOf(field)): NotFound {
    return new NotFound({
      message:
        value === undefined
          ? `${field}: nothing visible to you has this value.`
          : `${field}: there is no ${noun} ${quote(value)} that you can see.`
    })
  }
}

/** What fields refer to whose names do not say it. */
const nouns: Readonly<Record<string, string>> = {
  after: "object",
  before: "object",
  environments: "environment",
  expectedVersions: "environment",
  lead: "member",
  moveTo: "ticket status",
  owner: "member or agent",
  owners: "member or agent",
  person: "member",
  products: "product",
  projects: "project",
  status: "ticket status",
  tags: "tag",
  teams: "team",
  values: "environment"
}

/** `filters.teams[0]` refers to a team. */
const nounOf = (field: string): string => {
  const name = field.replace(/\[\d+\]$/, "").replace(/^.*\./, "")
  return nouns[name] ?? name
}

/** A value between quotation marks, cut after 100 characters. */
const quote = (value: string | number): string => {
  const text = String(value)
  return fits(text, 100) ? `"${text}"` : `"${firstCharacters(text, 100)}..."`
}

/** 409: the change conflicts with current data. `reason` is always present. */
export class Conflict extends Schema.TaggedError<Conflict>()(
  "Conflict",
  {
    message: message('The slug "shop" is already in use.'),
    reason: Reason.annotate({ examples: ["slug_in_use"] }),
    current: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Int).annotate({
        description: "With `version_mismatch`: environment slug to current version, of those that differ."
      })
    ),
    capacity: Schema.optionalKey(Schema.Int.annotate({ description: "Of a semaphore: the capacity in force." })),
    holders: Schema.optionalKey(
      Schema.Array(LeaseHolder).annotate({ description: "Of a semaphore: the leases held now, oldest first." })
    ),
    retryAfterMs: Schema.optionalKey(
      Schema.Int.annotate({ description: "Of a semaphore: milliseconds after which another try may help." })
    )
  },
  { httpApiStatus: 409, identifier: "Conflict", description: "The change conflicts with current data." }
) {}

/**
 * 429: too many requests of this key or address, where the server has a rate limit. `Retry-After` says when to try again.
 */
export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()(
  "TooManyRequests",
  { message: message("Too many requests: at most 600 in 60 s. Try again in 2 s.") },
  {
    httpApiStatus: 429,
    identifier: "TooManyRequests",
    description:
      "Too many requests of this key or address, or more than the server can answer; nothing has happened, and `Retry-After` says when to try again."
  }
) {}

/** 500: a server failure. Report `requestId`, which is also the `x-request-id` header. */
export class Internal extends Schema.TaggedError<Internal>()(
  "Internal",
  {
    message: message("Something went wrong."),
    requestId: Schema.String.annotate({
      description: "The request's `x-request-id`.",
      examples: ["8c5f2b1e-7a5d-4b8e-9d55-0c6a3f1f2e10"]
    })
  },
  { httpApiStatus: 500, identifier: "Internal", description: "A server failure; retry or report the request id." }
) {}

/** Every error an endpoint of this API answers with. */
export type ApiError =
  | InvalidInput
  | HttpApiDecodeError
  | Unauthorized
  | Forbidden
  | NotFound
  | Conflict
  | TooManyRequests
  | Internal
