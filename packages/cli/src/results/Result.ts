import type { AttemptReport, Coverage, TestReport } from "@delivery/client"
import { firstCharacters } from "@delivery/domain/Text"
import { caseIds, fitId } from "@delivery/publishing"
import { stripVTControlCharacters } from "node:util"

/** A test as a file of results has it, before it becomes a test of a run. */
export interface Result {
  /** What names the test in every run, from the outside to the inside. */
  readonly id: ReadonlyArray<string>
  readonly title: string
  readonly file: string
  readonly attempt: AttemptReport | null
  /** When its last attempt ended, in milliseconds, as late as its file can mean; undefined where that does not say. */
  readonly endedAt: number | undefined
}

/** What a file of results has. */
export interface Results {
  readonly tests: ReadonlyArray<Result>
  /** What failed outside of the tests, as texts that are not empty. */
  readonly errors: ReadonlyArray<string>
}

/** Text of a report: without colours, which logs of test runners have, and cut. */
export const plain = (text: string, length: number): string =>
  firstCharacters(stripVTControlCharacters(text).replaceAll("\0", ""), length).toWellFormed()

/** A repeated part of an id says nothing: many tools name the class after the suite. */
const idOf = ({ id }: Result): string => {
  const parts = id.filter((part, at) => part !== "" && part !== id[at - 1])
  return fitId(parts.join(" › ").toWellFormed().replaceAll("\0", "") || "test", 490)
}

/** The tests of a run. Tests of the same name are told apart by a number, in the order of the files. */
export const testReports = (results: ReadonlyArray<Result>, coverage: Coverage): Array<TestReport> => {
  const unique = caseIds()
  return results.map((result) => ({
    caseId: unique(idOf(result)),
    title: plain(result.title, 4_000),
    file: plain(result.file, 4_000),
    coverage,
    testKind: "behavior",
    priority: null,
    files: [],
    attempt: result.attempt
  }))
}

/** When the last test that ran had ended, at the latest, in milliseconds; undefined where no file says when its tests ran. */
export const lastEnd = (tests: ReadonlyArray<Result>): number | undefined =>
  tests.reduce<number | undefined>(
    (last, { attempt, endedAt }) =>
      attempt === null || endedAt === undefined ? last : Math.max(last ?? endedAt, endedAt),
    undefined
  )
