import type { ReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"

/** What a person changed of a policy, done to what it has become meanwhile. Pure. */

const nameOf = (one: object): string => JSON.stringify(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** A list of theirs without what the person removed, and with what they added. */
const mergeLists = <A extends object>(
  base: ReadonlyArray<A>,
  mine: ReadonlyArray<A>,
  theirs: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const [before, after, there] = [base, mine, theirs].map((list) => new Set(list.map(nameOf)))
  return [
    ...theirs.filter((one) => !before!.has(nameOf(one)) || after!.has(nameOf(one))),
    ...mine.filter((one) => !before!.has(nameOf(one)) && !there!.has(nameOf(one)))
  ]
}

const byCoverage = ({ requires }: ReadinessPolicy) =>
  new Map(requires.map(({ coverage, severity }) => [coverage, severity]))

const mergeRequires = (
  base: ReadinessPolicy,
  mine: ReadinessPolicy,
  theirs: ReadinessPolicy
): ReadinessPolicy["requires"] => {
  const [before, after, there] = [byCoverage(base), byCoverage(mine), byCoverage(theirs)]
  for (const coverage of new Set([...before.keys(), ...after.keys()])) {
    const severity = after.get(coverage)
    if (severity === before.get(coverage)) continue
    if (severity === undefined) there.delete(coverage)
    else there.set(coverage, severity)
  }
  return [...there].map(([coverage, severity]) => ({ coverage, severity }))
}

/** Where both changed the same field, the person's change holds: it is made later, and they see it. */
export const mergePolicies = (
  base: ReadinessPolicy,
  mine: ReadinessPolicy,
  theirs: ReadinessPolicy
): ReadinessPolicy => {
  const one = <K extends "from" | "tickets" | "secrets" | "drift" | "mutes">(field: K): ReadinessPolicy[K] =>
    mine[field] === base[field] ? theirs[field] : mine[field]
  return {
    from: one("from"),
    requires: mergeRequires(base, mine, theirs),
    tickets: one("tickets"),
    secrets: one("secrets"),
    drift: one("drift"),
    mutes: one("mutes"),
    freezes: mergeLists(base.freezes, mine.freezes, theirs.freezes)
  }
}
