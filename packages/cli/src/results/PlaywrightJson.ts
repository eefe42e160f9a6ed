import type { AttemptReport } from "@delivery/client"
import { Result as Outcome, Schema } from "effect"
import { plain, type Result, type Results } from "./Result.ts"
import { Refused } from "./Xml.ts"

/** The report that Playwright's `json` reporter writes: the part of it that a run keeps. */

const Message = Schema.Struct({
  message: Schema.optionalKey(Schema.String),
  stack: Schema.optionalKey(Schema.String),
  value: Schema.optionalKey(Schema.String)
})

const Attempt = Schema.Struct({
  status: Schema.String,
  duration: Schema.Finite,
  startTime: Schema.String,
  errors: Schema.optionalKey(Schema.Array(Message))
})

const Test = Schema.Struct({
  projectName: Schema.optionalKey(Schema.String),
  expectedStatus: Schema.String,
  results: Schema.Array(Attempt)
})

const Spec = Schema.Struct({ title: Schema.String, file: Schema.String, tests: Schema.Array(Test) })

interface Suite {
  readonly title: string
  readonly specs?: ReadonlyArray<typeof Spec.Type>
  readonly suites?: ReadonlyArray<Suite>
}

const Suite = Schema.Struct({
  title: Schema.String,
  specs: Schema.optionalKey(Schema.Array(Spec)),
  suites: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Suite> => Suite)))
})

const Report = Schema.Struct({ suites: Schema.Array(Suite), errors: Schema.optionalKey(Schema.Array(Message)) })
const decode = Schema.decodeUnknownResult(Report)

/** A report that was cut off begins like JSON, and is none. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refused(`it is not whole JSON: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

const joined = (texts: ReadonlyArray<string | undefined>): string =>
  texts.filter((text) => text !== undefined && text !== "").join("\n\n")

/** As the reporter of Playwright judges it: an attempt that ended as expected has passed. */
const attemptOf = ({ expectedStatus, results }: typeof Test.Type): AttemptReport | null => {
  const [first] = results
  if (first === undefined || first.status === "skipped" || first.status === "interrupted") return null
  const started = Date.parse(first.startTime)
  if (Number.isNaN(started)) throw new Refused("it is not a report of Playwright: a test has no time.")
  const ran = { durationMs: Math.max(0, first.duration), startedAt: new Date(started).toISOString() }
  if (first.status === expectedStatus) return { ...ran, status: "passed", errorMessage: null, errorStack: null }
  const errors = first.errors ?? []
  const message = plain(joined(errors.map((error) => error.message)), 20_000)
  return {
    ...ran,
    status: "failed",
    errorMessage: message || (first.status === "passed" ? "Expected to fail, but passed." : null),
    errorStack: plain(joined(errors.map((error) => error.stack)), 40_000) || null
  }
}

/** When the last attempt ended. */
const endOf = ({ results }: typeof Test.Type): number | undefined => {
  const ends = results.map(({ duration, startTime }) => Date.parse(startTime) + Math.max(0, duration))
  return ends.length === 0 || ends.some(Number.isNaN) ? undefined : Math.max(...ends)
}

const specResults = (spec: typeof Spec.Type, titles: ReadonlyArray<string>, projects: number) =>
  spec.tests.map((test): Result => {
    const all = [...titles, spec.title].filter((title) => title !== "")
    const project = projects > 1 && (test.projectName ?? "") !== "" ? ` [${test.projectName}]` : ""
    return {
      id: [spec.file, [...all].join(" › ") + project],
      title: all.join(" › "),
      file: spec.file,
      attempt: attemptOf(test),
      endedAt: endOf(test)
    }
  })

const resultsOf = (suite: Suite, titles: ReadonlyArray<string>, projects: number): ReadonlyArray<Result> => [
  ...(suite.specs ?? []).flatMap((spec) => specResults(spec, titles, projects)),
  ...(suite.suites ?? []).flatMap((inner) => resultsOf(inner, [...titles, inner.title], projects))
]

const projectsOf = (suite: Suite): ReadonlyArray<string> => [
  ...(suite.specs ?? []).flatMap((spec) => spec.tests.map((test) => test.projectName ?? "")),
  ...(suite.suites ?? []).flatMap(projectsOf)
]

const attemptsOf = (suite: Suite): ReadonlyArray<typeof Attempt.Type> => [
  ...(suite.specs ?? []).flatMap(({ tests }) => tests.flatMap(({ results }) => results)),
  ...(suite.suites ?? []).flatMap(attemptsOf)
]

/** The results of a report, its tests with the ids that the reporter gives them. Throws `Refused`. */
export const readPlaywrightJson = (text: string): Results => {
  const report = decode(parse(text))
  if (Outcome.isFailure(report)) throw new Refused("it is JSON, but not a report of Playwright's `json` reporter.")
  const { errors: thrown = [], suites } = report.success
  const projects = new Set(suites.flatMap(projectsOf)).size
  const errors = thrown
    .map(({ message, stack, value }) => plain(message ?? value ?? stack ?? "", 20_000))
    .filter((error) => error !== "")
  const isInterrupted = suites.flatMap(attemptsOf).some(({ status }) => status === "interrupted")
  return {
    tests: suites.flatMap((suite) => resultsOf(suite, [], projects)),
    // A time limit of all tests interrupts one, too, and is an error of the report.
    errors: isInterrupted && errors.length === 0 ? ["The tests were interrupted."] : errors
  }
}
