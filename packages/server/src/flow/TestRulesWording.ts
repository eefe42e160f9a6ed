import { shortened } from "@delivery/domain/catalog/ShortVersion"
import { shownName } from "@delivery/domain/flow/ShownName"
import { firstCharacters } from "@delivery/domain/Text"
import type { FoundTestRun } from "../runs/TestRunsRepo.ts"
import { line } from "./NamedTests.ts"
import type { ElsewhereFailure, FailedTest } from "./TestRulesRepo.ts"

/** What tickets and comments of rules say. What tests wrote is shown as code, so that it is no Markdown and mentions nobody. */

/** How many tests are named, and how many of them and of the files are links. */
const [namedTests, linked] = [100, 20]

/** How many pictures are shown (what was expected, what was there, and the difference), and how many traces are opened. */
const [pictures, traces] = [3, 3]

/** Where the run is shown, and where its files are. */
export interface RunPlace {
  readonly page: string
  readonly files: string
}

/** Cut as elsewhere, so that a hundred names fit into a ticket, also where what is hidden in them is written out. */
const code = (text: string): string => `\`${shownName(line(shownName(text))).replaceAll("`", "'")}\``

/** A block of code that its text cannot end. */
const block = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

/** A title of a ticket, which has at most 200 characters. */
const titled = (text: string): string => firstCharacters(line(text), 200)

export const titleOf = (tests: ReadonlyArray<FailedTest>, { number }: FoundTestRun): string =>
  tests.length === 1
    ? titled(`Failing: ${tests[0]!.title || tests[0]!.caseId}`)
    : titled(`${tests.length} tests fail since run ${number}`)

/** How long the address of a test or a file may be, in characters. */
const longestLink = 500

/** Its name leads to what it did in the run. */
const aboutIn =
  ({ page }: RunPlace) =>
  ({ caseId, file, title }: FailedTest, index: number): string => {
    const link = encodeURIComponent(caseId)
    const name = index >= linked || link.length > longestLink ? code(title) : `[${code(title)}](${page}/tests/${link})`
    return `${name} in ${code(file)} (${code(caseId)})`
  }

const ofCommit = ({ environment, git: { branch, sha }, product }: FoundTestRun): string => {
  const commit = sha === "unknown" ? [] : [`commit ${code(shortened(sha))}`]
  const tested = [...commit, ...(branch === "" ? [] : [`branch ${code(branch)}`])]
  return [`of ${code(product.name)} in ${code(environment.name)}`, ...tested].join(", ")
}

const listed = <A>(
  all: ReadonlyArray<A>,
  most: number,
  lineOf: (one: A, index: number) => string
): ReadonlyArray<string> => [
  ...all.slice(0, most).map((one, index) => `- ${lineOf(one, index)}`),
  ...(all.length > most ? [`- and ${all.length - most} more`] : [])
]

const [picture, trace] = [/\.(?:png|jpe?g|gif|webp|avif)$/i, /trace[^/]*\.zip$/i]

/** The files that failed tests left: the first pictures to be seen, and traces to be opened on the page of their test. */
const filesOf = (tests: ReadonlyArray<FailedTest>, { files, page }: RunPlace): ReadonlyArray<string> => {
  const testOf = new Map<string, FailedTest>()
  for (const test of tests) for (const path of test.files) if (!testOf.has(path)) testOf.set(path, test)
  const paths = [...testOf.keys()]
  const first = paths.slice(0, linked)
  const shown = new Set(first.filter((path) => picture.test(path)).slice(0, pictures))
  const openable = new Set(first.filter((path) => trace.test(path)).slice(0, traces))
  return listed(paths, linked, (path) => {
    const link = path.split("/").map(encodeURIComponent).join("/")
    const file = link.length > longestLink ? code(path) : `[${code(path)}](${files}${link})`
    const of = encodeURIComponent(testOf.get(path)!.caseId)
    const opened =
      openable.has(path) && of.length <= longestLink ? `, [open trace](${page}/tests/${of}?open=trace)` : ""
    return `${shown.has(path) && file.startsWith("[") ? "!" : ""}${file}${opened}`
  })
}

/** In how many runs tests must fail. */
export const runsOf = ({ failures, ofLast }: { readonly failures: number; readonly ofLast: number }): string =>
  `${failures} of ${ofLast} ${ofLast === 1 ? "run" : "runs"}`

/** What a rule is called where it stands beside others. */
export const labelOf = (
  rule: Parameters<typeof runsOf>[0] & { readonly branch: string | null },
  product: string
): string => `${runsOf(rule)} of ${product}${rule.branch === null ? "" : ` on ${rule.branch}`}`

/** Whose words these are: a rule acts as its author, who has not written them. */
const said = (rule: string, what: string): string => `${rule.charAt(0).toUpperCase()}${rule.slice(1)}: ${what}`

