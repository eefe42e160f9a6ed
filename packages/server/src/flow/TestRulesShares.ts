import { isDue } from "@delivery/domain/flow/TestRule"
import type { CaseTicket, FailedTest, FoundTestRule } from "./TestRulesRepo.ts"

/** Which tickets the failures of a run get by a rule. */

/** A failure with the group of its error. */
export type Failure = FailedTest & { readonly errorGroup: string }

/** Failures with a ticket of their own: a completed one of the rule, which is reopened, or a new one. */
interface Share {
  readonly completed: CaseTicket | undefined
  readonly tests: ReadonlyArray<Failure>
}

interface Sorted {
  /** What has failed again of the open tickets, and of the completed ones of the rule. */
  readonly again: ReadonlyMap<CaseTicket, ReadonlyArray<Failure>>
  /** Of the tests that are due and have no open ticket. */
  readonly shares: ReadonlyArray<Share>
}

/** A test that gets a ticket, with the completed one of the rule that is about it. */
interface Due {
  readonly completed: CaseTicket | undefined
  readonly test: Failure
}

/** What is known of a run by a rule. */
interface Known {
  readonly failures: ReadonlyArray<Failure>
  readonly statuses: ReadonlyMap<string, ReadonlyArray<string>>
  /** About one of the tests, oldest first. */
  readonly tickets: ReadonlyArray<CaseTicket>
  readonly rule: FoundTestRule
  /** How many tickets may be made or reopened. */
  readonly most: number
}

/** Those that fail alike share a ticket where many fail at once, and all that are left where there would be too many tickets. */
export const sorted = ({ failures, most, rule, statuses, tickets }: Known): Sorted => {
  const byCase = ticketsByCase(tickets)
  const again = new Map<CaseTicket, Array<Failure>>()
  const due: Array<Due> = []
  for (const test of failures) {
    const about = byCase.get(test.caseId) ?? []
    const open = about.find(({ category }) => !isEnded(category))
    const own = about.findLast(({ ruleId }) => ruleId === rule.id)
    const known = open ?? own
    // What people have canceled stays so.
    if (known?.category === "canceled") continue
    if (known !== undefined) add(again, known, test)
    if (open === undefined && isDue(statuses.get(test.caseId) ?? [], rule)) due.push({ completed: own, test })
  }
  const areMany = failures.length >= rule.above
  const groups = Map.groupBy(due, ({ completed, test }) => (areMany ? test.errorGroup : (completed ?? test.caseId)))
  const shares = joined([...groups.values()].map(shareOf))
  const rest = shares.slice(most - 1).flatMap(({ tests }) => tests)
  return {
    again,
    shares: shares.length <= most ? shares : [...shares.slice(0, most - 1), { completed: undefined, tests: rest }]
  }
}

/** A completed ticket is reopened for tests that it alone is about. */
const shareOf = (group: ReadonlyArray<Due>): Share => {
  const [completed, ...others] = new Set(group.map((one) => one.completed))
  return { completed: others.length === 0 ? completed : undefined, tests: group.map(({ test }) => test) }
}

/** Each completed ticket once. */
const joined = (shares: ReadonlyArray<Share>): ReadonlyArray<Share> =>
  [...Map.groupBy(shares, (share) => share.completed ?? share).values()].map((parts) => ({
    completed: parts[0]!.completed,
    tests: parts.flatMap(({ tests }) => tests)
  }))

const isEnded = (category: string): boolean => category === "completed" || category === "canceled"

const ticketsByCase = (tickets: ReadonlyArray<CaseTicket>): ReadonlyMap<string, ReadonlyArray<CaseTicket>> => {
  const byCase = new Map<string, Array<CaseTicket>>()
  for (const ticket of tickets) for (const caseId of ticket.caseIds) add(byCase, caseId, ticket)
  return byCase
}

const add = <K, A>(to: Map<K, Array<A>>, key: K, one: A): void => {
  const known = to.get(key)
  if (known === undefined) to.set(key, [one])
  else known.push(one)
}
