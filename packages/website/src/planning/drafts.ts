/** What was typed and not sent, kept in this browser for the person who typed it: closing the tab loses nothing. */

export interface Draft {
  readonly text: string
  /** What stood there when typing began. */
  readonly base: string
}

export interface KeptDraft extends Draft {
  /** The ticket that it is about, by its identifier, and what of it. */
  readonly ticket?: string | undefined
  readonly what?: string | undefined
}

const prefix = "delivery-draft "

const nameOf = (person: string, key: string): string => `${prefix}${person} ${key}`

const parsed = (json: string | null): KeptDraft | undefined => {
  try {
    const { base, text, ticket, what } = JSON.parse(json ?? "{}") as Partial<KeptDraft>
    return typeof base === "string" && typeof text === "string" ? { base, text, ticket, what } : undefined
  } catch {
    return undefined
  }
}

export const readDraft = (person: string, key: string): Draft | undefined => {
  try {
    return parsed(localStorage.getItem(nameOf(person, key)))
  } catch {
    return undefined
  }
}

/** What says no more than what stood there is nothing to keep. */
export const keepDraft = (person: string, key: string, draft: KeptDraft | undefined): void => {
  try {
    if (draft === undefined || draft.text === draft.base) localStorage.removeItem(nameOf(person, key))
    else localStorage.setItem(nameOf(person, key), JSON.stringify(draft))
  } catch {
    // There is no room: it lives as long as the page.
  }
}

const namesOf = (start: string): ReadonlyArray<string> => {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(start))
  } catch {
    return []
  }
}

/** What the person typed about a ticket. */
export const draftsAbout = (person: string, ticket: string): ReadonlyArray<KeptDraft & { readonly key: string }> => {
  const start = nameOf(person, "")
  return namesOf(start).flatMap((name) => {
    const draft = parsed(localStorage.getItem(name))
    const isAbout = draft?.ticket?.toUpperCase() === ticket.toUpperCase()
    return draft !== undefined && isAbout ? [{ ...draft, key: name.slice(start.length) }] : []
  })
}

/** Whoever comes next to this browser finds nothing of it. */
export const forgetDrafts = (): void => {
  for (const name of namesOf(prefix)) localStorage.removeItem(name)
}
