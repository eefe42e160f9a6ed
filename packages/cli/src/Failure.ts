import { Cause, Data } from "effect"
import { CliError } from "effect/cli"

/** What the exit code of a command says. 0: it has done its work. */
const exitCodes = { failed: 1, usage: 2, notSignedIn: 3, unreachable: 4 } as const

/** Why a command failed. The message is one line for people. */
export class Failure extends Data.TaggedError("Failure")<{
  readonly message: string
  readonly exitCode?: number
}> {
  static usage(message: string): Failure {
    return new Failure({ message, exitCode: exitCodes.usage })
  }
  static notSignedIn(message: string): Failure {
    return new Failure({ message, exitCode: exitCodes.notSignedIn })
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

/** What a failed call means for the command. The errors are those of the typed client. */
export const callFailure =
  (url: string) =>
  (error: unknown): Failure => {
    if (error instanceof Failure) return error
    const { _tag: tag, message } = describe(error)
    if (tag === "Unauthorized") {
      return Failure.notSignedIn(
        process.env["DELIVERY_API_KEY"] === undefined
          ? `${url} does not accept the API key. It may be revoked: run \`delivery login\`.`
          : `${url} does not accept the API key in DELIVERY_API_KEY. It may be revoked: set another one, or none to use that of \`delivery login\`.`
      )
    }
    if (tag === "HttpClientError" || tag === "SchemaError" || tag === "TimeoutError") {
      return Failure.unreachable(`${url} cannot be reached, or is not a Delivery service of this version: ${message}`)
    }
    return tag === "Unavailable" || tag === "TooManyRequests"
      ? Failure.unreachable(`${url}: ${message}`)
      : new Failure({ message })
  }

const describe = (error: unknown): { readonly _tag: string; readonly message: string } => {
  if (!(error instanceof Error)) return { _tag: "", message: String(error) }
  const request = "requestId" in error ? ` (request ${String(error.requestId)})` : ""
  const tag = "_tag" in error ? String(error._tag) : error.name
  return { _tag: tag, message: error.message.split("\n", 1)[0] + request }
}
