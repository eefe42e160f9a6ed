import { NotFound } from "@delivery/domain/Errors"
import { noAnswerReason } from "@delivery/domain/NoAnswer"
import { serviceUrl } from "@delivery/domain/ServiceUrl"
import { Cause, Data } from "effect"
import { CliError } from "effect/cli"

/** What the exit code of a command says. 0: it has done its work. */
const exitCodes = { failed: 1, usage: 2, notSignedIn: 3, unreachable: 4, interrupted: 130 } as const

/** Why a command failed. The message is one line for people. */
export class Failure extends Data.TaggedError("Failure")<{
  readonly message: string
  readonly exitCode?: number
}> {
  static usage(message: string): Failure {
    return new Failure({ message, exitCode: exitCodes.usage })
  }
  static noServiceUrl(what: string): Failure {
    return Failure.usage(`${what} is not ${serviceUrl}.`)
  }
  static notSignedIn(message: string): Failure {
    return new Failure({ message, exitCode: exitCodes.notSignedIn })
  }
  /** Somebody was asked, and left without an answer. */
  static unanswered(): Failure {
    return new Failure({ message: "Nothing was done.", exitCode: exitCodes.interrupted })
  }
  static unreachable(message: string): Failure {
    return new Failure({ message, exitCode: exitCodes.unreachable })
  }
  get isUnreachable(): boolean {
    return this.exitCode === exitCodes.unreachable
  }
}

/** The exit code of a command that failed. */
export const exitCodeOf = (cause: Cause.Cause<unknown>): number => {
  if (Cause.hasInterruptsOnly(cause)) return exitCodes.interrupted
  const error = Cause.squash(cause)
  if (error instanceof Failure) return error.exitCode ?? exitCodes.failed
  return CliError.isCliError(error) ? exitCodes.usage : exitCodes.failed
}

/** One line for failures that the user can fix; undefined for faults, which are shown in full. */
export const messageOf = (cause: Cause.Cause<unknown>): string | undefined => {
  const error = Cause.squash(cause)
  if (error instanceof Failure) return error.message
  return CliError.isCliError(error) ? "" : undefined
}

/** The service does not repeat what the path says, and here it may come from a profile. */
const noWorkspace = NotFound.of("workspace").message

/** What a failed call means for the command. The errors are those of the typed client. */
export const callFailure =
  ({ url, workspace }: { readonly url: string; readonly workspace?: string }) =>
  (error: unknown): Failure => {
    if (error instanceof Failure) return error
    const unanswered = noAnswerTo(url, error)
    if (unanswered !== undefined) {
      return Failure.unreachable(mayBeDone(error) ? `${unanswered} ${lookFirst}` : unanswered)
    }
    const { _tag: tag, message } = describe(error)
    if (tag === "Unauthorized") {
      return Failure.notSignedIn(
        process.env["DELIVERY_API_KEY"] === undefined
          ? `${url} does not accept the API key. It may be revoked: run \`delivery login\`.`
          : `${url} does not accept the API key in DELIVERY_API_KEY. It may be revoked: set another one, or none to use that of \`delivery login\`.`
      )
    }
    if (tag === "HttpClientError" || tag === "SchemaError") {
      const called = callOf(error)
      // Nothing was sent: what was to be sent can be none.
      if (called === undefined) return Failure.usage(/[.!?]$/.test(message) ? message : `${message}.`)
      const redirect = redirectOf(error)
      if (redirect !== undefined) return Failure.usage(`${url} is not the address of the service: ${redirect}.`)
      if (called.status !== undefined && called.status >= 500) {
        return Failure.unreachable(`${url} cannot be reached: something on the way answered ${called.status}.`)
      }
      return Failure.unreachable(`${url} is not a Delivery service of this version: ${message}`)
    }
    if (tag === "NotFound" && message === noWorkspace) {
      return new Failure({ message: NotFound.of("workspace", workspace).message })
    }
    if (tag === "NotFound" && message.startsWith(noSuchPath)) return Failure.usage(`${message} ${pathAdvice(url)}`)
    return tag === "Unavailable" || tag === "TooManyRequests"
      ? Failure.unreachable(`${url}: ${message}`)
      : new Failure({ message })
  }

/** Where the service is instead, as the client says it. */
const redirectOf = (error: unknown): string | undefined => {
  const { description, response } = (error as { reason?: { description?: string; response?: { status: number } } })
    .reason ?? { description: undefined }
  return response !== undefined && response.status < 400 ? description : undefined
}

/** What the service says where no call of the API has a path. */
const noSuchPath = "This path does not exist."

const pathAdvice = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return pathname === "/"
    ? `${url} is not a Delivery service of this version.`
    : `The address of the service, ${url}, has a path. Without one, it is ${origin}.`
}

/** Why an answer that had begun did not come to its end; undefined for one that did. */
const brokenOffBy = (cause: unknown): string | undefined => {
  if (cause instanceof DOMException && cause.name === "TimeoutError") return cause.message
  return cause instanceof TypeError ? "its answer was cut off" : undefined
}

/** Why nothing answered; undefined for an error of an answer. */
const noAnswerTo = (url: string, error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  if (error.name === "TimeoutError") return `${url} cannot be reached: there was no answer in time.`
  if (!("reason" in error && "response" in error)) return undefined
  const { cause, description } = error.reason as { readonly cause?: unknown; readonly description?: string }
  if (error.response !== undefined) {
    const brokenOff = brokenOffBy(cause)
    return brokenOff === undefined ? undefined : `${url} cannot be reached: ${brokenOff}.`
  }
  return `${url} cannot be reached: ${description ?? noAnswerReason(error)}.`
}

/** Codes of requests that have not reached the service. */
const notSent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ERR_SSL_WRONG_VERSION_NUMBER"])

const lookFirst = "The service may have done it: look before you repeat it."

/** Whether a request that makes something may have reached the service, which did not get to answer it. */
const mayBeDone = (error: unknown): boolean => {
  const { method } = (error as { readonly request?: { readonly method: string } }).request ?? { method: "GET" }
  return method === "POST" && !notSent.has(codeOf(error))
}

const codeOf = (thrown: unknown): string => {
  const { cause, code, reason } = thrown as {
    readonly cause?: unknown
    readonly code?: string
    readonly reason?: unknown
  }
  const inner = cause ?? reason
  return code ?? (typeof inner === "object" && inner !== null ? codeOf(inner) : "")
}

/** What the typed client notes of the request behind an error; undefined where none was sent. */
const callOf = (error: unknown): { readonly status?: number } | undefined =>
  (error as { readonly call?: { readonly status?: number } }).call

const describe = (error: unknown): { readonly _tag: string; readonly message: string } => {
  if (!(error instanceof Error)) return { _tag: "", message: String(error) }
  const request = "requestId" in error ? ` (request ${String(error.requestId)})` : ""
  const tag = "_tag" in error ? String(error._tag) : error.name
  return { _tag: tag, message: error.message.split("\n", 1)[0] + request }
}
