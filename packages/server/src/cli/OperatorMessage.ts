import { Cause } from "effect"
import { CliError } from "effect/cli"
import { HttpServerError } from "effect/http"
import { SqlError } from "effect/sql"
import { SettingsError } from "../Config.ts"
import { EmbeddedDatabaseError } from "../database/EmbeddedDatabase.ts"
import { addressOf } from "../database/PostgresSockets.ts"
import { HostError } from "./Host.ts"
import { listenMessage } from "./ListenMessage.ts"
import { NoWorkerStarted } from "../workers/Supervisor.ts"

/**
 * One line for failures that the operator can fix; an empty one where the failure was already reported; undefined for
 * faults, which are printed in full.
 */
export const operatorMessage =
  (environment: NodeJS.ProcessEnv) =>
  (cause: Cause.Cause<unknown>): string | undefined => {
    const error = Cause.squash(cause)
    if (error instanceof SettingsError || error instanceof EmbeddedDatabaseError) return error.message
    if (error instanceof NoWorkerStarted || error instanceof HostError) return error.message
    const url = environment["DATABASE_URL"]
    if (error instanceof SqlError.SqlError && url !== undefined && url !== "") {
      const message = databaseMessage(error.reason, addressOf(url))
      if (message !== undefined) return `DATABASE_URL: ${message}`
    }
    if (error instanceof HttpServerError.ServeError) return listenMessage(error.cause)
    // The command line has printed its help, or what is wrong.
    if (CliError.isCliError(error)) return ""
    return undefined
  }

/** Why the database cannot be used, where that is not a fault: the host and port, and never the password. */
const databaseMessage = (
  { _tag, cause, operation }: SqlError.SqlErrorReason,
  address: ReturnType<typeof addressOf>
): string | undefined => {
  const code = codeOf(cause)
  const place = "path" in address ? address.path : `${address.host}:${address.port}`
  if (code === "ECONNREFUSED" || code === "ENOENT") {
    return `the connection to ${place} was refused: no PostgreSQL listens there. Start it, or correct host and port.`
  }
  if ((code === "ENOTFOUND" || code === "EAI_AGAIN") && "host" in address) {
    return `there is no host with the name ${address.host}.`
  }
  const why = oneLine(cause)
  if (_tag === "AuthenticationError")
    return `PostgreSQL at ${place} refused the login: ${why}. Correct user and password.`
  if (_tag === "AuthorizationError") return `PostgreSQL at ${place} does not let this user do what is needed: ${why}.`
  // What PostgreSQL refuses before the first statement, such as a database that does not exist.
  if (code === "3D000") return `PostgreSQL at ${place} refused the connection: ${why}. Create it, or correct the name.`
  if (_tag === "ConnectionError" || operation === "connect") return `the connection to ${place} failed: ${why}.`
  return undefined
}

const codeOf = (cause: unknown): unknown => (cause instanceof Error && "code" in cause ? cause.code : undefined)

const oneLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s+/g, " ")
