import { useState } from "react"
import { useMe } from "../api/session.ts"

/** What was typed and not sent, kept in this browser for the person who typed it: closing the tab loses nothing. */

export interface Draft {
  readonly text: string
  /** What stood there when typing began. */
  readonly base: string
  /** The ticket that it is about, by its identifier: it is found where the ticket is gone. */
  readonly ticket?: string | undefined
}

export const draftPrefix = "delivery-draft "

export const draftAt = (name: string): Draft | undefined => {
  try {
    const draft = JSON.parse(localStorage.getItem(name) ?? "{}") as Draft
    return typeof draft.text === "string" ? draft : undefined
  } catch {
    return undefined
  }
}

/** What was typed and not sent: a page that is loaded again has it. What says no more than what stood there is not kept. */
export const useDraft = (key: string, ticket?: string) => {
  const name = `${draftPrefix}${useMe()?.id} ${key}`
  const [kept, setKept] = useState(() => ({ name, draft: draftAt(name) }))
  // Who the person is may come after what is shown.
  const shown = kept.name === name ? kept : { name, draft: kept.draft ?? draftAt(name) }
  if (shown !== kept) setKept(shown)
  return {
    draft: shown.draft,
    setDraft: (next: Draft | undefined) => {
      setKept({ name, draft: next })
      try {
        if (next === undefined || next.text === next.base) localStorage.removeItem(name)
        else localStorage.setItem(name, JSON.stringify({ ...next, ticket }))
      } catch {
        // There is no room: it lives as long as the page.
      }
    }
  }
}
