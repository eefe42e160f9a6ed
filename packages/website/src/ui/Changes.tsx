import { shortSha, visible } from "./format.ts"
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

const shown = (value: string | null): string => (value === null ? "none" : visible(shortSha(value).slice(0, maxText)))

/** The same in words, in full. */
export const changesText = (changes: ReadonlyArray<Change>): string =>
  changes
    .map(({ field, from, to }) => `${field}: ${from === null ? "" : `${visible(from)} to `}${visible(to ?? "none")}`)
    .join(", ")

/** In one line. */
export const Changes = ({ changes }: { readonly changes: ReadonlyArray<Change> }) =>
  changes.slice(0, maxChanges).map(({ field, from, to }, index) => (
    // What is told to screen readers alone is cut where the line is.
    <span className="relative" key={field}>
      {index > 0 && ", "}
      {visible(field)}:{" "}
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
