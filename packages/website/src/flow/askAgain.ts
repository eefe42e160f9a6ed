import type { Readiness } from "@delivery/domain/flow/Readiness"

/** When readiness is asked again since time alone changes it. Pure. */

/** It is asked a little after its time, and of one that is far off now and then: timers take no longer waits. */
const marginMillis = 500
const longestMillis = 6 * 60 * 60_000

/**
 * In how many milliseconds readiness that was read at `readAt` is to be asked again, since a freeze window begins or ends, or a mute runs
 * out; false where nothing is to come. By the clock of the server: that of the browser may be wrong.
 */
export const askAgainIn = (
  { at, changesAt }: Pick<Readiness, "at" | "changesAt">,
  readAt: number,
  now: number
): number | false =>
  changesAt !== null &&
  Math.min(Math.max(readAt + Date.parse(changesAt) - Date.parse(at) - now, 0) + marginMillis, longestMillis)
