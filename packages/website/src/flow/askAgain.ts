import type { ListedMute } from "@delivery/domain/flow/Mute"
import type { Readiness } from "@delivery/domain/flow/Readiness"

/** When readiness and mutes are asked again since time alone changes them. Pure. */

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

/** The clock of the server may be behind that of the browser: until it says that a mute is over, it is asked now and then. */
const behindMillis = 5_000

/** In how many milliseconds mutes are to be asked again, since the next of them runs out; false where none will. */
export const askMutesIn = (
  mutes: ReadonlyArray<Pick<ListedMute, "overdue" | "until">>,
  now: number
): number | false => {
  const ends = mutes.flatMap(({ overdue, until }) => (overdue ? [] : [Date.parse(until)]))
  if (ends.length === 0) return false
  const left = Math.min(...ends) - now
  return left > 0 ? Math.min(left + marginMillis, longestMillis) : behindMillis
}
