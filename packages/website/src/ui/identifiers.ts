import { createContext } from "react"

/** Which words of a text name tickets, where the text stands: those with the key of a team. */
export interface Identifiers {
  readonly keys: ReadonlySet<string>
  /** The page of a ticket. */
  readonly pathOf: (identifier: string) => string
}

export const IdentifiersContext = createContext<Identifiers | undefined>(undefined)
