import { useLayoutEffect, useMemo, useRef, useState } from "react"
import { choicesOf, type Mention, mentionAt, type SeenMentions, typedText, withMention } from "./mention.ts"
import { isMentioned, shownOf } from "./mentionText.ts"
import { type Audience, useOwners } from "./owners.ts"

/** The mention that is being typed, and whom it may mean. */
export const useMentions = (
  slug: string,
  value: string,
  onChange: (text: string) => void,
  audience: Audience | undefined
) => {
  const owners = useOwners(slug, "viewer", audience)
  const field = useRef<HTMLTextAreaElement>(null)
  const caret = useRef<number>(undefined)
  const [mention, setMention] = useState<Mention>()
  const [current, setCurrent] = useState(0)
  const seen = useRef<SeenMentions>({ known: new Map(), whole: new Map() })
  const shown = useMemo(() => shownOf(value), [value])
  const choices = mention === undefined ? [] : choicesOf(owners, mention.typed)
  useLayoutEffect(() => {
    if (caret.current === undefined) return
    field.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  }, [value])
  const choose = (index: number) => {
    if (mention === undefined || choices[index] === undefined) return
    const next = withMention(value, mention, choices[index].owner)
    caret.current = next.caret
    setMention(undefined)
    onChange(next.text)
    field.current?.focus()
  }
  /** Whether the key was one of the choices'. */
  const onKey = (key: string): boolean => {
    if (choices.length === 0) return false
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: choices.length - 1 }
    const step = steps[key]
    if (step !== undefined) setCurrent((current + step) % choices.length)
    else if (key === "Enter" || key === "Tab") choose(current)
    else if (key === "Escape") setMention(undefined)
    else return false
    return true
  }
  const onText = (next: string, at: number) => {
    const text = typedText(seen.current, value, next, at)
    const typed = mentionAt(next, at)
    // What is shown became shorter where the Markdown of a mention was pasted.
    if (shownOf(text) !== next) caret.current = at + shownOf(text).length - next.length
    onChange(text)
    setMention(typed !== undefined && isMentioned(text, typed.from) ? undefined : typed)
    setCurrent(0)
  }
  return { shown, field, mention, choices, current, choose, onKey, onText, close: () => setMention(undefined) }
}
