import { Internal, InvalidInput, type Issue, NotFound } from "@delivery/domain/Errors"
import { type Cause, type Schema, SchemaIssue } from "effect"
import { HttpServerError, HttpServerResponse } from "effect/http"

/** Errors in the contract's form, wherever they come from (contract, section 1). */

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** A body of thousands of tests may be wrong thousands of times. */
const maxIssues = 20

const segment = (part: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof part === "object" ? part.key : part)

/** What a body or query did not match, as the contract says it. Never repeats the input. */
export const invalidInput = (error: Schema.SchemaError): InvalidInput => {
  const issues: ReadonlyArray<Issue> = format(error.issue)
    .issues.slice(0, maxIssues)
    .map((issue) => ({
      path: (issue.path ?? []).map(segment),
      message: issue.message
    }))
  const [first] = issues
  const where = first === undefined || first.path.length === 0 ? "" : `${first.path.join(".")}: `
  return new InvalidInput({ message: `${where}${first?.message ?? "The request is malformed."}`, issues })
}

/** A request whose body could not be taken: too large, cut off, or not decodable. */
export const unreadableBody = (error: HttpServerError.RequestParseError): InvalidInput => {
  const message = error.reason === "BodyTooLarge" ? "The body is too large." : "The body could not be read."
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
      return { error: new NotFound({ message: "Nothing is here." }), status: 404, isFault: false }
    }
    if (error?._tag === "RequestParseError") return { error: unreadableBody(error), status: 400, isFault: false }
  }
  return {
    error: new Internal({ message: "Something went wrong.", requestId }),
    status: 500,
    isFault: true
  }
}

/** The response of an error that is rendered outside the API's own encoding. */
export const errorResponse = (
  error: InvalidInput | NotFound | Internal,
  status: number
): HttpServerResponse.HttpServerResponse => HttpServerResponse.jsonUnsafe({ ...fields(error) }, { status })

const fields = (error: InvalidInput | NotFound | Internal) => {
  switch (error._tag) {
    case "InvalidInput":
      return { _tag: error._tag, message: error.message, issues: error.issues }
    case "NotFound":
      return { _tag: error._tag, message: error.message }
    case "Internal":
      return { _tag: error._tag, message: error.message, requestId: error.requestId }
  }
}
