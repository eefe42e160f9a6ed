import { Schema } from "effect"
import { LeaseHolder } from "./LeaseHolder.ts"
import { firstCharacters, fits, withoutTokens } from "./Text.ts"

/**
 * The errors of the service (docs/contract.md, Errors). Every one is JSON with `_tag` and `message`; none carries a stack
 * trace, SQL or secret input.
 */

/** The example is on the field because the encoded form of an error class loses the annotations of the class. */
const message = (example: string) =>
  Schema.String.annotate({
    description: "What went wrong, written for people. The wording may change: act on `reason`.",
    examples: [example]
  })

const Reason = Schema.String.annotate({
  description: "A stable word in snake_case that says why, where one status has several causes."
})

/** One problem of a request: where it is, and what is wrong. */
export const Issue = Schema.Struct({
  path: Schema.Array(Schema.String).annotate({
    description:
      'The path from the root of the body or query to the value, such as `["git", "sha"]`. Empty if the problem concerns the request as a whole.'
  }),
  message: Schema.String.annotate({ description: "What is wrong, written for people." })
}).annotate({
  identifier: "Issue",
  description: "One problem of a request: where it is, and what is wrong.",
  examples: [{ path: ["name"], message: "Missing key" }]
})
export type Issue = typeof Issue.Type

/** 400: the request is malformed or a value is not allowed. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()(
  "InvalidInput",
  {
    message: message("name: Missing key"),
    reason: Schema.optionalKey(Reason),
    issues: Schema.Array(Issue).annotate({ description: "The problems, at most 20." })
  },
  {
    httpApiStatus: 400,
    identifier: "InvalidInput",
    description: "The request is malformed or a value is not allowed."
  }
) {
  /** An error with a single issue, at one place of the body or query. */
  static at(path: string, message: string): InvalidInput {
    return new InvalidInput({ message: `${path}: ${message}`, issues: [{ path: [path], message }] })
  }
}

/** One problem of a body that is read strictly: its kind, where it is, and what is wrong. */
export const DecodeIssue = Schema.Struct({
  _tag: Schema.String.annotate({
    description: "The kind of problem: `Missing`, `Unexpected`, `Type`, `Refinement` or `Forbidden`."
  }),
  path: Schema.Array(Schema.String).annotate({ description: "The path from the root of the body to the value." }),
  message: Schema.String.annotate({ description: "What is wrong, written for people." })
}).annotate({
  identifier: "DecodeIssue",
  description: "One problem of a body that is read strictly.",
  examples: [{ _tag: "Missing", path: ["name"], message: "Missing key" }]
})
export type DecodeIssue = typeof DecodeIssue.Type

/** 400: a body that is read strictly does not match its schema (vault only). Never repeats a value. */
export class HttpApiDecodeError extends Schema.TaggedError<HttpApiDecodeError>()(
  "HttpApiDecodeError",
  {
    message: message("name: Missing key"),
    issues: Schema.Array(DecodeIssue).annotate({ description: "The problems, at most 20." })
  },
  {
    httpApiStatus: 400,
    identifier: "HttpApiDecodeError",
    description: "The body does not match its schema, or has an unknown property."
  }
) {}

/** 401: no valid credential. The body never says which part was wrong. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()(
  "Unauthorized",
  {
    message: message("A valid API key is required."),
    reason: Schema.optionalKey(Reason.annotate({ examples: ["sign_in_failed"] }))
  },
  {
    httpApiStatus: 401,
    identifier: "Unauthorized",
    description: "The request has no valid API key, or no valid token where one is required."
  }
) {
  static readonly generic = new Unauthorized({ message: "A valid API key is required." })
  /** The same for calls that require an agent's access token (docs/contract.md, Tokens). */
  static readonly agent = new Unauthorized({ message: "A valid agent access token is required." })
  /** The same for calls that require the token of a deployment. */
  static readonly deployment = new Unauthorized({ message: "A valid deployment token is required." })
  /** The same for calls that require the cookie of a session. */
  static readonly session = new Unauthorized({ message: "Sign in first: this requires a session." })
  /** A proof that does not work, whatever is wrong with it. */
  static readonly signInFailed = new Unauthorized({
    message:
      "Signing in failed: the link, code or passkey is wrong, was used already, has expired, or is not yours. Try again with another.",
    reason: "sign_in_failed"
  })
}

