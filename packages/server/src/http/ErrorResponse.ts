import {
  type DecodeIssue,
  type Forbidden,
  HttpApiDecodeError,
  Internal,
  InvalidInput,
  type Issue,
  NotFound,
  type TooManyRequests,
  type Unauthorized
} from "@delivery/domain/Errors"
import { type Cause, type Schema, SchemaIssue } from "effect"
import { HttpServerError, HttpServerResponse } from "effect/http"

/** Errors in the contract's form, wherever they come from (docs/contract.md, Errors). */

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** A body of thousands of tests may be wrong thousands of times. */
const maxIssues = 20

const segment = (part: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof part === "object" ? part.key : part)

/** What a body or query did not match, in the contract's form. Never repeats the input. */
export const invalidInput = (error: Schema.SchemaError): typeof InvalidInput.Encoded => {
  const issues = isNoObject(error.issue) ? [noObject] : formatted(error.issue).slice(0, maxIssues)
  return { _tag: "InvalidInput", message: firstOf(issues), issues }
}

/** The same for bodies that are read strictly, with the kind of each mismatch. */
export const decodeError = (error: Schema.SchemaError): HttpApiDecodeError => {
  const issues = decodeIssues(error.issue, []).slice(0, maxIssues)
  return new HttpApiDecodeError({ message: firstOf(issues), issues })
}

const formatted = (issue: SchemaIssue.Issue): ReadonlyArray<Issue> =>
  format(issue).issues.map(({ message, path = [] }) => ({ path: path.map(segment), message }))

/** Whether a body matches none of its alternatives. The formatter would name the schema, which means nothing to people. */
const isNoObject = (issue: SchemaIssue.Issue): boolean =>
  issue._tag === "InvalidType" || (issue._tag === "AnyOf" && issue.issues.length === 0)

const noObject = { path: [], message: "Expected an object" }

const firstOf = (issues: ReadonlyArray<Issue>): string => {
  const [first] = issues
  const where = first === undefined || first.path.length === 0 ? "" : `${first.path.join(".")}: `
  return `${where}${first?.message ?? "The request is malformed."}`
}

const decodeIssues = (issue: SchemaIssue.Issue, path: ReadonlyArray<string>): ReadonlyArray<DecodeIssue> => {
  if (issue._tag === "Pointer") return decodeIssues(issue.issue, [...path, ...issue.path.map(String)])
  if (issue._tag === "Encoding") return decodeIssues(issue.issue, path)
  if ((issue._tag === "Composite" || issue._tag === "AnyOf") && issue.issues.length > 0) {
    return issue.issues.flatMap((part) => decodeIssues(part, path))
  }
  const _tag = decodeTags[issue._tag] ?? "Type"
  // An unknown key may be a secret in the wrong place: it is named only if it reads like a name.
  if (issue._tag === "UnexpectedKey" && !/^[A-Za-z]{1,30}$/.test(path.at(-1) ?? "")) {
    return [{ _tag, path: path.slice(0, -1), message: "Unknown property" }]
  }
  if (path.length === 0 && isNoObject(issue)) return [{ _tag, ...noObject }]
  return formatted(issue).map((part) => ({ _tag, path: [...path, ...part.path], message: part.message }))
}

const decodeTags: Partial<Record<SchemaIssue.Issue["_tag"], string>> = {
  MissingKey: "Missing",
  UnexpectedKey: "Unexpected",
  InvalidType: "Type",
  InvalidValue: "Refinement",
  Filter: "Refinement",
  Forbidden: "Forbidden"
}

/** A request whose body could not be read: too large, cut off, or not decodable. */
export const unreadableBody = (error: HttpServerError.RequestParseError): InvalidInput => {
  const message =
    error.reason === "BodyTooLarge" ? "The body is too large." : (error.description ?? "The body could not be read.")
  return new InvalidInput({ message, issues: [{ path: [], message }] })
}

/** The reason of a failed request, where the request itself is at fault. */
const requestError = (error: unknown): HttpServerError.HttpServerError["reason"] | undefined =>
  HttpServerError.isHttpServerError(error) ? error.reason : undefined

/** The error that a failed request answers with, and whether its cause belongs in the log. */
export const errorOf = (
  cause: Cause.Cause<unknown>,
  requestId: string
): { readonly error: InvalidInput | NotFound | Internal; readonly status: number; readonly isFault: boolean } => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Interrupt") continue
    const error = requestError(reason._tag === "Fail" ? reason.error : reason.defect)
    if (error?._tag === "RouteNotFound") {
      const message = isDecodable(error.request.url) ? "This path does not exist." : undecodable
      return { error: new NotFound({ message }), status: 404, isFault: false }
    }
    if (error?._tag === "RequestParseError") return { error: unreadableBody(error), status: 400, isFault: false }
  }
  return {
    error: new Internal({ message: "Something went wrong.", requestId }),
    status: 500,
    isFault: true
  }
}

/** What HTTP/1.1 demands of every request. */
export const wrongHost = InvalidInput.at("Host", "The header is required, once.")

const undecodable = "This path does not exist: it has a percent sign that does not begin an encoded character."

/** Whether the path can be decoded; the router finds nothing at one that cannot. */
const isDecodable = (url: string): boolean => {
  try {
    decodeURIComponent(url.split("?", 1)[0]!)
    return true
  } catch {
    return false
  }
}

/** The response of an error that is rendered outside the API's own encoding. */
export const errorResponse = (error: EdgeError, status: number): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ ...fields(error) }, { status })

type EdgeError = typeof InvalidInput.Encoded | Unauthorized | Forbidden | NotFound | TooManyRequests | Internal

const fields = (error: EdgeError) => {
  switch (error._tag) {
    case "InvalidInput":
      return { _tag: error._tag, message: error.message, issues: error.issues }
    case "Forbidden":
      return { _tag: error._tag, message: error.message, reason: error.reason }
    case "Unauthorized":
    case "NotFound":
    case "TooManyRequests":
      return { _tag: error._tag, message: error.message }
    case "Internal":
      return { _tag: error._tag, message: error.message, requestId: error.requestId }
  }
}
