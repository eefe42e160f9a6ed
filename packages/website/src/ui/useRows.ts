import { type KeyboardEvent, useCallback, useEffect, useState } from "react"
import { useKeys } from "./keys.ts"

/** A row that is chosen by keyboard: `j` and `k` or the arrows move, Enter opens. */

interface Options {
  readonly count: number
  /** Where the keyboard is, when rows move below it. */
  readonly at?: number | undefined
  /** What the rows are, for the list of keys. */
  readonly noun: string
  readonly onOpen: (index: number) => void
  readonly onMove?: (index: number) => void
  /** Whether a row can be chosen. A heading cannot. Default: every row. */
  readonly isChoosable?: ((index: number) => boolean) | undefined
}

const every = () => true

export const useRows = ({ at, count, isChoosable = every, noun, onMove, onOpen }: Options) => {
  const [current, setCurrent] = useState(-1)
  const move = useCallback(
    (to: number) => {
      const from = Math.max(0, Math.min(count - 1, to))
      const choosable = (step: number) => {
        for (let at = from; at >= 0 && at < count; at += step) if (isChoosable(at)) return at
        return undefined
      }
      const step = to < current ? -1 : 1
      const next = choosable(step) ?? choosable(-step)
      if (next === undefined) return
      setCurrent(next)
      onMove?.(next)
    },
    [count, current, isChoosable, onMove]
  )
  useEffect(() => {
    if (current >= count) setCurrent(count - 1)
  }, [count, current])
  useEffect(() => {
    if (at !== undefined && at >= 0) setCurrent(at)
  }, [at])
  const walk = (to: number) => {
    leaveControl()
    move(to)
  }
  useKeys([
    { keys: "j", label: `Next ${noun}`, group: "List", run: () => walk(current + 1) },
    { keys: "k", label: `Previous ${noun}`, group: "List", run: () => walk(current < 0 ? 0 : current - 1) },
    { keys: "Enter", label: `Open the ${noun}`, group: "List", run: () => openCurrent(current, onOpen) }
  ])
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      Home: 0,
      End: count - 1
    }
    const next = steps[event.key]
    if (next === undefined || event.target !== event.currentTarget) return
    event.preventDefault()
    move(next)
  }
  return { current, onKeyDown }
}

const controls = "a, button, input, summary"

/** Whoever goes to a row by its key means the row, not the filter that they used before. */
const leaveControl = (): void => {
  if (document.activeElement?.matches(controls)) {
    document.querySelector<HTMLElement>("#screen")?.focus({ preventScroll: true })
  }
}

/** What has the keyboard does its own. */
const openCurrent = (current: number, onOpen: (index: number) => void): void => {
  const { activeElement } = document
  if (activeElement instanceof HTMLElement && activeElement.matches(controls)) return activeElement.click()
  if (current >= 0) onOpen(current)
}
