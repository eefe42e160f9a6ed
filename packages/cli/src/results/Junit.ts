import type { AttemptReport } from "@delivery/client"
import { isAbsolute, relative, sep } from "node:path"
import { plain, type Result, type Results } from "./Result.ts"
import { readXml, Refused, type XmlElement } from "./Xml.ts"

/**
 * JUnit XML, as test runners write it. Elements decide; the counts in attributes are wrong in many files. They are believed only
 * where they say that something failed and no element does.
 */

const suites = new Set(["testsuites", "testsuite"])
const failures = new Set(["failure", "error"])
/** Surefire and Gradle: what an attempt failed with that the tool itself repeated. */
const reruns = new Set(["flakyFailure", "flakyError", "rerunFailure", "rerunError"])
const withText = new Set([...failures, ...reruns, "skipped", "stackTrace"])
const kept = new Set([...withText, ...suites, "testcase"])

/** What surrounds a test. */
interface Around {
  readonly suites: ReadonlyArray<string>
  readonly file: string | undefined
  /** When the next test of the suite began; undefined if the file does not say. */
  readonly clock: { now: Moment } | undefined
}

interface Context {
  /** The name of the file. */
  readonly name: string
  readonly directory: string
  /** The time to take for tests of which the file does not say when they ran, in milliseconds. */
  readonly now: number
}

/** Seconds, which some tools write with separators of thousands. */
const millis = (seconds: string | undefined): number => {
  const value = Number((seconds ?? "").replaceAll(",", "")) * 1_000
  return Number.isFinite(value) && value > 0 ? Math.round(value * 1_000) / 1_000 : 0
}

/** A time that a file has. */
interface Moment {
  /** In milliseconds. Without an offset it is taken to be UTC. */
  readonly at: number
  /** How much later it is if it is the time of this machine: jest-junit writes UTC without an offset, others write their own time. */
  readonly mayBeLater: number
}

const dayMillis = 86_400_000

/** Undefined for none. */
const momentOf = (text: string | undefined): Moment | undefined => {
  if (text === undefined) return undefined
  const time = text.trim().replace(" ", "T")
  const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/i.test(time)
  const at = Date.parse(hasOffset ? time : `${time}Z`)
  if (!(at >= 0 && at < Date.UTC(9999, 0, 1))) return undefined
  if (!time.includes(":")) return { at, mayBeLater: dayMillis }
  return { at, mayBeLater: hasOffset ? 0 : Math.max(0, Date.parse(time) - at) }
}

const after = ({ at, mayBeLater }: Moment, durationMs: number): Moment => ({ at: at + durationMs, mayBeLater })

/**
 * What is told of when a test began: the later of what it can mean, but nothing that is to come. What began before a version came is taken
 * to say nothing of it.
 */
const toldOf = ({ at, mayBeLater }: Moment, now: number): number => {
  if (at + mayBeLater <= now) return at + mayBeLater
  return mayBeLater === dayMillis ? Math.max(at, now) : at
}

const text = (element: XmlElement): string => {
  const stack = element.children.find((child) => child.name === "stackTrace")
  return (stack === undefined || stack.text.trim() === "" ? element.text : stack.text).trim()
}

const failureOf = (element: XmlElement) => {
  const stack = text(element)
  const message = (element.attributes["message"] ?? "").trim() || stack.split("\n", 1)[0] || element.attributes["type"]
  return { errorMessage: plain(message ?? "", 20_000) || null, errorStack: plain(stack, 40_000) || null }
}

/**
 * The first attempt. Where the tool repeated a test, `failure` is its first attempt beside `rerunFailure`; a test that
 * passed in the end has `flakyFailure` alone, and failed at first.
 */
const attemptOf = (test: XmlElement, startedAt: number): AttemptReport | null => {
  const failed =
    test.children.find(({ name }) => failures.has(name)) ?? test.children.find(({ name }) => reruns.has(name))
  const ran = { durationMs: millis(test.attributes["time"]), startedAt: new Date(startedAt).toISOString() }
  if (failed !== undefined) return { ...ran, status: "failed", ...failureOf(failed) }
  const { result, status } = test.attributes
  const isSkipped =
    test.children.some(({ name }) => name === "skipped") ||
    ["disabled", "notrun", "skipped", "suppressed"].some((word) => word === status || word === result)
  return isSkipped ? null : { ...ran, status: "passed", errorMessage: null, errorStack: null }
}

