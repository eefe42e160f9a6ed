import type { RunResult, RunState } from "@delivery/domain/runs/TestRun"
import type { TestRunFilter } from "../TestRunsRepo.ts"
import { foldSha } from "../TestRunState.ts"
import { searchPart } from "./SearchText.ts"

/**
 * The terms of the index of the run search. A term is a number, a hash of a property of runs, such as a part of the
 * branch. A run that matches a filter has the terms of the filter. Other runs may have them too, so what the index finds
 * is compared with the filter. Terms are stored: a change needs a migration that empties the index.
 */

/** A run's results. */
export interface RunEnd {
  readonly state: RunState
  readonly result: RunResult | null
  readonly flaky: number
}

/** The properties of a run that have terms. */
export interface SearchedRun extends RunEnd {
  readonly search: string
  readonly sha: string
  readonly productId: string
  readonly environmentId: string
  readonly publisherId: string
}

/** Calls `add` with each term of the run, with some of them more than once. */
export const runTerms = (run: SearchedRun, add: (term: number) => void): void => {
  const { search } = run
  for (let end = 1; end <= search.length; end++) {
    for (let length = 1; length <= Math.min(gramLength, end); length++) {
      add(termOf(kinds.part, search, end - length, end))
    }
  }
  const sha = foldSha(run.sha)
  for (let length = 1; length <= Math.min(shaLength, sha.length); length++) add(termOf(kinds.sha, sha, 0, length))
  add(fullTerm(kinds.product, run.productId))
  add(fullTerm(kinds.environment, run.environmentId))
  add(fullTerm(kinds.publisher, run.publisherId))
  for (const term of resultTerms(run)) add(term)
}

/** The terms of the run's result. A run that still runs has all terms, since it may get any result. */
export const resultTerms = ({ flaky, result, state }: RunEnd): ReadonlyArray<number> => {
  if (state === "running") return allResults
  if (result === null) return []
  return flaky > 0 ? [results[result], results.flaky] : [results[result]]
}

/** A run that matches the filter has all terms of `always`, and all terms of at least one of the sets. */
export const filterTerms = (
  filter: TestRunFilter
): { readonly always: ReadonlyArray<number>; readonly sets: ReadonlyArray<ReadonlyArray<number>> } => {
  const { commit, environmentId, productId, publisher, q = "", result } = filter
  const always: Array<number> = []
  if (productId !== undefined) always.push(fullTerm(kinds.product, productId))
  if (environmentId !== undefined) always.push(fullTerm(kinds.environment, environmentId))
  if (publisher !== undefined) always.push(fullTerm(kinds.publisher, publisher.id))
  if (result !== undefined) always.push(results[result])
  if (commit !== undefined) always.push(shaTerm(commit))
  const sets = q === "" ? [[]] : [partTerms(searchPart(q)), [shaTerm(q)]]
  return { always, sets: sets.map((terms) => [...new Set(terms)].filter((term) => !always.includes(term))) }
}

/** The terms of some parts of a long `q` are enough. */
const partTerms = (part: string): ReadonlyArray<number> => {
  const length = Math.min(gramLength, part.length)
  const last = part.length - length
  const count = Math.min(last + 1, maxPartTerms)
  return Array.from({ length: count }, (_, i) => {
    const at = count === 1 ? 0 : Math.round((i * last) / (count - 1))
    return termOf(kinds.part, part, at, at + length)
  })
}

const shaTerm = (sha: string): number => termOf(kinds.sha, foldSha(sha), 0, Math.min(shaLength, sha.length))

const kinds = { part: 1, sha: 2, product: 3, environment: 4, publisher: 5 }

/** A term is a part of this many characters, or of fewer. */
const gramLength = 3
/** How many of the first characters of a SHA have terms: enough to leave few of a million runs. */
const shaLength = 4
const maxPartTerms = 8

/** Enough that few properties share a term, and few enough that long texts cannot make a block of the index large. */
const termBits = 20

/** Results change, so no other property shares their terms. */
const results = { passed: 2 ** termBits, failed: 2 ** termBits + 1, flaky: 2 ** termBits + 2 }
export const allResults: ReadonlyArray<number> = Object.values(results)
/** Every term is below it. */
export const termCount = 2 ** termBits + allResults.length

const fullTerm = (kind: number, text: string): number => termOf(kind, text, 0, text.length)

const termOf = (kind: number, text: string, from: number, to: number): number => {
  let hash = Math.imul(kind, 0x9e3779b1)
  for (let at = from; at < to; at++) hash = (Math.imul(hash ^ text.charCodeAt(at), 0x01000193) + 0x7f4a7c15) | 0
  // The last step of MurmurHash3: every bit changes all others.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> (32 - termBits)
}
