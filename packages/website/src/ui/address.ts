/** Reads what stands in an address. It may be anything: what is none of what may stand there is left out. Pure. */

export type Address = Readonly<Record<string, unknown>>

/** What a parameter says, as JSON where it is some. A number that reads differently when it is written again is a text: 1.10, 4e1. */
export const parameter = (text: string): unknown =>
  Number.isNaN(+text) || `${+text}` === text ? JSON.parse(text) : text

/** A text of up to 500 characters. One of digits alone arrives as a number. */
export const textAt = (address: Address, name: string): string | undefined => {
  const value = address[name]
  const text = typeof value === "number" ? String(value) : value
  return typeof text === "string" && text.trim() !== "" ? text.slice(0, 500) : undefined
}

/** Up to 100 texts. */
export const textsAt = (address: Address, name: string): ReadonlyArray<string> | undefined => {
  const value = address[name]
  const texts = (Array.isArray(value) ? value : [value]).flatMap((one: unknown) => {
    const text = textAt({ one }, "one")
    return text === undefined ? [] : [text]
  })
  return texts.length === 0 ? undefined : texts.slice(0, 100)
}

/** One of these values, as they are or as text. */
export const oneAt = <const A extends string | number | boolean>(
  address: Address,
  name: string,
  values: ReadonlyArray<A>
): A | undefined => values.find((one) => String(one) === String(address[name]))

/** A whole number above 0. */
export const countAt = (address: Address, name: string): number | undefined => {
  const number = Number(address[name])
  return Number.isInteger(number) && number > 0 ? number : undefined
}

/** What stands in an address, without what does not. */
export const withoutUndefined = <Search extends object>(search: {
  readonly [Name in keyof Search]?: Search[Name] | undefined
}): Search => Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Search
