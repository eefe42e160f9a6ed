import { Schema } from "effect"
import { undocumented } from "./Text.ts"

/** An instant in UTC with milliseconds, `2026-11-21T09:30:00.000Z` (docs/contract.md, Conventions). */
export const Timestamp = Schema.String.annotate({
  format: "date-time",
  description: "A time in UTC with milliseconds.",
  examples: ["2026-11-21T09:30:00.000Z"]
})
export type Timestamp = typeof Timestamp.Type

const pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/
const [first, last] = [0, Date.UTC(9999, 11, 31, 23, 59, 59, 999)]

/** A timestamp as clients may send it: any ISO 8601 timestamp with an offset, from 1970 to 9999. */
export const TimestampInput = Schema.String.annotate({ format: "date-time" })
  .check(
    Schema.makeFilter<string>(
      (text) => {
        const millis = pattern.test(text) && isCalendarDate(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
        return (millis >= first && millis <= last) || "Expected an ISO 8601 timestamp with an offset"
      },
      { toJsonSchema: undocumented }
    )
  )
  .annotate({
    description: "An ISO 8601 timestamp with an offset, from 1970 to 9999.",
    examples: ["2026-11-21T09:30:10.000Z"]
  })

/** Whether `YYYY-MM-DD` is a real date (30 February is not). */
export const isCalendarDate = (text: string): boolean => {
  const millis = Date.parse(`${text}T00:00:00.000Z`)
  return !Number.isNaN(millis) && new Date(millis).toISOString().slice(0, 10) === text
}

/** A real date, `YYYY-MM-DD`, from 1970 to 9999. */
export const CalendarDate = Schema.String.annotate({ format: "date" })
  .check(
    Schema.makeFilter<string>(
      (text) =>
        (/^\d{4}-\d{2}-\d{2}$/.test(text) && text >= "1970" && isCalendarDate(text)) ||
        "Expected a date, YYYY-MM-DD, from 1970 on",
      { toJsonSchema: undocumented }
    )
  )
  .annotate({ description: "A date, `YYYY-MM-DD`, from 1970 on.", examples: ["2027-03-31"] })

/** The timestamp of an instant in milliseconds since 1970. */
export const timestamp = (millis: number): Timestamp => new Date(millis).toISOString()
