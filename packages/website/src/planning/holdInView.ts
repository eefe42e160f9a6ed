/** What one does with a page oneself: from then on it stays where one has it. */
const acts = ["wheel", "touchmove", "pointerdown", "keydown"] as const

/** Keeps an element in view while what stands above it still comes. Answers what ends that. */
export const holdInView = (element: HTMLElement, block: "center" | "nearest"): (() => void) => {
  const gone = new AbortController()
  const show = () => element.scrollIntoView({ block })
  const size = new ResizeObserver(show)
  for (let one = element.parentElement; one !== null && one.id !== "screen"; one = one.parentElement) size.observe(one)
  gone.signal.addEventListener("abort", () => size.disconnect())
  for (const act of acts) {
    addEventListener(act, () => gone.abort(), { capture: true, passive: true, signal: gone.signal })
  }
  show()
  return () => gone.abort()
}
