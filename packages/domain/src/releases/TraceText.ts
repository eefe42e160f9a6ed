import type { EnvironmentClass } from "../catalog/Environment.ts"
import { compare } from "../Order.ts"
import type { RunResult } from "../runs/TestRun.ts"
import type { Timestamp } from "../Timestamp.ts"

/** What runs in an environment now, and when the ticket's versions came there. */
export interface TracedPlace {
  readonly product: string
  readonly environment: string
  readonly class: typeof EnvironmentClass.Type
  /** The first release of the version that is live; null where none is. */
  readonly origin: number | null
  /** The releases of versions whose commits name the ticket, oldest first. */
  readonly releases: ReadonlyArray<{ readonly number: number; readonly at: Timestamp }>
}

/** A run that tested one of the versions. */
export interface TracedRun {
  readonly number: number
  readonly product: string
  readonly result: RunResult | null
}

/**
 * Where a ticket has come to, as one sentence (docs/contract.md, Releases). A version is taken to contain those that were
 * first released before it, so that the ticket stays in an environment until that is rolled back to before it.
 *
 * @param places The deployments of the products whose commits name the ticket, and no others.
 * @param runs Newest first.
 */
export const traceText = (
  identifier: string,
  places: ReadonlyArray<TracedPlace>,
  runs: ReadonlyArray<TracedRun>
): string => {
  const products = [...new Set(places.map(({ product }) => product))].toSorted(compare)
  if (products.length === 0) return `No release contains a commit that names ${identifier}.`
  const clauses = products.map((product) => {
    const clause = clauseOf(
      places.filter((place) => place.product === product).toSorted((a, b) => compare(a.environment, b.environment)),
      runs.find((run) => run.product === product && run.result !== null)
    )
    return products.length === 1 ? `${clause[0]!.toUpperCase()}${clause.slice(1)}` : `${product}: ${clause}`
  })
  return `${clauses.join("; ")}.`
}

const clauseOf = (places: ReadonlyArray<TracedPlace>, run: TracedRun | undefined): string => {
  const present = places.filter(isThere)
  const since = present.map(({ environment, releases }) => `in ${environment} since ${day(releases.at(-1)!.at)}`)
  const gone = places.filter((place) => place.releases.length > 0 && !isThere(place))
  const missing = places.filter((place) => place.class === "production" && place.releases.length === 0)
  return [
    since.length === 0 ? "in no environment" : since.join(" and "),
    ...(run === undefined
      ? []
      : [run.result === "passed" ? `tested by run ${run.number}` : `run ${run.number} failed`]),
    ...gone.map(({ environment }) => `no longer in ${environment}`),
    ...missing.map(({ environment }) => `not in ${environment}`)
  ].join(", ")
}

const isThere = ({ origin, releases }: TracedPlace): boolean =>
  origin !== null && releases.length > 0 && origin >= releases[0]!.number

/** The day in UTC. */
const day = (at: Timestamp): string => at.slice(0, 10)
