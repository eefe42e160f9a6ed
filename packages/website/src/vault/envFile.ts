/** Reads what people paste: a file of environment variables, as Node's `--env-file` and Compose read it. Pure. */

export interface Pasted {
  readonly values: ReadonlyMap<string, string>
  /** Lines that are neither a variable, nor empty, nor a comment, by their number from 1. */
  readonly ignored: ReadonlyArray<number>
}

const assignment = /^\s*(?:export\s+)?([\w.-]+)\s*=[ \t]*/

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" }

const unescaped = (text: string): string =>
  text.replaceAll(/\\([nrt"\\])/g, (_, character: string) => escapes[character]!)

/** The value that begins at a quote, and where the text goes on; undefined where the quote is never closed. */
const quoted = (text: string, from: number): { readonly value: string; readonly end: number } | undefined => {
  const quote = text[from]!
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\" && quote === '"') at++
    else if (text[at] === quote) {
      const inside = text.slice(from + 1, at)
      return { value: quote === '"' ? unescaped(inside) : inside, end: at + 1 }
    }
  }
  return undefined
}

const endOfLine = (text: string, from: number): number => {
  const at = text.indexOf("\n", from)
  return at === -1 ? text.length : at
}

export const parseEnv = (pasted: string): Pasted => {
  const text = pasted.replaceAll("\r\n", "\n")
  const values = new Map<string, string>()
  const ignored: Array<number> = []
  let line = 1
  for (let at = 0; at < text.length;) {
    const end = endOfLine(text, at)
    const raw = text.slice(at, end)
    const match = assignment.exec(raw)
    let next = end
    if (match === null) {
      if (raw.trim() !== "" && !raw.trim().startsWith("#")) ignored.push(line)
    } else {
      const start = at + match[0].length
      const inQuotes = /["'`]/.test(text[start] ?? "") ? quoted(text, start) : undefined
      values.set(
        match[1]!,
        inQuotes?.value ??
          text
            .slice(start, end)
            .replace(/\s+#.*$/, "")
            .trim()
      )
      next = inQuotes === undefined ? end : endOfLine(text, inQuotes.end)
    }
    line += text.slice(at, next + 1).split("\n").length - 1
    at = next + 1
  }
  return { values, ignored }
}

/** What a paste would do to a name. `unknown`: it has a value that may not be read, which would be replaced. */
export type Change = "added" | "changed" | "same" | "unknown"

/** What is there now: the value where it may be read, whether there is one, and its version. */
export interface Present {
  readonly hasValue: boolean
  readonly value: string | null
  readonly version: number
}

export const changeOf = (next: string, present: Present | undefined): Change => {
  if (present === undefined || !present.hasValue) return "added"
  if (present.value === null) return "unknown"
  return present.value === next ? "same" : "changed"
}
