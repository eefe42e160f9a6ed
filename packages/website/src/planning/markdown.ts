/** Text of others as Markdown that shows it, character for character. Pure. */

/** One more backtick than the text has in a row anywhere, and no fewer than `least`. */
const fenceOf = (text: string, least: number): string =>
  "`".repeat(Math.max(least, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)))

/** In a line. Ends and begins with a blank where the text has a backtick there, which Markdown takes off again. */
export const codeSpan = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  const fence = fenceOf(line, 1)
  const blank = line.startsWith("`") || line.endsWith("`") ? " " : ""
  return `${fence}${blank}${line}${blank}${fence}`
}

/** In lines of its own. */
export const codeBlock = (text: string): string => {
  const fence = fenceOf(text, 3)
  return `${fence}text\n${text}\n${fence}`
}
