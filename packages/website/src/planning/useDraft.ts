import { useState } from "react"
import { useMe } from "../api/session.ts"
import { type Draft, keepDraft, readDraft } from "./drafts.ts"

/** What of a ticket is typed, so that it is found where the ticket is gone. */
interface About {
  readonly ticket?: string | undefined
  readonly what: string
}

/** What was typed and not sent: a page that is loaded again has it. */
export const useDraft = (key: string, about?: About) => {
  const person = useMe()?.id ?? ""
  const [draft, setDraft] = useState(() => readDraft(person, key))
  return {
    draft,
    setDraft: (next: Draft | undefined) => {
      setDraft(next)
      keepDraft(person, key, next && { ...next, ...about })
    }
  }
}
