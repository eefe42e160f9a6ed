import { Cause } from "effect"
import { CliError } from "effect/cli"
import { HttpServerError } from "effect/http"
import { SqlError } from "effect/sql"
import { SettingsError } from "../Config.ts"
import { EmbeddedDatabaseError } from "../database/EmbeddedDatabase.ts"
import { HostError } from "./Persons.ts"
import { NoWorkerStarted } from "../workers/Supervisor.ts"

/**
 * One line for failures that the operator can fix; an empty one where the failure was already reported; undefined for
 * faults, which are printed in full.
 */
export const operatorMessage = (cause: Cause.Cause<unknown>): string | undefined => {
  const error = Cause.squash(cause)
  if (error instanceof SettingsError || error instanceof EmbeddedDatabaseError) return error.message
  if (error instanceof NoWorkerStarted || error instanceof HostError) return error.message
  if (error instanceof SqlError.SqlError && unreachable.has(error.reason._tag)) {
    return `DATABASE_URL: the server cannot connect to the database: ${oneLine(error.reason.cause)}`
  }
  if (error instanceof HttpServerError.ServeError) return listenMessage(error.cause)
  // The help of the command line is already printed.
  if (CliError.isCliError(error)) return ""
  return undefined
}

const unreachable = new Set(["ConnectionError", "AuthenticationError", "AuthorizationError"])

const oneLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s+/g, " ")

const listenMessage = (cause: unknown): string => {
  const { address, code, hostname, port } = cause as NodeJS.ErrnoException & Readonly<Record<string, unknown>>
  if (code === "ENOTFOUND") return `HOST: this machine has no address with the name ${hostname}.`
  if (code === "EADDRINUSE")
    return `PORT: another process already listens on ${address}:${port}. Stop it, or set another PORT.`
  if (code === "EACCES")
    return `PORT: this user is not allowed to listen on ${address}:${port}. Set a PORT of 1024 or above.`
  return `HOST, PORT: the server cannot listen on ${address}:${port} (${code}).`
}
