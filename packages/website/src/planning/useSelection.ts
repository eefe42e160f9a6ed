import { useState } from "react"
import { cursorHere, keepCursor } from "./cursor.ts"

/** Which tickets are selected, and which one the keyboard is at. */

export interface Selection {
  readonly ids: ReadonlySet<string>
  readonly current: string | undefined
  readonly select: (ids: ReadonlySet<string>) => void
  readonly go: (id: string) => void
  /** Selects a ticket, or no longer. */
  readonly toggle: (id: string) => void
}

export const useSelection = (): Selection => {
  const [ids, select] = useState<ReadonlySet<string>>(new Set())
  const [current, setCurrent] = useState(cursorHere)
  const go = (id: string) => {
    keepCursor(id)
    setCurrent(id)
  }
  return {
    ids,
    current,
    select,
    go,
    toggle: (id) => {
      const next = new Set(ids)
      if (!next.delete(id)) next.add(id)
      select(next)
      go(id)
    }
  }
}
