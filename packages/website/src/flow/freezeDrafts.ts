import type { FreezeWindow } from "@delivery/domain/flow/FreezeChanges"

/** Freeze windows as they are typed, in the time of the browser, whose clocks may be changed within one. Pure. */

export interface FreezeDraft {
  readonly key: number
  /** The window of the policy that it was made of; none of a new one. */
  readonly of: FreezeWindow | undefined
  readonly from: string
  readonly to: string
  readonly reason: string
}

let keys = 0

const local = (at: Date): string => {
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

export const newDraft = (): FreezeDraft => ({
  key: keys++,
  of: undefined,
  from: local(new Date()),
  to: "",
  reason: ""
})

export const freezeDraft = (window: FreezeWindow): FreezeDraft => ({
  key: keys++,
  of: window,
  from: local(new Date(window.from)),
  to: local(new Date(window.to)),
  reason: window.reason
})

/** Fields have no seconds: what was not changed of a window is what it was. */
const timeOf = (text: string, was: string | undefined): string =>
  was !== undefined && local(new Date(was)) === text ? was : new Date(text).toISOString()

export const windowOf = ({ from, of, reason, to }: FreezeDraft): FreezeWindow => ({
  from: timeOf(from, of?.from),
  to: timeOf(to, of?.to),
  reason: reason === of?.reason ? reason : reason.trim()
})

/** Where the clocks go forward, an hour is left out. */
const isThere = (text: string): boolean => text === "" || local(new Date(text)) === text

const isInOrder = (draft: FreezeDraft): boolean => {
  if (draft.from === "" || draft.to === "" || !isThere(draft.from) || !isThere(draft.to)) return true
  const { from, to } = windowOf(draft)
  return from < to
}

/** What is wrong with its beginning and with its end. */
export const issuesOf = (draft: FreezeDraft) => {
  const missing = "There is no such time: the clocks go forward over it"
  return {
    from: isThere(draft.from) ? undefined : missing,
    to: isThere(draft.to) ? (isInOrder(draft) ? undefined : "Must be later than From") : missing
  }
}

const halfHour = 30 * 60_000

/** Where the clocks go back, a time comes twice: which of the two it is. */
export const hintOf = (draft: FreezeDraft, field: "from" | "to"): string | undefined => {
  const text = draft[field]
  if (text === "" || !isThere(text)) return undefined
  const at = new Date(timeOf(text, draft.of?.[field]))
  const other = [-2, -1, 1, 2].find((count) => local(new Date(at.getTime() + count * halfHour)) === text)
  if (other === undefined) return undefined
  const minutes = -at.getTimezoneOffset()
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`
  return `The clocks go back, and it comes twice: this is the ${other > 0 ? "first" : "second"} (UTC${offset})`
}

const nameOf = ({ reason }: FreezeDraft): string => (reason.trim() === "" ? "a window" : `the window ${reason.trim()}`)

/** What the windows lack before they can be saved. */
export const missingOf = (freezes: ReadonlyArray<FreezeDraft>): ReadonlyArray<string> => [
  ...(freezes.some(({ from }) => from === "") ? ["the beginning of a window"] : []),
  ...(freezes.some(({ to }) => to === "") ? ["the end of a window"] : []),
  ...freezes.flatMap((draft) => [
    ...(isThere(draft.from) && isThere(draft.to) ? [] : [`a time of ${nameOf(draft)} that exists`]),
    ...(isInOrder(draft) ? [] : [`an end after the beginning of ${nameOf(draft)}`])
  ]),
  ...(freezes.some(({ reason }) => reason.trim() === "") ? ["the reason of a window"] : [])
]