/** 403: the caller's role may not do this. */
export class Forbidden extends Schema.TaggedError<Forbidden>()(
  "Forbidden",
  {
    message: message("This requires the role admin or higher; yours is viewer."),
    reason: Schema.optionalKey(Reason)
  },
  {
    httpApiStatus: 403,
    identifier: "Forbidden",
    description: "The role or the scopes of the API key do not allow this."
  }
) {
  /** A cookie came with a request of another site. */
  static readonly crossSite = new Forbidden({
    message: "The request came from another site.",
    reason: "cross_site"
  })
  /** A mailed link came without the cookie of the browser that asked for it. */
  static readonly otherBrowser = new Forbidden({
    message: "Open the link in the browser in which you asked for it, or type the code from the email there.",
    reason: "other_browser"
  })
  /** The session's last proof is too long ago. */
  static readonly sudoRequired = new Forbidden({
    message: "Confirm first that it is you: the last sign-in of this session is too long ago.",
    reason: "sudo_required"
  })
}

/** 404: the object does not exist, or the caller cannot see it. The two answer alike. */
export class NotFound extends Schema.TaggedError<NotFound>()(
  "NotFound",
  { message: message('product: there is no product "shop" that you can see.') },
  {
    httpApiStatus: 404,
    identifier: "NotFound",
    description: "The workspace or object does not exist, or you cannot see it."
  }
) {
  /**
   * The object that the path names. `NotFound.of("product", "shop")` says: There is no product "shop" that you can see.
   * Without a value, and with 0, which stands for a path that has no number: The product does not exist.
   */
  static of(noun: string, value?: string | number): NotFound {
    return new NotFound({
      message:
        value === undefined || value === 0
          ? `The ${noun} does not exist.`
          : `There is no ${noun} ${quote(value)} that you can see.`
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
          ? `${field}: there is no such ${noun} that you can see.`
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
  milestones: "milestone",
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

/** `filters.teams[0]` refers to a team, and `values.staging` to an environment. */
const nounOf = (field: string): string => {
  const names = field.replace(/\[\d+\]$/, "").split(".")
  const last = names.at(-1)!
  return nouns[last] ?? nouns[names[0]!] ?? last
}

/**
 * A value between quotation marks, cut after 100 characters. A token that was sent in a wrong place is not repeated, since
 * answers are printed where the token is not. Characters that a terminal would obey are escaped.
 */
const quote = (value: string | number): string => {
  const text = withoutTokens(String(value))
  const cut = fits(text, 100) ? text : `${firstCharacters(text, 100)}...`
  return `"${cut.replaceAll(/["\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped)}"`
}

const escaped = (character: string): string =>
  character === '"' || character === "\\" ? `\\${character}` : `\\u{${character.codePointAt(0)!.toString(16)}}`

const exampleNotCounted = { run: 14, reason: "other_environment" } as const

const NotCounted = Schema.Struct({
  run: Schema.Int,
  reason: Schema.String,
  key: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "Only with `of_owner`: the name of the account API key that published it, which an owner of the ticket, or who completes it, made after the ticket."
    })
  )
}).annotate({
  identifier: "NotCountedEvidence",
  description: "A run in which a test passed that does not count, and why: `excluded` in the evidence of the ticket.",
  examples: [exampleNotCounted]
})

const LastFailure = Schema.Struct({
  run: Schema.Int.annotate({ description: "The number of the run." }),
  environment: Schema.String.annotate({ description: "The slug of its environment." }),
  commit: Schema.String
}).annotate({
  identifier: "LastFailure",
  description: "A finished or interrupted run in which a test failed or was flaky last.",
  examples: [{ run: 12, environment: "staging", commit: "9fceb02d0ae598e95dc970b74767f19372d61af8" }]
})

export const MissingEvidence = Schema.Struct({
  caseId: Schema.String,
  passed: Schema.Int,
  needed: Schema.Int,
  environment: Schema.NullOr(Schema.String).annotate({
    description: "The slug of the environment in which it must pass; null where it may pass in each."
  }),
  notCounted: Schema.NullOr(NotCounted).annotate({
    description:
      "The newest run since its last failure in which it passed that does not count, or the one in which it failed, if only a retry of that passed (`retry`); null for none."
  }),
  failed: Schema.optionalKey(
    LastFailure.annotate({
      description: "The run in which it failed or was flaky last; absent where it did in none that is kept."
    })
  ),
  seen: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Only false: the test is in no run that is kept, as where its id is written wrong."
    })
  )
}).annotate({
  identifier: "MissingEvidence",
  description: "A test of which runs are missing: in how many that count it passed, and in how many it must.",
  examples: [
    {
      caseId: "checkout.spec.ts:pays-by-card",
      passed: 0,
      needed: 1,
      environment: "staging",
      notCounted: exampleNotCounted,
      failed: { run: 12, environment: "staging", commit: "9fceb02d0ae598e95dc970b74767f19372d61af8" }
    }
  ]
})

