import { useEffect, useRef } from "react"
import { type Field, fields } from "./useTicketChoices.ts"

/** What is clicked of rows and cards, whichever of them are drawn: one listener hears it for all. */

interface Options {
  readonly onAsk: (field: Field, anchor: HTMLElement, ticket: string | undefined) => void
  /** The ticket was clicked with Shift: from the one that the keyboard is at to this one. */
  readonly onExtend: (ticket: string) => void
  readonly onVisit: (ticket: string) => void
}

/** Its ticket, where it is a part of a row or a card. */
const ticketOf = (target: Element): string | undefined => {
  const { card, ticket } = target.closest<HTMLElement>("[data-ticket], [data-card]")?.dataset ?? {}
  return ticket ?? card
}

export const useTicketPointer = (options: Options): void => {
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })
  useEffect(() => {
    const screen = document.querySelector<HTMLElement>("#screen")
    const gone = new AbortController()
    const onClick = (event: MouseEvent) => {
      if (!(event.target instanceof Element)) return
      const ticket = ticketOf(event.target)
      const anchor = event.target.closest<HTMLElement>("[data-ask]")
      const field = fields.find((one) => one === anchor?.dataset["ask"])
      if (ticket !== undefined && event.shiftKey) {
        // It would open a window, or select the checkbox alone.
        event.preventDefault()
        event.stopPropagation()
        latest.current.onExtend(ticket)
      } else if (anchor !== null && field !== undefined) latest.current.onAsk(field, anchor, ticket)
      // A checkbox says so itself: drawn anew before React has heard of its click, it would stay as it was.
      else if (ticket !== undefined && !(event.target instanceof HTMLInputElement)) latest.current.onVisit(ticket)
    }
    // The text between two clicks would be selected.
    const onMouseDown = (event: MouseEvent) => {
      if (event.shiftKey && event.target instanceof Element && ticketOf(event.target) !== undefined) {
        event.preventDefault()
      }
    }
    screen?.addEventListener("click", onClick, { capture: true, signal: gone.signal })
    screen?.addEventListener("mousedown", onMouseDown, { signal: gone.signal })
    return () => gone.abort()
  }, [])
}
