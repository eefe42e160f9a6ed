import { Conflict, NotFound } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import { type EvidenceRun, shownEvidence, type TicketEvidence } from "@delivery/domain/flow/Evidence"
import { whatCounts } from "@delivery/domain/flow/EvidenceWords"
import { shownName } from "@delivery/domain/flow/ShownName"
import type { TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect } from "effect"
import { type Access, anyRole } from "../access/Access.ts"
import type { Audit } from "../audit/Audit.ts"
import { checkHolding, isHolding, lettingGo, personsOnly } from "../planning/TicketRules.ts"
import type { TicketsOf } from "../planning/TicketGuards.ts"
import { identifierOf } from "../planning/TicketRefs.ts"
import { ownerRefOf } from "../planning/TicketOwners.ts"
import type { OwnerRef, TicketDetails, TicketsRepo } from "../planning/TicketsRepo.ts"
import { viewerOf } from "../planning/Viewer.ts"
import { isKnownCommit, isSameCommit } from "../runs/TestRunState.ts"
import type { EvidenceRepo, EvidenceResult, HeldTicket } from "./EvidenceRepo.ts"
import { changedTests, line, withNames } from "./NamedTests.ts"

/** What proves that the tests of a ticket pass again, before it is completed (docs/contract.md, Evidence). */

export interface Dependencies {
  readonly repo: EvidenceRepo["Service"]
  readonly tickets: TicketsRepo["Service"]
  readonly audit: Audit["Service"]
}

type EvidenceCase = TicketEvidence["cases"][number]

type Missing = NonNullable<Conflict["missing"]>

/**
 * Refuses a ticket that enters a completed status without the evidence that it needs, unless a person overrides that. Answers what else
 * the ticket is told to have changed: why it was.
 */
export const checkEvidence = (dependencies: Dependencies) => {
  const { audit } = dependencies
  const find = missingOf(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    change: {
      readonly before: TicketDetails | undefined
      readonly after: TicketDetails
      readonly override: string | undefined
    }
  ) {
    const { after, before, override } = change
    const subject = subjectOf(after)
    if (before?.completion === "evidence") {
      const letGo = isHolding(before) ? lettingGo(before, after) : []
      const isWaived = after.completion === "free" || letGo.length > 0
      const changes = [...evidenceChanges(before, after), ...letGo]
      const action = isWaived ? "evidence_waived" : "evidence_changed"
      if (changes.length > 0) yield* audit.record(by, { action, subject, changes })
    }
    if (after.status.category !== "completed" || after.completion !== "evidence") return []
    const missing = yield* find(by, newlyAsked(before, after))
    if (missing.length === 0) return []
    if (override === undefined) return yield* evidenceMissing(missing, before === undefined)
    const changes = [{ field: "override", from: null, to: override }]
    yield* audit.record(by, { action: "evidence_overridden", subject, changes })
    return changes
  })
}

/** One that is completed already proves its tests by that, as often as it asked: others of it are asked for. */
const newlyAsked = (before: TicketDetails | undefined, after: TicketDetails): TicketDetails => {
  const wasAsked = before?.status.category === "completed" && before.completion === "evidence"
  const [were, are] = [before?.cases, after.cases]
  if (!wasAsked || are === null || were?.productId !== are.productId || before.passes < after.passes) return after
  const proven = new Set(were.caseIds)
  return { ...after, cases: { ...are, caseIds: are.caseIds.filter((caseId) => !proven.has(caseId)) } }
}

/** Its tests, with when those were asked for that are new to a ticket which was completed before. */
export const withAskedAt = (before: TicketDetails | undefined, after: TicketDetails): TicketDetails["cases"] => {
  if (after.cases === null) return null
  const { askedAt: _, ...cases } = after.cases
  const isCompleted = (ticket: TicketDetails | undefined) => ticket?.status.category === "completed"
  if (!isCompleted(before) || !isCompleted(after) || after.completion === "free") return cases
  const asked = newlyAsked(before, after).cases?.caseIds ?? []
  const askedAt = {
    ...before?.cases?.askedAt,
    ...Object.fromEntries(asked.map((caseId) => [caseId, after.updatedAt]))
  }
  const kept = Object.entries(askedAt).filter(([caseId]) => cases.caseIds.includes(caseId))
  return kept.length === 0 ? cases : { ...cases, askedAt: Object.fromEntries(kept) }
}

