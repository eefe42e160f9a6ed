import type { ChangedSecret, MissingSecret } from "@delivery/domain/flow/Drift"
import type { Readiness, Reason, ReasonKind, ReasonSubject } from "@delivery/domain/flow/Readiness"
import { uncountedText } from "@delivery/domain/flow/ReadinessRuns"
import type { ReadinessPolicy, ReasonSetting, Severity } from "@delivery/domain/flow/ReadinessPolicy"
import { isCommit } from "@delivery/domain/catalog/WholeVersion"
import { shortened } from "@delivery/domain/catalog/ShortVersion"
import type { EnvironmentId } from "@delivery/domain/Ids"
import { shownName } from "@delivery/domain/flow/ShownName"
import { compare } from "@delivery/domain/Order"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { runLabel, runPath } from "../runs/TestRunState.ts"
import type { Identified } from "./Drifting.ts"
import { line } from "./NamedTests.ts"
import type { OverdueMute } from "./OverdueMutes.ts"
import { hasPassed, isDropped, isMissing, type LeftOutTest } from "./DecidingRuns.ts"
import { type BlockingTicket, type FewerTests, type FoundRun, namedTests, type UnresolvedRun } from "./ReadinessRepo.ts"

/** Why a version may not go out, of all that was found (docs/contract.md, Readiness). Pure. */

/** What was found, each of it only where the policy asks for it. */
export interface Findings {
  readonly version: string | null
  /** Whether a deployment of the product ever had the version, or a run tested it. */
  readonly isKnown: boolean
  /** Whether it is not known and several that are begin with it. */
  readonly isAmbiguous: boolean
  readonly at: Timestamp
  readonly runs: ReadonlyArray<FoundRun>
  /** A run of each coverage that has no result, also where it is older than the one that decides. */
  readonly unresolved: ReadonlyArray<UnresolvedRun>
  /** What decides nothing, as it is told. */
  readonly notCounted: Readiness["notCounted"]
  /** Failed tests of earlier runs that those which decide have not run. */
  readonly leftOut: ReadonlyArray<LeftOutTest>
  readonly fewer: ReadonlyArray<FewerTests>
  readonly mutes: ReadonlyArray<OverdueMute>
  /** What tests that are muted past their time are called, by id, as far as they were in a run. */
  readonly names: ReadonlyMap<string, { readonly title: string }>
  readonly tickets: ReadonlyArray<BlockingTicket>
  readonly missing: ReadonlyArray<Identified<MissingSecret>>
  readonly changed: ReadonlyArray<Identified<ChangedSecret>>
  /** When the next mute of the product is over. */
  readonly nextMuteEnd: Timestamp | null
  /** The name of the environment that versions come from. */
  readonly fromName: string | null
  /** Where a version was to be found, when none was named and none runs there: that environment, or the place's own where versions come from nowhere. */
  readonly withoutVersion: (FoundSource & { readonly isHere: boolean }) | undefined
  /** The environment that versions come from, where nothing is tested there any more and a version was named. */
  readonly goneSource: FoundSource | undefined
}

/** An environment where versions come from. */
interface FoundSource {
  readonly id: EnvironmentId
  readonly slug: string
  readonly name: string
  readonly isDeployed: boolean
  readonly isArchived: boolean
}

/** Where the website shows things. */
export interface Pages {
  /** The address of the workspace's pages, without a slash at its end. */
  readonly workspaceUrl: string
  readonly productSlug: string
  readonly environmentSlug: string
}

/** What blocks first, then what warns; each by kind, in the order of the kinds. */
export const reasonsOf = (policy: ReadinessPolicy, found: Findings, pages: Pages): ReadonlyArray<Reason> => {
  // Titles, errors, versions and names in it are those of others.
  const reasons = byKind(policy, found, pages).map((reason) => ({ ...reason, message: line(reason.message) }))
  return (["block", "warn"] as const).flatMap((weight) => reasons.filter(({ severity }) => severity === weight))
}

const byKind = (policy: ReadinessPolicy, found: Findings, pages: Pages): ReadonlyArray<Reason> => [
  ...weighed("version_unknown", "warn", versionReasons(found)),
  ...weighed("version_missing", "block", sourceReasons(found, pages)),
  ...weighed("source_archived", "block", goneReasons(found, pages)),
  ...weighed("version_name", "warn", nameReasons(found)),
  ...runReasons(policy, found, pages),
  ...weighed("mute_overdue", policy.mutes, muteReasons(found, pages)),
  ...weighed("ticket_blocks", policy.tickets, ticketReasons(found, pages)),
  ...weighed("secret_missing", policy.secrets, missingReasons(found, pages)),
  ...weighed("drift", policy.drift, driftReasons(found, pages)),
  ...weighed("frozen", "block", freezeReasons(policy, found, pages))
]

