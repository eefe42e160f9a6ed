import { foldCase } from "@delivery/domain/FoldCase"
import type { Case } from "@delivery/domain/runs/Case"

/** What the palette knows of tests that were found, so that it asks no more than it must. Pure. */

type Found = Pick<Case, "caseId" | "file" | "title">

export interface FoundCases<One extends Found = Found> {
  readonly cases: ReadonlyArray<One>
  /** Whether there are no more that have the words. */
  readonly isWhole: boolean
  /** When the server said so, in milliseconds. */
  readonly at: number
}

/** As long as what the server said is good enough to find more words in it. */
const freshMillis = 60_000

/** What `q` finds among all that its beginning found; undefined where the server has to be asked. */
export const narrowed = <One extends Found>(
  known: FoundCases<One> | undefined,
  q: string,
  now: number
): FoundCases<One> | undefined => {
  if (known === undefined || !known.isWhole || now - known.at > freshMillis) return undefined
  const part = foldCase(q)
  const cases = known.cases.filter(({ caseId, file, title }) =>
    [title, file, caseId].some((text) => foldCase(text).includes(part))
  )
  return { ...known, cases }
}

/** What was typed before the last characters: the longest first, none too short to be asked for. */
export const beginningsOf = (q: string, shortest: number): ReadonlyArray<string> =>
  Array.from({ length: Math.max(0, q.length - shortest) }, (_, cut) => q.slice(0, q.length - 1 - cut))