/** The ticket in an entry of the audit. */
const subjectOf = (ticket: HeldTicket) => ({
  type: "ticket",
  id: ticket.id,
  label: `${identifierOf(ticket)} ${ticket.title}`
})

/** Tells the audit that a ticket is deleted that waits for evidence. */
export const tellDeleting =
  ({ audit }: Pick<Dependencies, "audit">) =>
  (by: Access, ticket: TicketDetails): Effect.Effect<void> => {
    const subject = subjectOf(ticket)
    const changes = [{ field: "ticket", from: identifierOf(ticket), to: null }]
    return isHolding(ticket) ? audit.record(by, { action: "evidence_waived", subject, changes }) : Effect.void
  }

/** What evidence is asked for, before and after. The names of tests that are left out are told, as many as an entry holds. */
const evidenceChanges = (before: TicketDetails, after: TicketDetails) => {
  const { added, gone } = changedTests(before.cases?.caseIds ?? [], after.cases?.caseIds ?? [])
  return [
    { field: "completion", from: before.completion, to: after.completion },
    { field: "passes", from: String(before.passes), to: String(after.passes) },
    // The same ids are other tests of another product.
    ...(before.cases !== null && after.cases !== null && before.cases.productId !== after.cases.productId
      ? [{ field: "product", from: before.cases.product, to: after.cases.product }]
      : []),
    { field: "cases", from: named(gone), to: named(added) }
  ].filter(({ from, to }) => from !== to)
}

const named = (caseIds: ReadonlyArray<string>): string | null =>
  caseIds.length === 0 ? null : withNames(`${caseIds.length}: `, caseIds)

/** Refuses to move all tickets of a status where one needs evidence, and may not be completed or let go so. What is let go is told. */
export const checkMoving = (dependencies: Dependencies) => {
  const { repo, tickets } = dependencies
  const check = checkEvidence(dependencies)
  return Effect.fnUntraced(function* (by: Access, status: TicketStatusId, target: TicketDetails["status"]) {
    for (const id of yield* repo.needing(status)) {
      const before = yield* tickets.find(everything(by.workspace.id), id)
      if (before === undefined) continue
      const after = { ...before, status: target }
      yield* checkHolding(by, before, after)
      yield* check(by, { before, after, override: undefined })
    }
  })
}

/** Lets people alone take all tickets of a project or a team that need evidence from what they block. Each is told. */
export const releaseAll = ({ audit, repo, tickets }: Dependencies) =>
  Effect.fnUntraced(function* (by: Access, from: TicketsOf, change: Change) {
    const found = yield* repo.holding(by.workspace.id, from)
    const held = found.toSorted((a, b) => compare(a.team.key, b.team.key) || a.number - b.number)
    if (held.length > 0 && by.principal.kind !== "user") {
      const seen: Array<string> = []
      for (const ticket of held) {
        if (seen.length === namedHeld) break
        if ((yield* tickets.find(viewerOf(by), ticket.id)) !== undefined) seen.push(identifierOf(ticket))
      }
      return yield* personsOnly(releasingText(seen, change))
    }
    for (const ticket of held) {
      yield* audit.record(by, { action: "evidence_waived", subject: subjectOf(ticket), changes: [change] })
    }
  })

/** How many tickets such a refusal names. */
const namedHeld = 3

/** Which tickets, as far as the caller sees them, keep it from what is no person, and what a person does. */
const releasingText = (seen: ReadonlyArray<string>, { field, from }: Change): string => {
  const [one, ...others] = seen
  const [which, those] =
    one === undefined
      ? ["A ticket that you do not see needs evidence and blocks", "it"]
      : others.length === 0
        ? [`${one} needs evidence and blocks`, one]
        : [`${seen.join(", ")} need evidence and block`, "them"]
  const what = field === "products" ? "unlinks the product" : `archives the ${field} ${line(from ?? "")}`
  return `${which}: a person ${what}, or completes or cancels ${those} first. Agents and account keys do neither.`
}

