import { createContext } from "react"

/** The files that a text may show or link to by `attachment:ID`. */

export interface ShownFile {
  readonly name: string
  /** Of this service. */
  readonly url: string
  /** Whether a browser shows it as a picture. */
  readonly isPicture: boolean
}

/** Finds a file by its id: null where there is none, undefined where that is not known yet. */
export const FilesContext = createContext<(id: string) => ShownFile | null | undefined>(() => null)
