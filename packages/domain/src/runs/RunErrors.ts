import { groupBy } from "../Groups.ts"
import { byName, compare } from "../Order.ts"
import type { Case, ErrorState, RunError } from "./Case.ts"
import { shownError } from "./ErrorGroups.ts"

/** The failures of one run, grouped by what they say (docs/contract.md, Tests over time). Pure. */

/** A test that failed in the run, with what its last failed attempt says. */
export interface Failure {
  readonly caseId: string
  readonly title: string
  readonly error: string
}

export interface GroupedFailure extends Failure {
  /** The id of the group that the error is in (`errorGroupOf`). */
  readonly errorGroup: string
}

/** A failure of a case before the run, by the group of its error. */
export interface EarlierFailure {
  readonly caseId: string
  readonly errorGroup: string | null
}

const stateOrder: ReadonlyArray<ErrorState> = ["new", "known", "muted"]

/**
 * @param earlier What makes failures known: those of the newest results on the base branch, and those of the runs that are compared.
 * @param muted The cases that were muted when the run started.
 * @param tickets The open tickets about the cases.
 */
export const runErrors = (
  failures: ReadonlyArray<GroupedFailure>,
  earlier: ReadonlyArray<EarlierFailure>,
  muted: ReadonlySet<string> = new Set(),
  tickets: ReadonlyMap<string, NonNullable<Case["ticket"]>> = new Map()
): ReadonlyArray<RunError> => {
  const known = groupBy(earlier, ({ caseId }) => caseId)
  const groups = groupBy(failures, ({ errorGroup }) => errorGroup)
  return [...groups].map(([id, inGroup]) => groupOf(id, inGroup, { known, muted, tickets })).toSorted(byNews)
}

interface Known {
  readonly known: ReadonlyMap<string, ReadonlyArray<EarlierFailure>>
  readonly muted: ReadonlySet<string>
  readonly tickets: ReadonlyMap<string, NonNullable<Case["ticket"]>>
}

const groupOf = (id: string, failures: ReadonlyArray<Failure>, { known, muted, tickets }: Known): RunError => {
  const inOrder = failures.toSorted((a, b) => byName({ name: a.title, id: a.caseId }, { name: b.title, id: b.caseId }))
  const isKnown = (caseId: string) => known.get(caseId)?.some(({ errorGroup }) => errorGroup === id) === true
  const cases = inOrder.map(({ caseId, title }) => {
    const state: ErrorState = muted.has(caseId) ? "muted" : isKnown(caseId) ? "known" : "new"
    return { caseId, title, state, ticket: tickets.get(caseId) ?? null }
  })
  return {
    id,
    message: shownError(inOrder[0]!.error),
    count: cases.length,
    state: stateOrder.find((state) => cases.some((one) => one.state === state))!,
    cases
  }
}

/** New ones first, then those of more tests. */
const byNews = (a: RunError, b: RunError): number =>
  stateOrder.indexOf(a.state) - stateOrder.indexOf(b.state) || b.count - a.count || compare(a.id, b.id)