const everything = (workspaceId: WorkspaceId) => ({ workspaceId, seesPrivateTeams: true, personId: null })

/** The cases of the ticket of which passes are missing, in their order. */
const missingOf = (dependencies: Pick<Dependencies, "repo">) => {
  const find = evidenceOf(dependencies)
  return Effect.fnUntraced(function* (by: Access, ticket: TicketDetails) {
    return (yield* find(by, ticket)).flatMap(
      ({ caseId, environment, failed, needed, passed, runs, title }): ReadonlyArray<Missing[number]> =>
        passed < needed
          ? [
              {
                caseId,
                passed,
                needed,
                environment,
                notCounted: notCountedOf(runs),
                ...(failed === undefined
                  ? {}
                  : { failed: { run: failed.number, environment: failed.environment, commit: failed.commit } }),
                ...(title === null ? { seen: false } : {})
              }
            ]
          : []
    )
  })
}

/** The newest run that does not count, and why. */
const notCountedOf = (runs: FoundEvidence["runs"]): Missing[number]["notCounted"] => {
  for (const { excluded, key, result } of runs) {
    if (excluded !== null) return { run: result.number, reason: excluded, ...(key === null ? {} : { key }) }
  }
  return null
}

/** What there is for each case of the ticket, in their order. */
const evidenceOf = ({ repo }: Pick<Dependencies, "repo">) => {
  const completing = completingOf(repo)
  return Effect.fnUntraced(function* (by: Access, { cases, createdAt, owner, passes, pastOwners }: TicketDetails) {
    if (cases === null) return []
    const results = yield* repo.results(by.workspace.id, cases.productId, cases.caseIds)
    const byCase = Map.groupBy(results, ({ caseId }) => caseId)
    const present: ReadonlyArray<OwnerRef> = [
      ...(owner === null ? [] : [ownerRefOf(owner)]),
      ...(yield* completing(by.actor, createdAt))
    ]
    const everOwners = new Set(yield* repo.personsOf([...present, ...(pastOwners ?? [])]))
    const found: Array<FoundEvidence> = []
    for (const caseId of cases.caseIds) {
      const inCase = byCase.get(caseId) ?? []
      const { failures, foreign } = failuresOf(inCase, everOwners, createdAt)
      const owners = (pastOwners ?? []).filter(({ until }) => foreign === undefined || until > foreign.finishedAt)
      const persons = new Set(yield* repo.personsOf([...present, ...owners]))
      const places = placesOf(failures).map((place) => {
        const runs = inCase
          .filter((one) => !hasFailed(one) && (place.failed === undefined || later(place.failed, one) === one))
          .map((result) => {
            const excluded = exclusionOf(result, place, persons, createdAt)
            // Of a key alone the owner is not told by who published the run.
            return { result, excluded, key: excluded === "of_owner" ? result.keyName : null }
          })
          .concat(retriedOf(place))
        return { ...place, runs, passed: runs.filter(({ excluded }) => excluded === null).length }
      })
      const { environment, failed, passed, runs } = places.find((place) => place.passed < passes) ?? places[0]!
      found.push({ caseId, title: inCase[0]?.title ?? null, environment, failed, runs, passed, needed: passes })
    }
    return found
  })
}

/** Who completes a ticket has an interest in the outcome, whether or not they own it: so has who made a key for that. */
const completingOf = (repo: EvidenceRepo["Service"]) => (actor: Access["actor"], madeAt: Timestamp) =>
  actor.kind === "user" || actor.kind === "agent"
    ? Effect.succeed<ReadonlyArray<OwnerRef>>([actor])
    : actor.kind === "apiKey"
      ? Effect.map(repo.makersOf(actor.id, madeAt), (makers) => makers.map((id): OwnerRef => ({ kind: "user", id })))
      : Effect.succeed<ReadonlyArray<OwnerRef>>([])

/** The run that failed last, where it is flaky by now: only a retry makes it so, and a team sees a run that has passed. */
const retriedOf = ({ failed }: Place): FoundEvidence["runs"] =>
  failed?.status === "flaky" ? [{ result: failed, excluded: "retry", key: null }] : []

