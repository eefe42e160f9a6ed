import { type RefObject, use, useLayoutEffect, useRef } from "react"
import { withReference } from "./attachments.ts"
import { shownOffset, sourceOffset } from "./mentionText.ts"
import { TicketContext } from "./queries.ts"
import { useUploads } from "./useUploads.ts"

/** Files that are attached by a field: once one is there, the text refers to it where the caret is. */
export const useFieldUploads = (
  field: RefObject<HTMLTextAreaElement | null>,
  value: string,
  onChange: (text: string) => void
) => {
  const ticket = use(TicketContext)
  const place = ticket?.mayAttach === true ? ticket : undefined
  // In the text, not in what is shown of it.
  const caret = useRef<number>(undefined)
  // What is inserted next stands beside what was inserted before, also where nothing was drawn in between.
  const text = useRef(value)
  useLayoutEffect(() => {
    text.current = value
    if (caret.current !== undefined) {
      const at = shownOffset(value, caret.current)
      field.current?.setSelectionRange(at, at)
    }
    caret.current = undefined
  }, [field, value])
  const uploads = useUploads(place, (attachment) => {
    const shown = field.current?.selectionStart
    const at = caret.current ?? (shown === undefined ? text.current.length : sourceOffset(text.current, shown))
    const next = withReference(text.current, at, attachment)
    caret.current = next.caret
    text.current = next.text
    onChange(next.text)
  })
  return { ...uploads, mayAttach: place !== undefined }
}