/** 409: the request contradicts what is stored. `reason` is always present. */
export class Conflict extends Schema.TaggedError<Conflict>()(
  "Conflict",
  {
    message: message('The slug "shop" is already in use.'),
    reason: Reason.annotate({ examples: ["slug_in_use"] }),
    current: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Int).annotate({
        description:
          "Only with `version_mismatch`: the current version of each environment whose version differs, by slug."
      })
    ),
    capacity: Schema.optionalKey(
      Schema.Int.annotate({ description: "Only for semaphores: the capacity that is in force." })
    ),
    holders: Schema.optionalKey(
      Schema.Array(LeaseHolder).annotate({
        description: "Only for semaphores: the leases that are held now, oldest first."
      })
    ),
    retryAfterMs: Schema.optionalKey(
      Schema.Int.annotate({ description: "Only for semaphores: how many milliseconds to wait before trying again." })
    ),
    names: Schema.optionalKey(
      Schema.Array(Schema.String).annotate({
        description:
          "Only with `not_environment_names`: the names of the secrets that cannot be written as environment variables."
      })
    ),
    missing: Schema.optionalKey(
      Schema.Array(MissingEvidence).annotate({
        description: "Only with `evidence_missing`: the tests of the ticket of which runs are missing."
      })
    ),
    runs: Schema.optionalKey(
      Schema.Array(Schema.Int).annotate({
        description: "Only with `run_in_progress`: the numbers of the locked runs that are under way, lowest first."
      })
    )
  },
  { httpApiStatus: 409, identifier: "Conflict", description: "The request contradicts what is stored." }
) {
  /** `Conflict.archived("product")` says: The product is archived. */
  static archived(noun: string): Conflict {
    return new Conflict({ message: `The ${noun} is archived.`, reason: "archived" })
  }
  /** Another object has the name already. */
  static nameInUse(name: string): Conflict {
    return new Conflict({ message: `The name "${name}" is already in use.`, reason: "name_in_use" })
  }
  /** Another object has the slug already. */
  static slugInUse(slug: string): Conflict {
    return new Conflict({ message: `The slug "${slug}" is already in use.`, reason: "slug_in_use" })
  }
}

/** 429: the caller is over the rate limit, or the server is overloaded. `Retry-After` says when to try again. */
export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()(
  "TooManyRequests",
  { message: message("Too many requests: at most 600 in 60 s. Try again in 2 s.") },
  {
    httpApiStatus: 429,
    identifier: "TooManyRequests",
    description:
      "This caller or address sent too many requests, or the server is overloaded. Nothing has happened. `Retry-After` says when to try again."
  }
) {}

/** 500: the server failed. `requestId` is also the header `x-request-id`. */
export class Internal extends Schema.TaggedError<Internal>()(
  "Internal",
  {
    message: message("Something went wrong."),
    requestId: Schema.String.annotate({
      description: "The value of the header `x-request-id`.",
      examples: ["8c5f2b1e-7a5d-4b8e-9d55-0c6a3f1f2e10"]
    })
  },
  {
    httpApiStatus: 500,
    identifier: "Internal",
    description: "The server failed. Try again, or report the `requestId`. A write may have happened nevertheless."
  }
) {}

/** Every error that an endpoint of this API can answer with. */
export type ApiError =
  | InvalidInput
  | HttpApiDecodeError
  | Unauthorized
  | Forbidden
  | NotFound
  | Conflict
  | TooManyRequests
  | Internal
