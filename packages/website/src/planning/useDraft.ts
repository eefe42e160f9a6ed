import { useState } from "react"

/** What was typed and not sent, kept for as long as the tab: a page that is loaded again has it. */

export interface Draft {
  readonly text: string
  /** What stood there when typing began. */
  readonly base: string
}

const nameOf = (key: string): string => `delivery-draft-${key}`

const read = (key: string): Draft | undefined => {
  try {
    const { base, text } = JSON.parse(sessionStorage.getItem(nameOf(key)) ?? "{}") as Partial<Draft>
    return typeof base === "string" && typeof text === "string" ? { base, text } : undefined
  } catch {
    return undefined
  }
}

export const useDraft = (key: string) => {
  const [draft, setDraft] = useState(() => read(key))
  return {
    draft,
    setDraft: (next: Draft | undefined) => {
      setDraft(next)
      try {
        if (next === undefined) sessionStorage.removeItem(nameOf(key))
        else sessionStorage.setItem(nameOf(key), JSON.stringify(next))
      } catch {
        // There is no room: it lives as long as the page.
      }
    }
  }
}