/**
 * The failures that have to be undone: none that somebody tried on their machine, nor of an owner in an environment where nobody else saw
 * it fail, where there are others. The newest that no owner published, nor a key of theirs, does not make them a stranger to it.
 */
const failuresOf = (results: ReadonlyArray<EvidenceResult>, everOwners: ReadonlySet<string>, madeAt: Timestamp) => {
  const all = results.filter(hasFailed)
  // What failed at an address that the deployment has left was of the deployment, too.
  const deployed = all.filter(({ dirty, wasOfDeployment }) => wasOfDeployment && !dirty)
  const ofOthers = deployed.filter((result) => !isBy(result, everOwners, madeAt))
  const places = new Set(ofOthers.map(({ environment }) => environment))
  const whereOthers = deployed.filter(({ environment }) => places.has(environment))
  return { failures: [whereOthers, deployed].find(({ length }) => length > 0) ?? all, foreign: ofOthers[0] }
}

/** Where a test has to pass again, after which failure, and of which commits it has failed there. */
interface Place {
  /** Null where each environment counts. */
  readonly environment: string | null
  readonly failed: EvidenceResult | undefined
  readonly commits: ReadonlyArray<string>
}

/** Each environment in which it failed, but archived ones; the one where it failed last first. */
const placesOf = (failures: ReadonlyArray<EvidenceResult>): ReadonlyArray<Place> => {
  const inPlace = Map.groupBy(
    failures.filter(({ isActive }) => isActive),
    ({ environment }) => environment
  )
  const place = (environment: string | null, those: ReadonlyArray<EvidenceResult>): Place => ({
    environment,
    failed: those.reduce<EvidenceResult | undefined>(later, undefined),
    commits: those.map(({ commit }) => commit)
  })
  return inPlace.size === 0
    ? [place(null, failures)]
    : [...inPlace]
        .map(([environment, those]) => place(environment, those))
        .toSorted((a, b) => (later(a.failed, b.failed!) === b.failed ? 1 : -1))
}

/** A flaky test failed, too: retries of a run that failed do not undo that. */
const hasFailed = ({ status }: EvidenceResult): boolean => status === "failed" || status === "flaky"

/** The one of two results that ended later: runs end in another order than they begin. */
const later = (one: EvidenceResult | undefined, other: EvidenceResult): EvidenceResult =>
  one === undefined || (compare(one.finishedAt, other.finishedAt) || one.number - other.number) < 0 ? other : one

/** Whether one of the persons published it, or an agent of theirs, or a key that they have made since the ticket: one before may be that of a CI. */
const isBy = (
  { keyMadeAt, keyMaker, personId }: EvidenceResult,
  persons: ReadonlySet<string>,
  madeAt: Timestamp
): boolean =>
  (personId !== null && persons.has(personId)) ||
  (keyMaker !== null && persons.has(keyMaker) && keyMadeAt !== null && keyMadeAt > madeAt)

/** Results may be published long after the tests ran: those of a file that a job has left behind prove nothing of what failed since. */
const ranBefore = ({ startedAt }: EvidenceResult, failed: EvidenceResult | undefined): boolean =>
  startedAt !== null && failed?.startedAt != null && startedAt < failed.startedAt

interface FoundEvidence extends Omit<EvidenceCase, "failed" | "runs"> {
  readonly failed: EvidenceResult | undefined
  readonly runs: ReadonlyArray<Pick<EvidenceRun, "excluded" | "key"> & { readonly result: EvidenceResult }>
}

/**
 * Why a result after the last failure is no evidence: only that of a commit that never failed there is, where it failed, published by none
 * of these persons.
 */
const exclusionOf = (
  result: EvidenceResult,
  { commits, environment, failed }: Place,
  persons: ReadonlySet<string>,
  madeAt: Timestamp
): EvidenceRun["excluded"] => {
  if (!result.isOfDeployment) return "other_address"
  if (environment !== null && result.environment !== environment) return "other_environment"
  if (result.deploymentChanged) return "deployment_changed"
  if (ranBefore(result, failed)) return "ran_before"
  if (!isKnownCommit(result.commit)) return "unknown_commit"
  if (commits.some((commit) => isSameCommit(result.commit, commit))) return "same_commit"
  if (result.dirty) return "uncommitted_changes"
  return isBy(result, persons, madeAt) ? "of_owner" : null
}

