import { Schema } from "effect"
import { foldCase } from "../FoldCase.ts"
import { fewMarks, firstCharacters, Ref, undocumented } from "../Text.ts"

/** The words of tickets, and of what is looked for in them (docs/contract.md, Tickets). */

/** How many words `q` may have. */
export const maxQueryWords = 10

/** How many tickets a search finds. */
export const maxFound = 100

/** How many characters of a word count. */
const maxWord = 64

/**
 * The words of a text, each once: what has no letter, mark or number in it separates them; case does not matter. They are
 * stored: a change needs a migration that stores them anew.
 */
export const wordsOf = (text: string): ReadonlyArray<string> => {
  const words = foldCase(fewMarks(text).normalize("NFC")).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => firstCharacters(word, maxWord)))]
}

/** `q` of a list of tickets. */
export const TicketQuery = Ref.check(
  Schema.makeFilter<string>((q) => wordsOf(q).length <= maxQueryWords || `Expected at most ${maxQueryWords} words`, {
    toJsonSchema: undocumented
  })
)
