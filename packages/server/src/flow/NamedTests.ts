import { firstCharacters } from "@delivery/domain/Text"

/** Tests as an event or an entry of the audit names them. Pure. */

/** How many characters of their names it has. */
const maxNamed = 500

export const withNames = (start: string, caseIds: ReadonlyArray<string>): string =>
  firstCharacters(`${start}${caseIds.join(", ")}`, maxNamed)

/** What a list of tests lost, and what it got. */
export const changedTests = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) => {
  const [had, has] = [new Set(before), new Set(after)]
  return { gone: before.filter((caseId) => !has.has(caseId)), added: after.filter((caseId) => !had.has(caseId)) }
}
