import { Effect } from "effect"

/** How much of what is stored a tool answers (docs/contract.md, MCP). */

/** Characters of JSON that the comments of an answer, or the messages of one, have together, unless one alone has more. */
export const maxAnswer = 200 * 1024
/** The same of the tickets or projects of a list. */
export const maxListed = 1024 * 1024
/** How many comments an answer has at most. */
export const maxAnsweredComments = 100

/** After so many characters other requests have their turn. */
const partSize = 32 * 1024

/** The length of what is answered, in JSON. */
export const sizeOf = (answer: unknown): number => JSON.stringify(answer).length

/** The first items, as they are answered: as many as fit, and at least one. Further ones are not even looked at. */
export const fitting = Effect.fnUntraced(function* <Item, Answer>(
  items: Iterable<Item>,
  answerOf: (item: Item) => Answer,
  max: number
) {
  const answers: Array<Answer> = []
  let [size, part] = [0, 0]
  for (const item of items) {
    const answer = answerOf(item)
    const own = sizeOf(answer)
    if (answers.length > 0 && size + own > max) break
    answers.push(answer)
    size += own
    part += own
    if (part > partSize) {
      part = 0
      yield* Effect.yieldNow
    }
  }
  return answers
})
