import { formatAbsolute, shortSha, visible } from "./format.ts"
import { Icon } from "./Icon.tsx"

/** What has changed of something: each field, from what to what. Texts may be those of strangers. */

export interface Change {
  readonly field: string
  readonly from: string | null
  readonly to: string | null
}

/** The most that a line says of one value. */
const maxText = 200

/** How many changes a line says, at most. */
const maxChanges = 10

const isTime = (value: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)

const shown = (value: string | null): string => {
  if (value === null) return "none"
  return isTime(value) ? formatAbsolute(new Date(value)) : visible(shortSha(value).slice(0, maxText))
}

/** The API's `repositoryId` is "repository id" for people. */
const wordsOf = (field: string): string =>
  visible(field).replaceAll(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)

/** The same in words, in full. */
export const changesText = (changes: ReadonlyArray<Change>): string =>
  changes
    .map(
      ({ field, from, to }) =>
        `${wordsOf(field)}: ${from === null ? "" : `${visible(from)} to `}${visible(to ?? "none")}`
    )
    .join(", ")

/** In one line. */
export const Changes = ({ changes }: { readonly changes: ReadonlyArray<Change> }) =>
  changes.slice(0, maxChanges).map(({ field, from, to }, index) => (
    // What is told to screen readers alone is cut where the line is.
    <span className="relative" key={`${field} ${index}`}>
      {index > 0 && ", "}
      {wordsOf(field)}:{" "}
      {from !== null && (
        <>
          {shown(from)}
          <span className="mx-1 inline-block align-middle">
            <Icon name="arrowRight" size={12} />
          </span>
          <span className="sr-only"> to </span>
        </>
      )}
      {shown(to)}
    </span>
  ))
