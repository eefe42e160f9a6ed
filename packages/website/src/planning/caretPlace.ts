/** What of its style decides where a text area breaks its lines. */
const shaping = [
  "boxSizing",
  "font",
  "fontFeatureSettings",
  "letterSpacing",
  "lineHeight",
  "overflowWrap",
  "padding",
  "tabSize",
  "textIndent",
  "whiteSpace",
  "wordBreak"
] as const

interface Place {
  readonly left: number
  readonly top: number
  /** Of its line. */
  readonly height: number
}

/** Where a place in the text of a text area is drawn, in pixels from the field's corner: no browser says that, so a copy is measured. */
export const placeOf = (field: HTMLTextAreaElement, at: number): Place => {
  const copy = document.createElement("div")
  const style = getComputedStyle(field)
  for (const name of shaping) copy.style[name] = style[name]
  copy.style.position = "absolute"
  copy.style.visibility = "hidden"
  copy.style.width = `${field.clientWidth}px`
  copy.append(field.value.slice(0, at))
  const mark = document.createElement("span")
  // The word that stands there may be too long for the line.
  mark.append(/^\S*/.exec(field.value.slice(at))?.[0] || ".")
  copy.append(mark)
  document.body.append(copy)
  const { offsetLeft: left, offsetTop } = mark
  const [line] = mark.getClientRects()
  copy.remove()
  return { left, top: offsetTop - field.scrollTop, height: line?.height ?? 0 }
}