/** A path below the working directory is the same on all machines only if it begins there. */
const fileName = (path: string, { directory }: Context): string => {
  const below = isAbsolute(path) ? relative(directory, path) : path
  return (below.startsWith("..") ? path : below).split(sep).join("/")
}

/** Jest and others name suites after files. */
const looksLikeFile = (name: string | undefined): boolean => name !== undefined && /^\S+\.[cm]?[a-z]{2,4}$/.test(name)

const resultOf = (test: XmlElement, around: Around, context: Context): Result => {
  const { classname = "", name = "" } = test.attributes
  const file = test.attributes["file"] ?? around.file ?? around.suites.findLast(looksLikeFile)
  const durationMs = millis(test.attributes["time"])
  const start = momentOf(test.attributes["timestamp"]) ?? around.clock?.now
  if (around.clock !== undefined) around.clock.now = after(around.clock.now, durationMs)
  const isInName = classname === "" || name.includes(classname)
  const source = file === undefined ? classname || around.suites.at(-1) || "" : fileName(file, context)
  return {
    id: [source, ...around.suites.filter((suite) => suite !== file), ...(isInName ? [] : [classname]), name],
    title: isInName ? name : `${classname} › ${name}`,
    file: source,
    attempt: attemptOf(test, start === undefined ? context.now : toldOf(start, context.now)),
    endedAt: start && start.at + durationMs + start.mayBeLater
  }
}

const suiteResults = (suite: XmlElement, around: Around, context: Context): ReadonlyArray<Result> => {
  const { file, name = "", timestamp } = suite.attributes
  const start = momentOf(timestamp)
  const inside: Around = {
    suites: suite.name === "testsuite" && name !== "" ? [...around.suites, name] : around.suites,
    file: file ?? around.file,
    clock: start === undefined ? around.clock : { now: start }
  }
  return resultsIn(suite, inside, context)
}

const resultsIn = (parent: XmlElement, around: Around, context: Context): ReadonlyArray<Result> => {
  let file = around.file
  return parent.children.flatMap((child) => {
    if (child.name === "testcase") return [resultOf(child, around, context)]
    if (!suites.has(child.name)) return []
    // Mocha's reporter names the file on an empty suite before those of the file.
    if (child.attributes["file"] !== undefined && child.children.length === 0) file = child.attributes["file"]
    return suiteResults(child, { ...around, file }, context)
  })
}

const countOf = (text: string | undefined): number => {
  const count = Number((text ?? "").replaceAll(",", ""))
  return Number.isFinite(count) && count > 0 ? count : 0
}

/** gotestsum counts what passing tests wrote to stderr in the `errors` of all suites, so only those of one suite are believed. */
const countedFailures = ({ attributes, name }: XmlElement): number =>
  countOf(attributes["failures"]) + (name === "testsuite" ? countOf(attributes["errors"]) : 0)

const listsFailure = ({ children }: XmlElement): boolean =>
  children.some((child) => failures.has(child.name) || reruns.has(child.name) || listsFailure(child))

/** What failed in a suite outside of its tests, such as a hook, and what its tool counted and did not list. */
const errorsIn = (suite: XmlElement, context: Context): ReadonlyArray<string> => {
  const name = plain(suite.attributes["name"] ?? "", 500)
  const place = name === "" ? "" : ` in ${name}`
  const count = countedFailures(suite)
  if (count > 0 && !listsFailure(suite)) {
    return [`${context.name} says ${count} failed${place}, and lists ${count === 1 ? "no failure" : "none of them"}.`]
  }
  return suite.children.flatMap((child) => {
    if (suites.has(child.name)) return errorsIn(child, context)
    if (!failures.has(child.name)) return []
    const { errorMessage, errorStack } = failureOf(child)
    const [message, stack] = [errorMessage ?? `${context.name} has an error without a text${place}.`, errorStack ?? ""]
    return [stack.includes(message) ? stack : [message, stack].join("\n\n").trimEnd()]
  })
}

/** The results of a file. Throws `Refused`. */
export const readJunit = (xml: string, context: Context): Results => {
  const root = readXml(xml, kept, withText)
  if (!suites.has(root.name)) {
    throw new Refused(`it is not JUnit XML: its first element is <${plain(root.name, 50)}>.`)
  }
  return {
    tests: suiteResults(root, { suites: [], file: undefined, clock: undefined }, context),
    errors: errorsIn(root, context)
  }
}
