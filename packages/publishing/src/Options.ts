import type { DeliveryReporterOptions } from "./Settings.ts"

/** The options of the reporters as a value, which the compiler holds against their type. */
const names: Readonly<Record<keyof DeliveryReporterOptions, true>> = {
  url: true,
  apiKey: true,
  workspace: true,
  product: true,
  environment: true,
  baseUrl: true,
  fixtureUrl: true,
  coverage: true,
  folders: true,
  caseIds: true,
  git: true,
  cleanup: true,
  required: true
}

/** How many letters must be typed otherwise (Levenshtein's distance). */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1]
    for (const [column, above] of row.slice(1).entries()) {
      next.push(Math.min(above + 1, next[column]! + 1, row[column]! + (letter === other[column] ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1)!
}

/** Throws where an option is none of the reporters, and names the one that may be meant. */
export const checkOptions = (options: object): void => {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  if (unknown === undefined) return
  const known = Object.keys(names)
  const [nearest] = known.toSorted((a, b) => distance(unknown, a) - distance(unknown, b))
  throw new TypeError(
    `Delivery: The reporter knows no option "${unknown}". Did you mean ${nearest}? It takes ${known.join(", ")}.`
  )
}
