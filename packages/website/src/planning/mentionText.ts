import { visible } from "../ui/format.ts"

/**
 * A text as its author sees it while it is typed: `@Ana Diaz` where the Markdown that is sent has `[@Ana Diaz](user:ID)`. Pure. In
 * code, too, where the service reads no mention: so what is shown never changes for what is typed elsewhere.
 */

const link = /\[@((?:[^[\]\\`]|\\.)*)\]\((?:user|agent):[0-9a-f-]{36}\)/gisu

interface Part {
  /** In the Markdown. */
  readonly source: string
  readonly shown: string
  readonly isMention: boolean
}

const partsOf = (text: string): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let end = 0
  const addPlain = (to: number) => {
    const plain = text.slice(end, to)
    if (plain !== "") parts.push({ source: plain, shown: plain, isMention: false })
  }
  for (const { 0: source, 1: name, index } of text.matchAll(link)) {
    addPlain(index)
    parts.push({ source, shown: `@${visible(name!.replaceAll(/\\(.)/gs, "$1"))}`, isMention: true })
    end = index + source.length
  }
  addPlain(text.length)
  return parts
}

const joined = (parts: ReadonlyArray<Part>): string => parts.map(({ shown }) => shown).join("")

export const shownOf = (text: string): string => joined(partsOf(text))

/** The Markdown of a range of what is shown. Of a mention that is cut, the letters stay. */
const sourceOf = (parts: ReadonlyArray<Part>, from: number, to: number): string => {
  let start = 0
  let source = ""
  for (const part of parts) {
    const [cutFrom, cutTo] = [Math.max(0, from - start), Math.min(part.shown.length, to - start)]
    if (cutFrom < cutTo)
      source += cutTo - cutFrom === part.shown.length ? part.source : part.shown.slice(cutFrom, cutTo)
    start += part.shown.length
  }
  return source
}

const offset = (text: string, at: number, from: "source" | "shown", to: "source" | "shown"): number => {
  let [left, there] = [at, 0]
  for (const part of partsOf(text)) {
    if (left <= 0) break
    there += part.isMention ? part[to].length : Math.min(left, part[to].length)
    left -= part[from].length
  }
  return there
}

/** Where a place in what is shown is in the Markdown. In a mention it is the end of it. */
export const sourceOffset = (text: string, at: number): number => offset(text, at, "shown", "source")

/** Where a place in the Markdown is in what is shown. */
export const shownOffset = (text: string, at: number): number => offset(text, at, "source", "shown")

/** Whether a place in what is shown belongs to a mention. */
export const isMentioned = (text: string, at: number): boolean => {
  let start = 0
  return partsOf(text).some(({ isMention, shown }) => {
    const isThere = isMention && at >= start && at < start + shown.length
    start += shown.length
    return isThere
  })
}

/** The mentions of a text, by how they are shown. */
export const mentionsOf = (text: string): ReadonlyArray<readonly [shown: string, source: string]> =>
  partsOf(text).flatMap(({ isMention, shown, source }) => (isMention ? [[shown, source] as const] : []))

/** The Markdown, with a range of what is shown replaced by other Markdown. */
export const replaced = (text: string, from: number, to: number, by: string): string => {
  const parts = partsOf(text)
  return sourceOf(parts, 0, from) + by + sourceOf(parts, to, joined(parts).length)
}

/** What was pasted, with its known mentions. */
const withKnown = (pasted: string, known: ReadonlyMap<string, string>): string => {
  const names = [...known.keys()].toSorted((one, other) => other.length - one.length)
  let source = ""
  for (let at = 0; at < pasted.length;) {
    const name = names.find(
      (one) => pasted.startsWith(one, at) && !/^[\p{L}\p{N}]/u.test(pasted.slice(at + one.length))
    )
    source += name === undefined ? pasted[at] : known.get(name)
    at += name?.length ?? 1
  }
  return source
}

const commonStart = (one: string, other: string, most: number): number => {
  let length = 0
  while (length < most && one[length] === other[length]) length += 1
  return length
}

const commonEnd = (one: string, other: string, most: number): number => {
  let length = 0
  while (length < most && one.at(-1 - length) === other.at(-1 - length)) length += 1
  return length
}

/**
 * The Markdown after what is shown became `next`, with the caret behind what was typed. A mention that letters were typed into, or
 * deleted from, is text from then on. What was pasted gets the mentions that are known.
 */
export const edited = (text: string, next: string, caret: number, known: ReadonlyMap<string, string>): string => {
  const before = shownOf(text)
  const behind = next.length - caret
  // Undoing leaves the caret elsewhere.
  const isBehind = behind <= before.length && before.endsWith(next.slice(caret))
  const end = isBehind ? behind : commonEnd(before, next, Math.min(before.length, next.length))
  const start = commonStart(before, next, Math.min(before.length, next.length) - end)
  const typed = next.slice(start, next.length - end)
  return replaced(text, start, before.length - end, typed.length > 1 ? withKnown(typed, known) : typed)
}