/** What there is, as the API answers it. */
export const readEvidence = (dependencies: Pick<Dependencies, "repo" | "tickets">) => {
  const find = evidenceOf(dependencies)
  return Effect.fn("Evidence.get")(function* (ref: string) {
    const by = yield* anyRole
    const ticket = yield* dependencies.tickets.find(viewerOf(by), ref)
    if (ticket === undefined) return yield* NotFound.of("ticket", ref)
    const cases = (yield* find(by, ticket)).map(({ failed, runs, ...one }): EvidenceCase => ({
      ...one,
      failed: failed === undefined ? null : placeOf(failed),
      runs: runs.slice(0, shownEvidence).map(({ excluded, key, result }) => ({ ...placeOf(result), excluded, key }))
    }))
    const complete = cases.length > 0 && cases.every(({ needed, passed }) => passed >= needed)
    const answer: TicketEvidence = { product: ticket.cases?.product ?? null, complete, cases }
    return answer
  })
}

const placeOf = ({ branch, commit, environment, finishedAt, number }: EvidenceResult) => ({
  run: number,
  environment,
  branch,
  commit,
  at: finishedAt
})

/** How many keys a refusal names. */
const namedKeys = 3

/** A CI whose key was made anew by an owner proves nothing: nobody sees that by its runs. */
const keysText = (missing: Missing): string => {
  const keys = [...new Set(missing.flatMap(({ notCounted }) => notCounted?.key ?? []))].slice(0, namedKeys)
  return keys
    .map((key) => ` The key ${line(key)} is newer than the ticket, and one of them made it: its runs do not count.`)
    .join("")
}

/** How many retried runs a refusal names. */
const namedRetries = 3

const retriesText = (missing: Missing): string => {
  const retried = missing.flatMap(({ notCounted }) => (notCounted?.reason === "retry" ? [notCounted.run] : []))
  return [...new Set(retried)]
    .slice(0, namedRetries)
    .map((run) => ` Run ${run} passed in a retry alone, which does not undo its failure: publish a new run.`)
    .join("")
}

/** How many runs a refusal names in which tests failed last. */
const namedFailures = 3

const failuresText = (missing: Missing): string => {
  const failed = new Map(missing.flatMap(({ failed }) => (failed === undefined ? [] : [[failed.run, failed] as const])))
  const named = [...failed.values()]
    .slice(0, namedFailures)
    .map(({ commit, environment, run }) => `run ${run} (${environment}, commit ${line(commit.slice(0, 12))})`)
  const more = failed.size - named.length
  return named.length === 0
    ? ""
    : ` ${whichFailed(missing)} failed last in ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`
}

/** Which of them failed: the others may never have run. */
const whichFailed = (missing: Missing): string => {
  const count = missing.filter(({ failed }) => failed !== undefined).length
  return count < missing.length ? `${count} of them` : count === 1 ? "It" : "They"
}

/** How many tests a refusal names that nobody has seen. */
const namedUnseen = 5

const unseenText = (missing: Missing): string => {
  const unseen = missing.flatMap(({ caseId, seen }) => (seen === false ? [line(shownName(caseId))] : []))
  const more = unseen.length - namedUnseen
  return unseen.length === 0
    ? ""
    : ` No run that is kept has ever run ${unseen.slice(0, namedUnseen).join(", ")}${more > 0 ? ` and ${more} more` : ""}: look whether that is the id of a test.`
}

const evidenceMissing = (missing: Missing, isNew: boolean) =>
  Effect.fail(
    new Conflict({
      message: `The ticket is completed only with evidence: ${missing.length} of its tests ${missing.length === 1 ? "has" : "have"} not passed again in enough runs that count.${failuresText(missing)} ${whatCounts}${keysText(missing)}${retriesText(missing)}${unseenText(missing)} ${isNew ? "Create it open: a person may complete it then" : "A person may complete it"} all the same, with a reason (\`override\`).`,
      reason: "evidence_missing",
      missing
    })
  )
