import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { QueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { failureOf } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { counted } from "../ui/format.ts"
import type { Shown } from "./changes.ts"

/** What is true of tickets once a change of them was taken back. No screen brings it: few changes are. */

/** When the work on a ticket began stays, and when it ended is the time of now: no more is said than what is as before. */
const words = (tickets: ReadonlyArray<Pick<TicketSummary, "identifier">>, { status, ...back }: Shown): string => {
  const [only, ...others] = tickets
  const isOne = only !== undefined && others.length === 0
  if (isOne && status !== undefined) return `${only.identifier} is ${status.name} again`
  const field = status === undefined ? (Object.keys(back)[0] ?? "state") : "status"
  return isOne
    ? `${only.identifier} has the ${field} of before again`
    : `${counted(tickets.length, "ticket")} have the ${field} of before again`
}

type Muting = Pick<TicketSummary, "identifier" | "mute">

/** Mutes again what a ticket had muted, which ends where it is closed or loses its owner; unless it mutes something. */
const muteAgain = async (slug: string, { identifier, mute }: Muting): Promise<string> => {
  if (mute === null || Date.parse(mute.until) <= Date.now()) return ""
  const { cases, count = cases.length, product, until } = mute
  const params = { slug, ticket: identifier }
  const tests = counted(count, "test")
  try {
    if ((await client.tickets.get({ params })).mute !== null) return ""
    // A list has only the first of many tests.
    if (count > cases.length) throw new Error("Mute them again in a run.")
    await client.mutes.set({ params, payload: { product, cases: [...cases], until, expected: null } })
    return `. ${identifier} mutes ${tests} again`
  } catch (error) {
    return `. ${identifier} does not mute ${tests} any more: ${failureOf(error).message}`
  }
}

/**
 * Mutes again what was muted by the tickets as they were, and says it.
 *
 * @param back What the change was taken back to; or what is said of it.
 */
const takenBackWords = async (
  queries: QueryClient,
  slug: string,
  tickets: ReadonlyArray<Muting>,
  back: Shown | string
): Promise<string> => {
  const mutes = await Promise.all(tickets.map((ticket) => muteAgain(slug, ticket)))
  if (mutes.some((said) => said !== "")) {
    for (const kind of ["mutes", "cases", "tickets"]) {
      void queries.invalidateQueries({ queryKey: workspaceKey(slug, kind) })
    }
  }
  const said = typeof back === "string" ? back : words(tickets, back)
  return `${said}${mutes.join("")}`
}

export default takenBackWords