/** When time alone may change the reasons, or null. */
export const changesAtOf = (
  { freezes }: Pick<ReadinessPolicy, "freezes">,
  { at, nextMuteEnd }: Pick<Findings, "at" | "nextMuteEnd">
): Timestamp | null =>
  [...freezes.flatMap(({ from, to }) => [from, to]), ...(nextMuteEnd === null ? [] : [nextMuteEnd])]
    .filter((time) => time > at)
    .toSorted(compare)[0] ?? null

type Unweighed = Pick<Reason, "subject" | "message">

const weighed = (kind: ReasonKind, setting: ReasonSetting, reasons: ReadonlyArray<Unweighed>): ReadonlyArray<Reason> =>
  setting === "off" ? [] : reasons.map((reason) => ({ kind, severity: setting, ...reason }))

const versionReasons = ({ isAmbiguous, isKnown, version }: Findings): ReadonlyArray<Unweighed> =>
  isKnown || version === null
    ? []
    : [
        {
          subject: { type: "version", id: version, label: version, url: null },
          message: `Nobody has released or tested ${version}: ${isAmbiguous ? "several versions begin with it, and it does not say which." : "no deployment of the product ever had it."}`
        }
      ]

/** A gate that is asked without a version must not say yes to none. */
const sourceReasons = ({ withoutVersion }: Findings, pages: Pages): ReadonlyArray<Unweighed> => {
  if (withoutVersion === undefined) return []
  const { isArchived, isHere, name: label } = withoutVersion
  return [
    {
      subject: sourceSubject(withoutVersion, pages),
      message: isHere
        ? "No version is known to run here, and none was named."
        : isArchived
          ? `${label}, from which versions come, is archived, and no version was named.`
          : `No version is known to run in ${label}, from which versions come, and none was named.`
    }
  ]
}

const sourceSubject = (
  { id, isDeployed, name: label, slug }: FoundSource,
  { productSlug, workspaceUrl }: Pages
): ReasonSubject => ({
  type: "environment",
  id,
  label,
  url: isDeployed ? `${workspaceUrl}/deployments/${productSlug}/${slug}` : null
})

/** Nothing runs there any more: what ran there once would decide for good. */
const goneReasons = ({ goneSource }: Findings, pages: Pages): ReadonlyArray<Unweighed> =>
  goneSource === undefined
    ? []
    : [
        {
          subject: sourceSubject(goneSource, pages),
          message: goneSource.isArchived
            ? `${goneSource.name}, from which versions come, is archived: nothing is tested there any more. Restore it, or name another environment in the policy.`
            : `The product is not deployed in ${goneSource.name}, from which versions come: nothing is tested there. Deploy it there, or name another environment in the policy.`
        }
      ]

/** What has the name of a branch, or could name no build by a number, is proven by an old run whatever else was deployed by that name. */
const nameReasons = ({ runs, version }: Findings): ReadonlyArray<Unweighed> => {
  const run =
    version === null || isCommit(version)
      ? undefined
      : (runs.find(({ git }) => branchOf(git.branch) === branchOf(version)) ??
        (isBranch(version) || !/\d/.test(version) ? runs[0] : undefined))
  if (run === undefined || version === null) return []
  const tested = run.git.sha === "unknown" ? "" : `, which tested ${shortened(run.git.sha)}`
  return [
    {
      subject: { type: "version", id: version, label: version, url: null },
      message: `${version} is a name that other code may have, too: whatever was deployed by it since, ${runLabel.toLowerCase()}${run.number} decides${tested}. Record the commit as the version (delivery deployments set-version).`
    }
  ]
}

/** A branch as git has it in full, or as that of a remote. A tag is none. */
const isBranch = (name: string): boolean => /^refs\/(?:heads|remotes)\//.test(name)

