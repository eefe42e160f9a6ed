import { Schema, SchemaTransformation } from "effect"
import { undocumented } from "./Text.ts"

/** Numbers that count objects within another: runs, retries, attempts, tickets, milestones, versions. */

/** The largest such number: PostgreSQL's largest integer. */
export const maxNumber = 2_147_483_647

const numberMessage = `Expected a whole number from 1 to ${maxNumber}`

/** Such a number in a path. Text that is not such a number becomes 0, which nothing has, so it is 404. */
export const NumberInPath = Schema.String.annotate({
  format: "int32",
  description: "The number of the run in the workspace.",
  examples: ["12"]
}).pipe(
  Schema.decodeTo(
    Schema.Number,
    SchemaTransformation.transform({
      decode: (text) => {
        const number = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0
        return number <= maxNumber ? number : 0
      },
      encode: String
    })
  )
)

/** Such a number in a query, where other text is an error. */
export const NumberInQuery = Schema.String.annotate({ format: "int32", examples: ["12"] })
  .check(Schema.isPattern(/^[1-9]\d{0,9}$/, { message: numberMessage, toJsonSchema: undocumented }))
  .pipe(
    Schema.decodeTo(
      Schema.Int.check(Schema.isLessThanOrEqualTo(maxNumber, { message: numberMessage })),
      SchemaTransformation.numberFromString
    )
  )

/** A whole number from `min` to `max`, which has at most 3 digits, in a query. */
export const WholeInQuery = (min: number, max: number, description: string, example: string) => {
  const message = `Expected a whole number from ${min} to ${max}`
  return Schema.String.annotate({ format: "int32" })
    .check(Schema.isPattern(/^\d{1,3}$/, { message, toJsonSchema: undocumented }))
    .pipe(
      Schema.decodeTo(
        Schema.Int.check(Schema.isLessThanOrEqualTo(max, { message }), Schema.isGreaterThanOrEqualTo(min, { message })),
        SchemaTransformation.numberFromString
      )
    )
    .pipe(Schema.annotateEncoded({ description, examples: [example] }))
}
