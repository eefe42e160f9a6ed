import { fieldWords, valueWords } from "./changeWords.ts"
import { formatAbsolute, shortSha } from "./format.ts"
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

const shown = (field: string, value: string | null): string => {
  if (value === null) return "none"
  if (isTime(value)) return formatAbsolute(new Date(value))
  return shortSha(valueWords(field, value)).slice(0, maxText)
}

/** The same in words, in full. */
export const changesText = (changes: ReadonlyArray<Change>): string =>
  changes
    .map(
      ({ field, from, to }) =>
        `${fieldWords(field)}: ${from === null ? "" : `${valueWords(field, from)} to `}${to === null ? "none" : valueWords(field, to)}`
    )
    .join(", ")

/** In one line. */
export const Changes = ({ changes }: { readonly changes: ReadonlyArray<Change> }) =>
  changes.slice(0, maxChanges).map(({ field, from, to }, index) => (
    // What is told to screen readers alone is cut where the line is.
    <span className="relative" key={`${field} ${index}`}>
      {index > 0 && ", "}
      {fieldWords(field)}:{" "}
      {from !== null && (
        <>
          {shown(field, from)}
          <span className="mx-1 inline-block align-middle">
            <Icon name="arrowRight" size={12} />
          </span>
          <span className="sr-only"> to </span>
        </>
      )}
      {shown(field, to)}
    </span>
  ))
