import { type Draft, draftAt, draftPrefix } from "./useDraft.ts"

/** The drafts of this browser, all of them. */

/** What the draft of a comment is that is changed: its id is that of the comment. */
export const changedComment = "changed comment"

const names = (start: string): ReadonlyArray<string> => {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(start))
  } catch {
    return []
  }
}

/** What a person typed about a ticket, by its identifier. */
export const draftsAbout = (
  person: string,
  ticket: string
): ReadonlyArray<Draft & { readonly name: string; readonly id: string; readonly what: string }> => {
  const start = `${draftPrefix}${person} `
  return names(start).flatMap((name) => {
    const draft = draftAt(name)
    const isAbout = draft?.ticket?.toUpperCase() === ticket.toUpperCase()
    // Its key is the id of what it is of, and what it is: `ID-plan`.
    const [id, what] = [name.slice(start.length, start.length + 36), name.slice(start.length + 37)]
    return draft !== undefined && isAbout ? [{ ...draft, name, id, what }] : []
  })
}

export const forgetDraft = (name: string): void => localStorage.removeItem(name)

/** Whoever comes next to this browser finds nothing of them. */
export const forgetDrafts = (): void => {
  for (const name of names(draftPrefix)) forgetDraft(name)
}
