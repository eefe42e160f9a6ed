import { firstCharacters, visible } from "@delivery/domain/Text"

/** Tests as people read of them: in messages, in an event or an entry of the audit. Pure. */

/** A text on one line, in which nothing is hidden: a title may hold what a terminal obeys. */
export const line = (text: string): string => visible(text.replaceAll(/\s+/g, " ")).trim()

/** How many characters of their names it has. */
const maxNamed = 500

export const withNames = (start: string, caseIds: ReadonlyArray<string>): string =>
  firstCharacters(`${start}${caseIds.join(", ")}`, maxNamed)

/** What a list of tests lost, and what it got. */
export const changedTests = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) => {
  const [had, has] = [new Set(before), new Set(after)]
  return { gone: before.filter((caseId) => !has.has(caseId)), added: after.filter((caseId) => !had.has(caseId)) }
}
