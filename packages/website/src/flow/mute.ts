import type { ListedMute } from "@delivery/domain/flow/Mute"
import { counted } from "../ui/format.ts"
import { fileOf, titleOf } from "./caseName.ts"

/** Until when tests are muted, and what of it is left. Pure. */

const day = 24 * 60 * 60_000

/** How many days a mute lasts at most. */
const mostDays = 90

/** For how long tests are often muted, in days, and until a day that is chosen. */
export const lengths = ["7", "14", "30", "90", "day"] as const
export type Length = (typeof lengths)[number]

/** The clock of the server may be a little behind this one. */
const marginMillis = 60_000

/** The latest end that the server accepts. */
const latest = (now: number): number => now + mostDays * day - marginMillis

/**
 * Until when: so many days from now, or from the end that a mute has, as far as that may be; or the end of a day. Undefined where
 * no day is chosen.
 */
export const untilOf = (length: Length, date: string, now: number, end = now): string | undefined => {
  if (length !== "day") {
    return new Date(Math.max(end, Math.min(end + Number(length) * day, latest(now)))).toISOString()
  }
  const millis = new Date(`${date}T23:59:59`).getTime()
  return Number.isNaN(millis) || millis <= now ? undefined : new Date(millis).toISOString()
}

const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" })

/** The end of a mute, with its day. */
export const momentOf = (until: string): string => moment.format(new Date(until))

/** How another end of a mute differs from the one that it has: "14 days longer", "2 days shorter"; nothing where it does not. */
export const differenceOf = (from: string, to: string): string | undefined => {
  const millis = Date.parse(to) - Date.parse(from)
  if (millis === 0) return undefined
  const size = Math.abs(millis)
  const hours = Math.round(size / (60 * 60_000))
  const days = Math.round(size / day)
  const text = days > 0 ? counted(days, "day") : hours > 0 ? counted(hours, "hour") : "less than an hour"
  return `${text} ${millis > 0 ? "longer" : "shorter"}`
}

/** Whether a mute that ends then could not end later. */
export const isLatest = (until: string, now: number): boolean => Date.parse(until) >= latest(now) - marginMillis

const dateOf = (at: Date): string =>
  `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`

/** The first and the last day that can be chosen, as fields of dates have them. */
export const daysBetween = (now: number): { readonly min: string; readonly max: string } => ({
  min: dateOf(new Date(now)),
  max: dateOf(new Date(now + (mostDays - 1) * day))
})

/** What a change of a mute is told that it was made from: nothing is changed where it is another one by now. */
export const expectedOf = (mute: Pick<ListedMute, "product" | "cases" | "until"> | null | undefined) =>
  mute === null || mute === undefined ? null : { product: mute.product, cases: [...mute.cases], until: mute.until }

/** What became of a mute that is to go on: `current` is what its ticket mutes now, `cases` all that are to be muted. */
export interface Extended {
  readonly mute: ListedMute
  readonly cases: ReadonlyArray<string>
  readonly current: ListedMute | undefined
}

/**
 * What became of the mute of a ticket since it was `first`. What is overdue is muted again beside what the ticket mutes now; where
 * nothing is left of it, it is what it was.
 */
export const extendedOf = (mutes: ReadonlyArray<ListedMute>, first: ListedMute): Extended => {
  const ofTicket = mutes.filter(({ ticket }) => ticket?.id === first.ticket?.id)
  const current = ofTicket.find(({ overdue }) => !overdue)
  const late = ofTicket.find(({ overdue, product }) => overdue && product === first.product)
  if (late !== undefined && (first.overdue || current === undefined)) {
    const beside = current?.product === late.product ? current.cases : []
    return { mute: late, cases: [...new Set([...late.cases, ...beside])], current }
  }
  const mute = current ?? { ...first, overdue: false }
  return { mute, cases: mute.cases, current }
}

/** A mute of one test, as lists show it. */
export interface MutedTest {
  readonly caseId: string
  /** What it is called; where no run says it, as far as its id does. */
  readonly title: string
  readonly file: string
  readonly mute: ListedMute
}

/** The tests of mutes, one by one. */
export const mutedTests = (mutes: ReadonlyArray<ListedMute>): ReadonlyArray<MutedTest> =>
  mutes.flatMap((mute) => {
    const named = new Map(mute.tests.map((test) => [test.caseId, test]))
    return mute.cases.map((caseId) => {
      const { file, title } = named.get(caseId) ?? {}
      return { caseId, title: title ?? titleOf(caseId), file: file ?? fileOf(caseId), mute }
    })
  })

const byCase = new WeakMap<ReadonlyArray<ListedMute>, ReadonlyMap<string, ListedMute>>()

/** What mutes each test, of several the one that ends last. It is made once for each answer: thousands of rows ask. */
const mutesByCase = (mutes: ReadonlyArray<ListedMute>): ReadonlyMap<string, ListedMute> => {
  const known = byCase.get(mutes)
  if (known !== undefined) return known
  const last = new Map<string, ListedMute>()
  for (const { caseId, mute } of mutedTests(mutes)) {
    const other = last.get(caseId)
    if (other === undefined || Date.parse(other.until) < Date.parse(mute.until)) last.set(caseId, mute)
  }
  byCase.set(mutes, last)
  return last
}

/** What mutes a test now. */
export const muteOf = (mutes: ReadonlyArray<ListedMute>, caseId: string, now: number): ListedMute | undefined => {
  const mute = mutesByCase(mutes).get(caseId)
  return mute === undefined || mute.overdue || Date.parse(mute.until) <= now ? undefined : mute
}

/** What mutes some of the tests now beside a ticket: "SHOP-13 mutes the test until Dec 12, 2026, 2:00 PM", each ticket once. */
export const alreadyMuted = (
  mutes: ReadonlyArray<ListedMute>,
  caseIds: ReadonlyArray<string>,
  beside: string | undefined,
  now: number
): ReadonlyArray<string> =>
  mutes.flatMap(({ cases, overdue, ticket, until }) => {
    const muted = caseIds.filter((caseId) => cases.includes(caseId)).length
    if (muted === 0 || overdue || Date.parse(until) <= now) return []
    if (ticket !== null && ticket.identifier === beside) return []
    const what = caseIds.length === 1 ? "the test" : muted === caseIds.length ? "them" : `${muted} of them`
    return [
      `${ticket === null ? "a ticket of a private team" : ticket.identifier} mutes ${what} until ${momentOf(until)}`
    ]
  })

/** The ticket that each of some tests has; undefined where one has another, or none. */
export const ticketOfAll = <Ticket extends { readonly identifier: string }>(
  tickets: ReadonlyArray<Ticket | null>
): Ticket | undefined => {
  const [first] = tickets
  return first != null && tickets.every((one) => one?.identifier === first.identifier) ? first : undefined
}
