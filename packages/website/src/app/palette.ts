import type { IconName } from "../ui/Icon.tsx"

/** What the palette offers, and in which order it shows what was found. Pure. */

export interface Command {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly icon: IconName
  readonly keys?: string
  /** By which it is found, besides. */
  readonly words?: string
  /** Whether it is found by what it belongs to, and shown after what is called so. */
  readonly isPart?: boolean
  readonly run: () => void
}

interface Named {
  readonly label: string
  /** What is found by what it belongs to, such as a run by its product, comes after what is called so. */
  readonly isPart?: boolean
}

/** How well a label fits what was typed: 0 is the same, 4 is not at all, as where something else of it has the words. */
const rankOf = (typed: string, { label }: Named): number => {
  const name = label.toLowerCase()
  if (name === typed || name === `run ${typed}`) return 0
  if (name.startsWith(typed)) return 1
  const words = typed.split(/\s+/)
  const starts = name.split(/\s+/)
  if (words.every((word) => starts.some((start) => start.startsWith(word)))) return 2
  return words.every((word) => name.includes(word)) ? 3 : 4
}

/** What fits best first; of those that fit as well, as they came, with parts behind. */
export const ranked = <One extends Named>(text: string, found: ReadonlyArray<One>): ReadonlyArray<One> => {
  const typed = text.trim().toLowerCase()
  if (typed === "") return found
  return found
    .map((one) => ({ one, rank: rankOf(typed, one) }))
    .toSorted((a, b) => a.rank - b.rank || Number(a.one.isPart ?? false) - Number(b.one.isPart ?? false))
    .map(({ one }) => one)
}

/** The number of the run that is asked for, whether or not it is among those that are known. */
export const runNumberOf = (typed: string): number | undefined => {
  const [, number] = /^(?:run )?([1-9]\d{0,8})$/i.exec(typed.trim()) ?? []
  return number === undefined ? undefined : Number(number)
}

/** What is meant by a short form: `#47` is a run, and `SHOP1` a ticket of the team with that key. */
export const meant = (text: string, teams: ReadonlyArray<string>): string => {
  const typed = text.trim()
  const run = /^#(\d+)$/.exec(typed)
  if (run !== null) return `run ${run[1]}`
  const team = teams.find((key) => /^[1-9]\d*$/.test(typed.slice(key.length)) && typed.toUpperCase().startsWith(key))
  return team === undefined ? text : `${team}-${typed.slice(team.length)}`
}
