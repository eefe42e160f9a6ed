import { useSyncExternalStore } from "react"
import { formatAbsolute, formatRelative } from "./format.ts"

/** One clock for all times of the page: it ticks once a second, while something is shown that moves. */
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = Date.now()

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The time in steps of so many milliseconds. */
export const useNow = (step: number): number => useSyncExternalStore(subscribe, () => Math.floor(now / step) * step)

const minute = 60_000

/** An instant, relative; in full on hover. */
export const Time = ({ at }: { readonly at: string }) => {
  const date = new Date(at)
  // What happened within the last minute counts its seconds.
  const current = useNow(Math.abs(Date.now() - date.getTime()) < minute ? 5_000 : minute)
  return (
    <time className="tabular whitespace-nowrap" dateTime={at} title={formatAbsolute(date)}>
      {formatRelative(date, new Date(Math.max(current, Date.now())))}
    </time>
  )
}
