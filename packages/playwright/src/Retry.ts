import { isTransient } from "@delivery/client"
import { setTimeout } from "node:timers/promises"

/** What an error says, on one line. */
export const lineOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${lineOf(error.cause)}` : ""
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ").trim() + cause
}

/** Whether a call may succeed a moment later. A call that outlived its time limit counts. */
export const isPassing = (error: unknown): boolean =>
  isTransient(error) || (error instanceof Error && error.name === "TimeoutError")

/**
 * Calls until it succeeds, with a pause before each further try. Fails with the first error that will not pass, or the
 * last one.
 */
export const withRetries = async <A>(
  call: (signal: AbortSignal) => Promise<A>,
  options: { readonly timeoutMillis: number; readonly pauses: ReadonlyArray<number> }
): Promise<A> => {
  const [pause, ...pauses] = options.pauses
  try {
    return await call(AbortSignal.timeout(options.timeoutMillis))
  } catch (error) {
    if (pause === undefined || !isPassing(error)) throw error
  }
  await setTimeout(pause)
  return withRetries(call, { ...options, pauses })
}
