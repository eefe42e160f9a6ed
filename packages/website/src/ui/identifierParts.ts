const identifier = /(?<![A-Za-z0-9_/-])([A-Z][A-Z0-9]{0,9})-[1-9]\d{0,9}(?![A-Za-z0-9_-])/g

/** The text in parts: the identifiers of tickets, and what stands between them. Pure. */
export const partsOf = (
  text: string,
  keys: ReadonlySet<string>
): ReadonlyArray<{ readonly text: string; readonly isTicket: boolean }> => {
  const parts: Array<{ readonly text: string; readonly isTicket: boolean }> = []
  let end = 0
  for (const match of text.matchAll(identifier)) {
    if (!keys.has(match[1]!)) continue
    if (match.index > end) parts.push({ text: text.slice(end, match.index), isTicket: false })
    parts.push({ text: match[0], isTicket: true })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ text: text.slice(end), isTicket: false })
  return parts
}
