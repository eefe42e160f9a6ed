import { useEffect, useRef, useState } from "react"
import { type Address, withoutUndefined } from "../ui/address.ts"
import { readTicketsSearch, type TicketsSearch } from "./search.ts"

/** How the tickets were looked at last in this browser: whoever comes back without saying how finds them so. */

const nameOf = (slug: string): string => `delivery-tickets-${slug}`

const isBare = (search: TicketsSearch): boolean => Object.keys(search).length === 0

const keptSearch = (slug: string): TicketsSearch | undefined => {
  try {
    const kept = readTicketsSearch(JSON.parse(localStorage.getItem(nameOf(slug)) ?? "{}") as Address)
    return isBare(kept) ? undefined : kept
  } catch {
    return undefined
  }
}

/** Words are looked for once. */
const keep = (slug: string, search: TicketsSearch): void => {
  try {
    localStorage.setItem(nameOf(slug), JSON.stringify({ ...search, q: undefined }))
  } catch {
    // A browser that stores nothing shows all of them again.
  }
}

/** What is shown: what the address says, or what was kept, which the address then says, too. */
export const useKeptSearch = (
  slug: string,
  asked: TicketsSearch,
  onBack: (search: TicketsSearch) => void
): TicketsSearch => {
  const [kept, setKept] = useState(() => (isBare(asked) ? keptSearch(slug) : undefined))
  if (kept !== undefined && !isBare(asked)) setKept(undefined)
  useEffect(() => {
    if (kept !== undefined) onBack(withoutUndefined(kept))
    // Once, on coming: what is asked for from then on is meant.
  }, [])
  // A link of somebody else is not how the person looks at them, until they change something.
  const opened = useRef<string>(JSON.stringify(asked))
  useEffect(() => {
    if (JSON.stringify(asked) === opened.current) return
    opened.current = ""
    keep(slug, asked)
  }, [asked, slug])
  return kept ?? asked
}
