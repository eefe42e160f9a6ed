import type { Release } from "@delivery/domain/releases/Release"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"

/** Two runs beside each other: what changed from the one to the other. Pure. */

export interface Compared {
  readonly caseId: string
  /** The test in the newer run, or where it is no longer there, in the older one. */
  readonly test: TestEntry
  readonly before: TestEntry | undefined
  readonly after: TestEntry | undefined
}

const kinds = ["failing", "flaky", "fixed", "slower", "stillFailing", "added", "removed"] as const
export type ComparedKind = (typeof kinds)[number]

export type Comparison = Readonly<Record<ComparedKind, ReadonlyArray<Compared>>>

/** A test is slower if it took half as long again, and a second more at least. */
const isSlower = (before: TestEntry, after: TestEntry): boolean =>
  after.durationMs >= before.durationMs * 1.5 && after.durationMs - before.durationMs >= 1_000

const ran = (test: TestEntry | undefined): test is TestEntry => test !== undefined && test.status !== "skipped"

/** What is to be said of a test, or nothing. A test that ran in one of them alone is neither fixed nor newly failing. */
const kindsOf = ({ after, before }: Compared): ReadonlyArray<ComparedKind> => {
  if (!ran(after)) return ran(before) ? ["removed"] : []
  if (!ran(before)) return ["added"]
  const slower =
    after.status !== "failed" && before.status !== "failed" && isSlower(before, after) ? (["slower"] as const) : []
  if (after.status === "failed") return before.status === "failed" ? ["stillFailing"] : ["failing"]
  if (before.status === "failed") return ["fixed", ...slower]
  return after.status === "flaky" && before.status !== "flaky" ? ["flaky", ...slower] : slower
}

export const compareTests = (base: ReadonlyArray<TestEntry>, run: ReadonlyArray<TestEntry>): Comparison => {
  const [befores, afters] = [base, run].map((tests) => new Map(tests.map((test) => [test.caseId, test])))
  const found = new Map<ComparedKind, Array<Compared>>(kinds.map((kind) => [kind, []]))
  for (const caseId of new Set([...run, ...base].map((test) => test.caseId))) {
    const [before, after] = [befores!.get(caseId), afters!.get(caseId)]
    const test = after ?? before
    if (test === undefined) continue
    const compared = { caseId, test, before, after }
    for (const kind of kindsOf(compared)) found.get(kind)?.push(compared)
  }
  const growth = ({ after, before }: Compared) => (after?.durationMs ?? 0) - (before?.durationMs ?? 0)
  found.get("slower")?.sort((a, b) => growth(b) - growth(a))
  return Object.fromEntries(found) as unknown as Comparison
}

/** The releases after that of the one run, up to that of the other, newest first. */
export const releasesBetween = (
  releases: ReadonlyArray<Release>,
  base: number | null,
  run: number | null
): ReadonlyArray<Release> =>
  base === null || run === null
    ? []
    : releases.filter(({ number }) => number > Math.min(base, run) && number <= Math.max(base, run))

/** Whether something happened between the two, whichever is older. */
export const isBetween = (at: string, base: string, run: string): boolean => {
  const [from, to] = [base, run].map((time) => Date.parse(time)).toSorted((a, b) => a - b)
  const time = Date.parse(at)
  return time > from! && time <= to!
}
