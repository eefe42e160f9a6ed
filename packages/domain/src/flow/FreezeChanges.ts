import type { ReadinessPolicy } from "./ReadinessPolicy.ts"

/** A time in which nothing may go out (docs/contract.md, Readiness). */
export type FreezeWindow = ReadinessPolicy["freezes"][number]

/** What became of a window: without `before` it was added, without `after` it was removed. */
export interface FreezeChange {
  readonly before: FreezeWindow | undefined
  readonly after: FreezeWindow | undefined
}

export const isSameWindow = (one: FreezeWindow, other: FreezeWindow): boolean => sharedFields(one, other) === 3

/** How many of its beginning, end and reason two windows share. */
const sharedFields = (one: FreezeWindow, other: FreezeWindow): number =>
  Number(one.from === other.from) + Number(one.to === other.to) + Number(one.reason === other.reason)

/** Windows have no id: one that shares two of three fields with another counts as the same, changed. */
export const isLikeWindow = (one: FreezeWindow, other: FreezeWindow): boolean => sharedFields(one, other) >= 2

/** How a list of windows differs from the one before (docs/contract.md, Readiness). Pure. */
export const freezeChanges = (
  before: ReadonlyArray<FreezeWindow>,
  after: ReadonlyArray<FreezeWindow>
): ReadonlyArray<FreezeChange> => {
  const gone = before.filter((one) => !after.some((other) => isSameWindow(one, other)))
  const added = after.filter((one) => !before.some((other) => isSameWindow(one, other)))
  const changed = gone.map((window): FreezeChange => {
    const index = added.findIndex((other) => isLikeWindow(window, other))
    return { before: window, after: index === -1 ? undefined : added.splice(index, 1)[0] }
  })
  return [...changed, ...added.map((window) => ({ before: undefined, after: window }))]
}
