import { useLayoutEffect, useRef } from "react"
import { placeOf } from "./caretPlace.ts"
import type { useMentions } from "./useMentions.ts"

interface Props {
  readonly id: string
  readonly mentions: ReturnType<typeof useMentions>
}

/** Between the list and the line that it belongs to, and the edges that it keeps away from. */
const gap = 4

/** So that at least two of them are seen. */
const leastHeight = 64

/** Whom a mention may mean, at the line in which it is typed: above it, unless it would stay within the field below it, so that it covers no button. */
export const MentionChoices = ({ id, mentions: { choices, choose, current, field, mention } }: Props) => {
  const list = useRef<HTMLUListElement>(null)
  const from = mention?.from ?? 0
  useLayoutEffect(() => {
    const [text, popup] = [field.current, list.current]
    const frame = popup?.parentElement
    if (text === null || popup === null || !frame) return
    const { height, left, top } = placeOf(text, from)
    const [outer, inner] = [frame.getBoundingClientRect(), text.getBoundingClientRect()]
    const line = inner.top - outer.top + top
    const sees = (text.closest("[role=dialog], #screen") ?? document.body).getBoundingClientRect()
    const above = outer.top + line - Math.max(0, sees.top) - 2 * gap
    popup.style.maxHeight = ""
    const isBelow = above < leastHeight || line + height + popup.offsetHeight + 2 * gap <= outer.height
    popup.style.maxHeight = isBelow ? "" : `${above}px`
    popup.style.top = `${isBelow ? line + height + gap : line - popup.offsetHeight - gap}px`
    popup.style.left = `${Math.max(gap, Math.min(inner.left - outer.left + left, outer.width - popup.offsetWidth - gap))}px`
  }, [choices.length, field, from])
  useLayoutEffect(() => {
    list.current?.children[current]?.scrollIntoView({ block: "nearest" })
  }, [current])
  return (
    <ul
      aria-label="People and agents"
      className="bg-raised shadow-overlay absolute z-40 max-w-full min-w-56 overflow-y-auto rounded-lg p-1"
      id={id}
      ref={list}
      role="listbox"
    >
      {choices.map(({ hint, label, owner }, index) => (
        <li
          aria-selected={index === current}
          className={`flex min-h-7 items-center gap-2 rounded-sm px-2 ${index === current ? "bg-hover" : ""}`}
          id={`${id}-${index}`}
          key={owner.id}
          onMouseDown={(event) => {
            event.preventDefault()
            choose(index)
          }}
          role="option"
        >
          <span className="foreign flex-1 truncate">{label}</span>
          {hint !== undefined && <span className="text-muted text-xs">{hint}</span>}
        </li>
      ))}
    </ul>
  )
}
