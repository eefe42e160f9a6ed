import { createContext } from "react"
import type { Audience } from "./owners.ts"

/** Who sees what is written, where it is no ticket: fields offer them alone. */
export const AudienceContext = createContext<Audience | undefined>(undefined)
