import type { DeliveryReporterOptions } from "./Settings.ts"

/** What an option may be, in words, and how that is told. */
interface Kind {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
}

const isString = (value: unknown): value is string => typeof value === "string"
const text: Kind = { expected: "a string", holds: isString }
const texts: Kind = {
  expected: "an array of strings",
  holds: (value) => Array.isArray(value) && value.every(isString)
}

/** The options of the reporters as a value, which the compiler holds against their type. */
const kinds: Readonly<Record<keyof DeliveryReporterOptions, Kind>> = {
  url: text,
  apiKey: text,
  workspace: text,
  product: text,
  environment: text,
  baseUrl: text,
  fixtureUrl: text,
  coverage: text,
  folders: texts,
  caseIds: texts,
  git: { expected: "an object", holds: (value) => typeof value === "object" && value !== null },
  cleanup: {
    expected: "a function, or the path of a module",
    holds: (value) => isString(value) || typeof value === "function"
  },
  required: { expected: "true or false", holds: (value) => typeof value === "boolean" }
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

/** Throws where an option is none of the reporters, and names the one that may be meant; or where its value is none of its kind. */
export const checkOptions = (options: object): void => {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(kinds, name)) throw unknownOption(name)
    const { expected, holds } = kinds[name as keyof typeof kinds]
    if (value !== undefined && !holds(value)) {
      throw new TypeError(`Delivery: The option ${name} of the reporter must be ${expected}.`)
    }
  }
}

const unknownOption = (unknown: string): TypeError => {
  const known = Object.keys(kinds)
  const [nearest] = known.toSorted((a, b) => distance(unknown, a) - distance(unknown, b))
  return new TypeError(
    `Delivery: The reporter knows no option "${unknown}". Did you mean ${nearest}? It takes ${known.join(", ")}.`
  )
}