/** The description of a new ticket: which tests fail, what they say, their files, and where. */
export const descriptionOf = (
  tests: ReadonlyArray<FailedTest>,
  run: FoundTestRun,
  place: RunPlace,
  rule: string
): string => {
  const [first] = tests
  const files = filesOf(tests, place)
  return [
    `Run [${run.number}](${place.page}) ${ofCommit(run)} failed.`,
    listed(tests, namedTests, aboutIn(place)).join("\n"),
    first!.error === "" ? "The failure says nothing." : block(firstCharacters(first!.error, 4_000)),
    ...(files.length === 0 ? [] : [`Files:\n\n${files.join("\n")}`]),
    `By ${rule}.`
  ].join("\n\n")
}

/** The comment on a ticket whose tests fail again. */
export const failedAgain = (
  tests: ReadonlyArray<FailedTest>,
  run: FoundTestRun,
  place: RunPlace,
  rule: string
): string =>
  [
    said(rule, `failed in run [${run.number}](${place.page}) ${ofCommit(run)}.`),
    listed(tests, namedTests, aboutIn(place)).join("\n")
  ].join("\n\n")

const inRuns = (count: number): string => `${count} ${count === 1 ? "run" : "runs"}`

/** The runs that a rule is for. */
export interface Scope {
  /** The name of its environment; null for all. */
  readonly environment: string | null
  readonly branch: string | null
  readonly coverage: string | null
}

/** Where a rule looks, as it follows a number of runs; empty where it looks everywhere. */
const scoped = ({ branch, coverage, environment }: Scope): string =>
  [
    ...(environment === null ? [] : [` in ${code(environment)}`]),
    ...(branch === null ? [] : [` on ${code(branch)}`]),
    ...(coverage === null ? [] : [` with the coverage ${coverage}`])
  ].join("")

const hasPassed = (passes: number, scope: Scope): string => {
  const where = scoped(scope)
  return `passed in ${inRuns(passes)}${where} since it failed last${where === "" ? "" : " there"}`
}

const notCounted = (uncounted: number): string =>
  uncounted === 0
    ? ""
    : ` ${uncounted} more ${uncounted === 1 ? "run does" : "runs do"} not count: with uncommitted changes, of an agent, or the deployment changed meanwhile.`

/** The comment on a ticket that is completed: in how many runs of which its tests passed, and where one fails still. */
export const passedAgain = (
  {
    elsewhere,
    passes,
    scope,
    uncounted
  }: {
    readonly passes: number
    /** In how many more runs they passed that do not count. */
    readonly uncounted: number
    readonly scope: Scope
    readonly elsewhere: ElsewhereFailure | undefined
  },
  run: FoundTestRun,
  place: RunPlace,
  rule: string
): string =>
  said(
    rule,
    `${hasPassed(passes, scope)}, now in run [${run.number}](${place.page}) ${ofCommit(run)}.${notCounted(uncounted)}${
      elsewhere === undefined
        ? ""
        : ` It failed in run ${elsewhere.number}${scoped({ ...elsewhere, branch: elsewhere.branch === "" ? null : elsewhere.branch, coverage: null })}, for which the rule is not, and has not passed there since.`
    }`
  )

/** The comment on a ticket that stays open though its tests have passed as often as its rule asks: the same until that changes. */
export const stillWaits = (
  {
    closeAfter,
    scope,
    waitsFor
  }: {
    readonly closeAfter: number
    readonly scope: Scope
    /** What another rule asks; undefined where evidence is missing. */
    readonly waitsFor: { readonly closeAfter: number; readonly scope: Scope } | undefined
  },
  rule: string
): string =>
  said(
    rule,
    `${hasPassed(closeAfter, scope)}, which is enough for the rule. The ticket stays open: ${
      waitsFor === undefined
        ? "it needs evidence of runs that count, which is on the ticket under Tests."
        : `a test also failed where another rule looks, and has not passed in ${inRuns(waitsFor.closeAfter)}${scoped(waitsFor.scope)} since. The next run of this rule after that completes it.`
    }`
  )

const whyNotAsked: Readonly<Record<string, string>> = {
  agent_revoked: "the agent was revoked",
  inactive_member: "its person is not an active member",
  ticket_invisible: "its person cannot see the ticket",
  too_many_messages: "as many messages as one sender may have wait in its inbox already"
}

/** The comment on a new ticket that the owner whom the rule names cannot own. */
export const ownedByNobody = (kind: "user" | "agent", isActive: boolean, rule: string): string => {
  const [who, gone] =
    kind === "agent"
      ? ["agent", "was revoked, or its person is not an active member"]
      : ["person", "is not an active member"]
  return said(
    rule,
    `nobody owns this ticket: the ${who} whom the rule names ${isActive ? "cannot see it" : gone}. Name another owner in the rule.`
  )
}

/** The comment on a ticket whose agent has got no message. */
export const notAsked = (
  { message, reason = "" }: { readonly message: string; readonly reason?: string | undefined },
  rule: string
): string => said(rule, `the agent who owns this ticket was not asked: ${whyNotAsked[reason] ?? line(message)}.`)
