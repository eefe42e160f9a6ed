import { performance } from "node:perf_hooks"

/** A terminal sends Ctrl+C to all its processes, and npm passes it on: signals so close to the first are the same one. */
const sameMillis = 1_000

const signals = ["SIGINT", "SIGTERM"] as const

/** What becomes of an interrupted process. */
export interface Interruption {
  /** Called at the first signal. Whatever ends the process meanwhile waits for it. */
  readonly finish: () => Promise<unknown>
  /** Called at further signals: `finish` is to end soon. */
  readonly giveUp: () => void
}

/**
 * Keeps a process that is interrupted until its work is finished, since others that hear the signal end it at once. Answers
 * what ends this; a process that was interrupted before then ends as soon as its work is finished.
 */
export const onInterruption = ({ finish, giveUp }: Interruption): (() => void) => {
  const exit = process.exit
  let first: number | undefined
  let asked: Parameters<typeof exit>[0]
  const onSignal = (_: NodeJS.Signals, number: number) => {
    if (first !== undefined) {
      if (performance.now() - first >= sameMillis) giveUp()
      return
    }
    first = performance.now()
    process.exit = ((code) => void (asked ??= code)) as typeof exit
    void finish().finally(() => {
      process.exit = exit
      exit(asked ?? 128 + number)
    })
  }
  for (const signal of signals) process.on(signal, onSignal)
  return () => {
    if (first !== undefined) return
    for (const signal of signals) process.off(signal, onSignal)
  }
}
