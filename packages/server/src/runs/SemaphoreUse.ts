import { type SemaphoreHour, usageHours } from "@delivery/domain/runs/Semaphore"
import { timestamp } from "@delivery/domain/Timestamp"

/** The use of semaphores by the hour: what migration 0106 counts in SQL. Times are milliseconds since 1970. */

const hourMillis = 3_600_000

export type HourOfUse = Omit<SemaphoreHour, "hour">

/** By the beginning of the hour. */
export type HoursOfUse = ReadonlyMap<number, HourOfUse>

/** A lease, or a place in the queue that has ended. */
export interface Span {
  /** When it was asked for. */
  readonly asked: number
  /** When it was granted; undefined for a place that ended without a lease. */
  readonly since: number | undefined
  /** When it ended, or now. */
  readonly till: number
}

const hourOf = (time: number): number => time - (time % hourMillis)

const unused: HourOfUse = { leases: 0, heldMs: 0, longestWaitMs: 0, gaveUp: 0 }

/** What one adds to each hour. */
export const hoursOf = ({ asked, since, till }: Span): HoursOfUse => {
  if (since === undefined) return new Map([[hourOf(till), { ...unused, gaveUp: 1 }]])
  const hours = new Map<number, HourOfUse>()
  const first = hourOf(since)
  const end = Math.max(since, till)
  for (let hour = first; hour < end || hour === first; hour += hourMillis) {
    const heldMs = Math.min(end, hour + hourMillis) - Math.max(since, hour)
    hours.set(
      hour,
      hour === first
        ? { leases: 1, heldMs, longestWaitMs: Math.max(0, since - asked), gaveUp: 0 }
        : { ...unused, heldMs }
    )
  }
  return hours
}

export const sumOfUse = (a: HourOfUse | undefined, b: HourOfUse): HourOfUse =>
  a === undefined
    ? b
    : {
        leases: a.leases + b.leases,
        heldMs: a.heldMs + b.heldMs,
        longestWaitMs: Math.max(a.longestWaitMs, b.longestWaitMs),
        gaveUp: a.gaveUp + b.gaveUp
      }

/** The beginning of the first hour that is told of. */
export const usageFrom = (now: number): number => hourOf(now) - (usageHours - 1) * hourMillis

/** All hours that are told of, oldest first. */
export const shownHours = (hours: HoursOfUse, now: number): ReadonlyArray<SemaphoreHour> =>
  Array.from({ length: usageHours }, (_, index) => usageFrom(now) + index * hourMillis).map((hour) => ({
    hour: timestamp(hour),
    ...(hours.get(hour) ?? unused)
  }))
