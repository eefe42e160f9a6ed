/**
 * A `.env` file: variables as Node's `--env-file` and Compose read them. What is imported from one, and pasted on the website, is
 * read here alone. It imports nothing, so that pages can have it.
 */

export interface DotEnv {
  readonly values: ReadonlyMap<string, string>
  /** Lines that are neither a variable, nor empty, nor a comment, by their number from 1. */
  readonly ignored: ReadonlyArray<number>
  /** Variables that are there more than once, of which the last counts. */
  readonly repeated: ReadonlyArray<string>
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

export const readDotEnv = (file: string): DotEnv => {
  const text = file.replaceAll("\r\n", "\n")
  const values = new Map<string, string>()
  const ignored: Array<number> = []
  const repeated = new Set<string>()
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
      const name = match[1]!
      if (values.has(name)) repeated.add(name)
      values.set(
        name,
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
  return { values, ignored, repeated: [...repeated] }
}