const branchOf = (name: string): string => name.replace(/^refs\/(?:heads|remotes)\//, "").replace(/^origin\//, "")

/** A time to the minute: of what is to come the next one, where seconds are left. The website shows it in the time of its reader. */
const momentOf = (at: Timestamp, round: (minutes: number) => number = Math.ceil): string => {
  const whole = new Date(round(Date.parse(at) / 60_000) * 60_000).toISOString()
  return `${whole.slice(0, 10)} ${whole.slice(11, 16)} UTC`
}

const runReasons = (policy: ReadinessPolicy, found: Findings, pages: Pages): ReadonlyArray<Reason> =>
  policy.requires.flatMap(({ coverage, severity }) => {
    const run = found.runs.find((one) => one.coverage === coverage)
    if (run === undefined) {
      const uncounted =
        found.notCounted.find((one) => one.coverage === coverage) ??
        found.notCounted.find((one) => one.coverage === null)
      const unresolved = found.unresolved.find((one) => one.coverage === coverage)
      return [
        runMissing(
          coverage,
          severity,
          { version: found.version, fromName: found.fromName, unresolved, uncounted },
          pages
        )
      ]
    }
    const about = { run, version: found.version, pages }
    if (!hasPassed(run)) return [runFailed(about, severity)]
    const leftOut = found.leftOut.filter((one) => one.coverage === coverage)
    const missing = leftOut.filter(isMissing)
    const dropped = leftOut.filter(isDropped)
    const muted = leftOut.filter(({ mutedBy }) => mutedBy !== undefined)
    return [
      ...(missing.length === 0 ? [] : [testMissing(about, severity, missing)]),
      ...(dropped.length === 0 ? [] : [testDropped(about, dropped)]),
      ...found.fewer.filter((one) => one.coverage === coverage).map((one) => testsFewer(about, one)),
      ...(muted.length === 0 ? [] : [testMuted(about, muted)])
    ]
  })

interface AboutRun {
  readonly run: FoundRun
  readonly version: string | null
  readonly pages: Pages
}

const aboutRun = ({ pages, run, version }: AboutRun, kind: ReasonKind, severity: Severity, what: string): Reason => ({
  kind,
  severity,
  subject: runSubject(run, pages),
  message: `${newestRun(run, version)}, ${what}`
})

const testsOf = (all: ReadonlyArray<LeftOutTest>): string => (all.length === 1 ? "a test" : `${all.length} tests`)

const them = (all: ReadonlyArray<LeftOutTest>): string => (all.length === 1 ? "it" : "them")

const namesOf = ({ run }: AboutRun, leftOut: ReadonlyArray<LeftOutTest>): string => {
  const named = leftOut
    .slice(0, namedTests)
    .map((one) => `${shownName(one.title)} (${[...whereOf(run, one), ...mutedByOf(one)].join(", ")})`)
  const others = leftOut.length - named.length
  return `${named.join(", ")}${others === 0 ? "" : ` and ${others} more`}`
}

/**
 * Where it failed: of another version also the branch, where that is another one, since a branch has tests of its own. And where it passed, if
 * that does not undo it.
 */
const whereOf = (
  { git }: FoundRun,
  { branch, isFormer, number, oldPass, otherVersion, passedAway, passedIn }: LeftOutTest
): ReadonlyArray<string> => {
  const former = isFormer ? " at the address of before" : ""
  const old = [
    ...(oldPass === null
      ? []
      : [
          oldPass === number
            ? "passed in a retry that began before it failed"
            : `its pass in run ${oldPass} began before it failed`
        ]),
    ...(passedAway === null ? [] : [`passed in run ${passedAway} at another address, which does not count`])
  ]
  if (otherVersion === null) return [`run ${number}${former}`, ...old]
  const on = branch === git.branch || branch === "unknown" ? "" : ` on ${shownName(branch)}`
  return [
    `run ${number} of ${shortened(otherVersion)}${on}${former}`,
    ...old,
    ...(passedIn === null
      ? []
      : [`passed in run ${passedIn.number} of this version with the coverage ${passedIn.coverage}`])
  ]
}

const mutedByOf = ({ mutedBy }: LeftOutTest): ReadonlyArray<string> =>
  typeof mutedBy === "string" ? [`muted by ${mutedBy}`] : []

/** The run has left them out, or it or one before it has passes of them that began before they failed. */
const passedWithout = (all: ReadonlyArray<LeftOutTest>, failed = "failed before"): string =>
  all.every(({ oldPass }) => oldPass === null)
    ? `passed without ${testsOf(all)} that ${all.every(({ passedAway }) => passedAway === null) ? failed : "failed before"}`
    : `passed, but ${testsOf(all)} that failed before ${all.length === 1 ? "has" : "have"} not passed since`

const testMissing = (about: AboutRun, severity: Severity, missing: ReadonlyArray<LeftOutTest>): Reason =>
  aboutRun(
    about,
    "test_missing",
    severity,
    `${passedWithout(missing)}: ${namesOf(about, missing)}. Run all of ${about.run.coverage} again with ${them(missing)}, or mute ${them(missing)} with a ticket.`
  )

/** Where tests live with the code, to leave one out is a new version: it may be meant, so it is told and keeps nothing back. */
const testDropped = (about: AboutRun, dropped: ReadonlyArray<LeftOutTest>): Reason =>
  aboutRun(
    about,
    "test_dropped",
    "warn",
    `${passedWithout(dropped, `failed when ${dropped.length === 1 ? "it" : "they"} last ran there`)}: ${namesOf(about, dropped)}. No run of ${about.run.coverage} that counts has passed ${them(dropped)} since. Run ${them(dropped)} with this version, or mute ${them(dropped)} with a ticket. Where ${dropped.length === 1 ? "it was" : "they were"} renamed or taken out on purpose, complete a ticket that needs evidence of ${them(dropped)}, with the reason as its override.`
  )

/** A file of results that was not published, or a part that never ran, shows by nothing else. */
const testsFewer = (about: AboutRun, { count, number, titles, version }: FewerTests): Reason =>
  aboutRun(
    about,
    "tests_fewer",
    "warn",
    `ran ${count} tests fewer than run ${number} of ${shortened(version)}${titles.length === 0 ? "" : `, for example ${titles.map(shownName).join(", ")}`}. See whether all results were published, or tests were taken out on purpose.`
  )

const testMuted = (about: AboutRun, muted: ReadonlyArray<LeftOutTest>): Reason =>
  aboutRun(
    about,
    "test_muted",
    "warn",
    `${passedWithout(muted)}, and ${muted.length === 1 ? "is" : "are"} muted: ${namesOf(about, muted)}.`
  )

const runSubject = ({ id, number }: FoundRun, { workspaceUrl }: Pages) => ({
  type: "run" as const,
  id,
  label: `${runLabel}${number}`,
  url: `${workspaceUrl}/${runPath}${number}`
})

const newestRun = ({ coverage, environment, number }: FoundRun, version: string | null): string =>
  `${runLabel}${number} in ${environment.name}, the newest of ${version} with the coverage ${coverage}`

/** The list of runs knows the commits that were tested, and no versions and coverages. */
const commitFilter = (version: string | null): string =>
  version !== null && /^[0-9a-f]{7,64}$/i.test(version) ? `&q=${version}` : ""

const runMissing = (
  coverage: string,
  severity: Severity,
  {
    fromName,
    uncounted,
    unresolved,
    version
  }: Pick<Findings, "fromName" | "version"> & {
    readonly unresolved: UnresolvedRun | undefined
    readonly uncounted: Readiness["notCounted"][number] | undefined
  },
  { productSlug, workspaceUrl }: Pages
): Reason => ({
  kind: "run_missing",
  severity,
  subject: {
    type: "coverage",
    id: coverage,
    label: coverage,
    url: `${workspaceUrl}/test-runs?product=${encodeURIComponent(productSlug)}${commitFilter(version)}`
  },
  message:
    version === null
      ? `No version is known, so that no run with the coverage ${coverage} has tested it.`
      : `No run of ${version} with the whole coverage ${coverage} has finished in ${fromName ?? "another environment"}${unresolvedText(unresolved)}.${unresolved !== undefined ? "" : ` ${uncounted === undefined ? whoseRuns : uncountedText(uncounted)}`}`
})

/** What is forgotten most easily. */
export const whoseRuns =
  "A run is of the version that the deployment had when the run began, not of its commit: record the version first, with delivery deployments set-version."

const unresolvedText = (run: UnresolvedRun | undefined): string => {
  if (run === undefined) return ""
  return run.state === "running" ? `: run ${run.number} is still running` : `: run ${run.number} was interrupted`
}

const runFailed = (about: AboutRun, severity: Severity): Reason => {
  const { failures, runningRetry } = about.run
  const named = failures.titles.map(shownName)
  const others = failures.count - named.length
  const names =
    others > 0 ? `: ${named.join(", ")} and ${others} more` : named.length > 0 ? `: ${named.join(" and ")}` : ""
  const next = runningRetry === null ? `. ${nextStep(about.run)}` : `; retry ${runningRetry} is running.`
  return aboutRun(about, "run_failed", severity, `${failureOf(about.run)}${names}${next}`)
}

/** Why it failed, where not by a test. */
const failureOf = ({ error, failures, gateResult, retriedBefore }: FoundRun): string => {
  if (gateResult === "passed") {
    return retriedBefore
      ? "failed; its retry passed, but by the times of its tests it ran before the run"
      : "failed; its retry passed on another release or address, or with uncommitted changes"
  }
  if (error === null || failures.count > 0) return "failed"
  return `failed outside of its tests: ${error.split(/[\r\n]/, 1)[0]!.replace(/[.\s]+$/, "")}`
}

const nextStep = ({ coverage, failures: { count }, gateResult, retriedBefore }: FoundRun): string => {
  const again = `Run all of ${coverage} again`
  if (gateResult === "passed" && !retriedBefore) return `${again} against the deployment, from a commit.`
  return count === 0 || gateResult === "passed"
    ? `${again}.`
    : `${again} once ${count === 1 ? "it passes" : "they pass"}, or mute ${count === 1 ? "it" : "them"} with a ticket and run it again.`
}

const ticketSubject = (
  { id, identifier, title }: NonNullable<OverdueMute["ticket"]>,
  { workspaceUrl }: Pages
): ReasonSubject => ({
  type: "ticket",
  id,
  label: `${identifier} ${title}`,
  url: `${workspaceUrl}/tickets/${identifier}`
})

const muteReasons = ({ mutes, names }: Findings, pages: Pages): ReadonlyArray<Unweighed> =>
  mutes
    .toSorted((a, b) => compare(a.caseId, b.caseId))
    .map(({ caseId, ticket, until }) => ({
      subject: ticket && ticketSubject(ticket, pages),
      message: `${nameOf(names.get(caseId)?.title, caseId)} was muted until ${momentOf(until, Math.floor)}${ticket === null ? ", and counts again." : ` by ${ticket.identifier}, and counts again: mute it anew, or complete or cancel ${ticket.identifier}.`}`
    }))

/** In quotes where it is a title: those are sentences of their own. */
const nameOf = (title: string | undefined, caseId: string): string => (title === undefined ? caseId : `“${title}”`)

/** Of all that the caller does not see there is one reason, which does not tell how many they are. */
const ticketReasons = ({ tickets }: Findings, pages: Pages): ReadonlyArray<Unweighed> => [
  ...tickets
    .filter(({ isSeen }) => isSeen)
    .toSorted((a, b) => compare(a.teamKey, b.teamKey) || a.number - b.number)
    .map(({ id, number, teamKey, title }) => {
      const identifier = ticketIdentifier(teamKey, number)
      return {
        subject: ticketSubject({ id, identifier, title }, pages),
        message: `${identifier} is open and blocks: ${title}`
      }
    }),
  ...(tickets.every(({ isSeen }) => isSeen)
    ? []
    : [{ subject: null, message: "A ticket that you do not see is open and blocks." }])
]

const secretSubject = (
  { id, name }: { readonly id: string | null; readonly name: string },
  { productSlug, workspaceUrl }: Pages
): ReasonSubject => ({
  type: "secret",
  id: id ?? name,
  label: name,
  url: id === null ? null : `${workspaceUrl}/products/${productSlug}/secrets/${encodeURIComponent(name)}`
})

const missingReasons = ({ fromName, missing }: Findings, pages: Pages): ReadonlyArray<Unweighed> =>
  missing.map((secret) => ({
    subject: secretSubject(secret, pages),
    message: `${secret.name} has a value in ${fromName ?? secret.beside}, and none here.`
  }))

const driftReasons = ({ changed }: Findings, pages: Pages): ReadonlyArray<Unweighed> =>
  changed.map((secret) => ({ subject: secretSubject(secret, pages), message: driftMessage(secret) }))

const driftMessage = ({ loaded, name, version }: ChangedSecret): string => {
  if (loaded === null)
    return `${name} was set since the product loaded its secrets: it does not have version ${version}.`
  return version === 0
    ? `${name} was deleted since the product loaded version ${loaded} of it.`
    : `${name} changed since the product loaded it: it has version ${loaded}, now there is version ${version}.`
}

/** Windows that overlap, or follow each other, are one time in which nothing goes out: each of those that are now gives its end. */
const freezeReasons = ({ freezes }: ReadinessPolicy, { at }: Findings, pages: Pages): ReadonlyArray<Unweighed> => {
  const inTime = freezes.toSorted((a, b) => compare(a.from, b.from) || compare(a.to, b.to))
  const current = inTime.filter(({ from, to }) => from <= at && at < to)
  let end = at
  const later: Array<string> = []
  for (const { from, reason, to } of inTime) {
    if (from > end || to <= at) continue
    if (from > at) later.push(`, then ${reason}`)
    if (to > end) end = to
  }
  return current.map(({ from, reason, to }) => ({
    subject: {
      type: "freeze",
      id: `${from}/${to}`,
      label: reason,
      url: `${pages.workspaceUrl}/deployments/${pages.productSlug}/${pages.environmentSlug}?view=readiness#policy`
    },
    message: `Nothing goes out before ${momentOf(end)}: ${reason}${later.join("")}`
  }))
}
