import type { ComputerId } from "../Ids.ts"
import { compare } from "../Order.ts"
import { type Timestamp, timestamp } from "../Timestamp.ts"
import { liveMillis } from "./Agent.ts"

/** What routing knows about a computer of an agent. */
export interface RoutedComputer {
  readonly id: ComputerId
  readonly lastSeenAt: Timestamp
  readonly sessions: ReadonlyArray<{ readonly repository: string | null; readonly lastSeenAt: Timestamp }>
}

/**
 * The computer for a message that names none (docs/contract.md, Messages): the first of these that exists. One with a live
 * session in one of the repositories, the one with the latest live session, the latest live computer, the one seen last.
 * Of several it is the one seen last; a session counts as its computer. `now` is in milliseconds.
 */
export const route = (
  computers: ReadonlyArray<RoutedComputer>,
  repositories: ReadonlyArray<string>,
  now: number
): ComputerId | null => {
  const live = timestamp(now - liveMillis)
  const seen = computers.flatMap(({ id, sessions }) => sessions.map((session) => ({ ...session, id })))
  const sessions = seen.filter(({ lastSeenAt }) => lastSeenAt > live)
  const wanted = new Set(repositories.map((repository) => repository.toLowerCase()))
  const inRepository = sessions.filter(({ repository }) => repository !== null && wanted.has(repository.toLowerCase()))
  return (latest(inRepository) ?? latest(sessions) ?? latest([...computers, ...seen]))?.id ?? null
}

const latest = <A extends { readonly id: string; readonly lastSeenAt: Timestamp }>(seen: ReadonlyArray<A>) =>
  seen.toSorted((a, b) => compare(b.lastSeenAt, a.lastSeenAt) || compare(a.id, b.id))[0]
