import { beginOf, begunBy, isCommit, isShort, spellingsOf } from "@delivery/domain/catalog/WholeVersion"
import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Drift } from "@delivery/domain/flow/Drift"
import type { Readiness as Answer } from "@delivery/domain/flow/Readiness"
import { freezeChanges, type FreezeWindow } from "@delivery/domain/flow/FreezeChanges"
import { defaultPolicy, type ReadinessPolicy, type SetReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import type { Change } from "@delivery/domain/events/Event"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { archived, deployedPair, isActive } from "../catalog/Deployments.ts"
import {
  type DeployablePair,
  type DeployedPair,
  type DeploymentRow,
  DeploymentsRepo
} from "../catalog/DeploymentsRepo.ts"
import { type EnvironmentRow, EnvironmentsRepo } from "../catalog/EnvironmentsRepo.ts"
import { ProductsRepo } from "../catalog/ProductsRepo.ts"
import { Settings } from "../Config.ts"
import { LoadsRepo } from "../deploy/LoadsRepo.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { changesBetween } from "../events/Events.ts"
import { type Viewer, viewerOf } from "../planning/Viewer.ts"
import { CasesRepo } from "../runs/cases/CasesRepo.ts"
import { RunMutes } from "../runs/RunMutes.ts"
import { Storage } from "../storage/Storage.ts"
import { changedSecrets, type Identified, missingSecrets } from "./Drifting.ts"
import { hasPassed, isDropped, notCountedOf, pendingOf } from "./DecidingRuns.ts"
import { MutesRepo } from "./MutesRepo.ts"
import { OverdueMutes } from "./OverdueMutes.ts"
import { changesAtOf, type Findings, reasonsOf } from "./ReadinessReasons.ts"
import { type AskedRuns, type Place, type PolicyRow, ReadinessRepo } from "./ReadinessRepo.ts"

/** Whether a version may go out to a deployment (docs/contract.md, Readiness). */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** Of the version, or of the one that would go out. */
    readonly get: (
      product: string,
      environment: string,
      version: string | undefined
    ) => Effect.Effect<Answer, NotFound | Conflict, Caller>
    readonly policy: (product: string, environment: string) => Effect.Effect<ReadinessPolicy, NotFound, Caller>
    readonly setPolicy: (
      product: string,
      environment: string,
      input: SetReadinessPolicy
    ) => Effect.Effect<ReadinessPolicy, InvalidInput | Forbidden | NotFound | Conflict, Caller>
    /** Beside an environment, by slug or id; by default the one of the policy. */
    readonly drift: (
      product: string,
      environment: string,
      beside: string | undefined
    ) => Effect.Effect<Drift, InvalidInput | NotFound, Caller>
  }
>()("@delivery/server/flow/Readiness") {
  static readonly layer = Layer.effect(Readiness, Effect.gen(make))
}

interface Dependencies {
  readonly repo: ReadinessRepo["Service"]
  readonly mutes: OverdueMutes["Service"]
  readonly muting: MutesRepo["Service"]
  readonly runMutes: RunMutes["Service"]
  readonly cases: CasesRepo["Service"]
  readonly loads: LoadsRepo["Service"]
  readonly deployments: DeploymentsRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly environments: EnvironmentsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
  readonly baseUrl: string
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* ReadinessRepo,
    mutes: yield* OverdueMutes,
    muting: yield* MutesRepo,
    runMutes: yield* RunMutes,
    cases: yield* CasesRepo,
    loads: yield* LoadsRepo,
    deployments: yield* DeploymentsRepo,
    products: yield* ProductsRepo,
    environments: yield* EnvironmentsRepo,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    baseUrl: (yield* Settings).baseUrl
  }
  return Readiness.of({
    get: get(dependencies),
    policy: policy(dependencies),
    setPolicy: setPolicy(dependencies),
    drift: drift(dependencies)
  })
}

const now = Effect.map(Clock.currentTimeMillis, timestamp)

const placeOf = (
  { workspace }: { readonly workspace: { readonly id: WorkspaceId } },
  { environment, product }: DeployablePair
): Place => ({
  workspaceId: workspace.id,
  productId: product.id,
  environmentId: environment.id
})

type Source = Pick<EnvironmentRow, "id" | "slug" | "name" | "archivedAt">

/** The policy of a place, and the environment that its versions come from. */
export const policyOf = ({ environments, repo }: Pick<Dependencies, "environments" | "repo">) =>
  Effect.fnUntraced(function* (place: Place) {
    const row = yield* repo.policy(place)
    const from: Source | undefined =
      row === undefined || row.fromId === null ? undefined : yield* environments.find(place.workspaceId, row.fromId)
    return { policy: presentPolicy(row, from), from }
  })

const presentPolicy = (row: Omit<PolicyRow, keyof Place> | undefined, from: Source | undefined): ReadinessPolicy =>
  row === undefined
    ? defaultPolicy
    : {
        from: from?.slug ?? null,
        requires: row.requires,
        tickets: row.tickets,
        secrets: row.secrets,
        drift: row.drift,
        mutes: row.mutes,
        freezes: row.freezes
      }

const get = (dependencies: Dependencies) => {
  const { baseUrl, deployments, storage } = dependencies
  const find = findingsOf(dependencies)
  const decided = decidedBy(dependencies)
  const findPolicy = policyOf(dependencies)
  return Effect.fn("Readiness.get")(function* (product: string, environment: string, asked: string | undefined) {
    const access = yield* anyRole
    const pair = yield* deployedPair(deployments, access.workspace.id, product, environment)
    if (!isActive(pair)) return yield* archived(pair)
    const at = yield* now
    const { found, policy } = yield* storage.snapshot(
      Effect.flatMap(findPolicy(placeOf(access, pair)), ({ from, policy }) =>
        Effect.map(find(viewerOf(access), pair, { asked, at, from, policy }), (found) => ({ found, policy }))
      )
    )
    const reasons = reasonsOf(policy, found, {
      workspaceUrl: `${baseUrl}/w/${access.workspace.slug}`,
      productSlug: pair.product.slug,
      environmentSlug: pair.environment.slug
    })
    return {
      ready: reasons.every(({ severity }) => severity !== "block"),
      version: found.version,
      at,
      changesAt: changesAtOf(policy, found),
      requires: policy.requires.map(({ coverage }) => coverage),
      reasons,
      runs: yield* decided(access, policy, found),
      notCounted: found.notCounted
    }
  })
}

/** The runs that decide, with what they rest on. */
const decidedBy = ({ runMutes }: Dependencies) =>
  Effect.fnUntraced(function* (access: Access, { requires }: ReadinessPolicy, { runs, unresolved }: Findings) {
    const tickets = new Map(
      (yield* runMutes.shown(
        access,
        runs.flatMap(({ mutedFailures }) => mutedFailures.tests)
      )).map(({ caseId, ticket }) => [caseId, ticket])
    )
    return requires.flatMap(({ coverage }) =>
      runs
        .filter((run) => run.coverage === coverage)
        .map(
          ({
            counts,
            environment,
            finishedAt,
            gateResult,
            git,
            mutedFailures,
            number,
            result,
            retriedElsewhere,
            runningRetry
          }) => ({
            coverage,
            run: number,
            environment: environment.slug,
            // What a retry has passed on another release or address, or with uncommitted changes decides nothing here.
            result: retriedElsewhere ? ("failed" as const) : result,
            gateResult: retriedElsewhere ? ("failed" as const) : gateResult,
            git,
            counts,
            mutedFailures: {
              count: mutedFailures.count,
              tests: mutedFailures.tests.map(({ caseId, title }) => ({
                caseId,
                title,
                ticket: tickets.get(caseId) ?? null
              }))
            },
            runningRetry,
            newer: pendingOf(
              { number },
              unresolved.find((one) => one.coverage === coverage)
            ),
            finishedAt
          })
        )
    )
  })

/** All that the policy asks for. In a snapshot. */
export const findingsOf = (
  dependencies: Pick<Dependencies, "cases" | "deployments" | "loads" | "mutes" | "muting" | "repo" | "runMutes">
) => {
  const { cases, deployments, mutes, repo } = dependencies
  const compareSecrets = secretsOf(dependencies)
  const name = versionOf(dependencies)
  const writtenAs = spellings(dependencies)
  const findLeftOut = leftOutOf(dependencies)
  return Effect.fnUntraced(function* (
    viewer: Viewer,
    pair: DeployablePair,
    {
      asked,
      at,
      from,
      policy
    }: Pick<Findings, "at"> & {
      readonly asked: string | undefined
      readonly from: Source | undefined
      readonly policy: ReadinessPolicy
    }
  ) {
    const place = placeOf({ workspace: { id: viewer.workspaceId } }, pair)
    const coming = from && (yield* deployments.target(place.workspaceId, place.productId, from.id)).deployment
    const here = pair.deployment?.version ?? null
    const { begun, isExact, version } = yield* name(place, asked ?? coming?.version ?? here, [coming?.version, here])
    const versions = version === null ? [] : yield* writtenAs(place, version)
    const coverages = policy.requires.map(({ coverage }) => coverage)
    const looksAtMutes = policy.mutes !== "off" || coverages.length > 0
    const isLooking = policy.drift !== "off" || (policy.secrets !== "off" && from !== undefined)
    const { changed, missing } = isLooking ? yield* compareSecrets(pair, place, from) : { changed: [], missing: [] }
    const runs =
      version !== null && coverages.length > 0 ? { ...place, versions, coverages, fromId: from?.id ?? null } : undefined
    const late = policy.mutes === "off" ? [] : yield* mutes.find(viewer, place.productId, at)
    const lateIds = late.map(({ caseId }) => caseId)
    const deciding = runs === undefined ? [] : yield* repo.runs(runs, at)
    const passed = deciding.filter(hasPassed).map(({ id }) => id)
    const isPassed = runs !== undefined && passed.length > 0
    const leftOut = isPassed ? yield* findLeftOut(viewer, runs, passed) : []
    const found: Findings = {
      version,
      isKnown: isExact || begun.length === 1 || versions.length > 1,
      isAmbiguous: begun.length > 1,
      at,
      runs: deciding,
      leftOut,
      fewer: isPassed ? yield* repo.fewer(runs, passed) : [],
      notCounted:
        runs === undefined
          ? []
          : notCountedOf(coverages, {
              runs: deciding,
              leftOut,
              elsewhere: yield* repo.elsewhere(runs),
              uncounted: yield* repo.uncounted(runs)
            }),
      unresolved: runs === undefined ? [] : yield* repo.unresolved(runs, at),
      mutes: late,
      names: lateIds.length === 0 ? new Map() : yield* cases.names(place, lateIds),
      nextMuteEnd: looksAtMutes ? yield* mutes.nextEnd(viewer, place.productId, at) : null,
      tickets: policy.tickets === "off" ? [] : yield* repo.blockingTickets(viewer, place.productId),
      missing,
      changed,
      fromName: from?.name ?? null,
      ...(asked === undefined
        ? { withoutVersion: withoutVersion(pair, from, coming), goneSource: undefined }
        : { withoutVersion: undefined, goneSource: goneSource(from, coming) })
    }
    return found
  })
}

/**
 * The failed tests that what decides left out, with what mutes them now: once a mute has ended, what failed while it lasted has failed. What
 * failed in another version, and has been settled by people since, is not told.
 */
const leftOutOf = ({ muting, repo, runMutes }: Pick<Dependencies, "muting" | "repo" | "runMutes">) =>
  Effect.fnUntraced(function* (viewer: Viewer, asked: AskedRuns, passed: ReadonlyArray<TestRunId>) {
    const found = yield* repo.leftOut(asked, passed)
    if (found.length === 0) return []
    const ids = new Set(found.map(({ caseId }) => caseId))
    const mutes = (yield* runMutes.ofProduct(asked.workspaceId, asked.productId)).filter(({ caseId }) =>
      ids.has(caseId)
    )
    const tickets = new Map(mutes.map(({ caseId, ticketId }) => [caseId, ticketId]))
    const seen = yield* muting.identifiers(viewer, [...new Set(tickets.values())])
    const told = found.map((one) => {
      const ticket = tickets.get(one.caseId)
      return { ...one, mutedBy: ticket === undefined ? undefined : (seen.get(ticket) ?? null) }
    })
    const dropped = [...new Set(told.filter(isDropped).map(({ caseId }) => caseId))]
    if (dropped.length === 0) return told
    const settled = new Map((yield* repo.settled(asked, dropped)).map(({ at, caseId }) => [caseId, at]))
    return told.filter((one) => {
      const at = settled.get(one.caseId)
      return !isDropped(one) || at === undefined || at <= one.failedAt
    })
  })

/** The version that is meant: where a short id is none itself, the one that begins with it. */
const versionOf = ({ repo }: Pick<Dependencies, "repo">) =>
  Effect.fnUntraced(function* (place: Place, named: string | null, running: ReadonlyArray<string | null | undefined>) {
    const isExact = named === null || running.includes(named) || (yield* repo.isKnown(place, named))
    if (isExact || !isShort(named)) return { version: named, isExact, begun: [] }
    const known = [...(yield* repo.begunBy(place, named)), ...running.filter((one) => typeof one === "string")]
    const begun = begunBy(known, named)
    return { version: begun.length === 1 ? begun[0]! : named, isExact, begun }
  })

/** The version in each way in which a deployment of the product had it. */
const spellings = ({ repo }: Pick<Dependencies, "repo">) =>
  Effect.fnUntraced(function* (place: Place, version: string) {
    return isCommit(version) ? spellingsOf(yield* repo.commits(place, beginOf(version)), version) : [version]
  })

/** Where a version was to be found, if none runs there. */
const withoutVersion = (
  { deployment, environment }: DeployablePair,
  from: Source | undefined,
  coming: Pick<DeploymentRow, "version"> | undefined
): Findings["withoutVersion"] => {
  const [source, there] = from === undefined ? [environment, deployment] : [from, coming]
  if ((there?.version ?? null) !== null && source.archivedAt === null) return undefined
  return { ...sourceOf(source, there), isHere: from === undefined }
}

/** Where versions come from, if nothing is tested there any more: it is archived, or the product is not deployed there. */
const goneSource = (
  from: Source | undefined,
  coming: Pick<DeploymentRow, "version"> | undefined
): Findings["goneSource"] => {
  const source = from && sourceOf(from, coming)
  return source === undefined || (source.isDeployed && !source.isArchived) ? undefined : source
}

const sourceOf = ({ archivedAt, id, name, slug }: Source, there: Pick<DeploymentRow, "version"> | undefined) => ({
  id,
  name,
  slug,
  isDeployed: there !== undefined,
  isArchived: archivedAt !== null
})

/** How the secrets of a deployment differ from those that it has loaded, and from those of another environment. */
const secretsOf = ({ loads, repo }: Pick<Dependencies, "loads" | "repo">) =>
  Effect.fnUntraced(function* ({ deployment }: DeployablePair, place: Place, beside: Source | undefined) {
    const load = deployment === undefined ? undefined : yield* loads.loaded(deployment.id)
    const secrets = yield* repo.secrets(place, beside?.id ?? null, load?.versions ?? {})
    return {
      loadedAt: load?.loadedAt ?? null,
      changed: changedSecrets(load, secrets),
      missing: beside === undefined ? [] : missingSecrets(beside.slug, secrets)
    }
  })

const drift = (dependencies: Dependencies) => {
  const { deployments, environments, storage } = dependencies
  const compareSecrets = secretsOf(dependencies)
  const findPolicy = policyOf(dependencies)
  return Effect.fn("Readiness.drift")(function* (product: string, environment: string, ref: string | undefined) {
    const access = yield* anyRole
    const pair = yield* deployedPair(deployments, access.workspace.id, product, environment)
    const place = placeOf(access, pair)
    const named = ref === undefined ? undefined : yield* environments.find(place.workspaceId, ref)
    if (ref !== undefined && named === undefined) return yield* NotFound.reference("beside", ref, "environment")
    if (named?.id === place.environmentId) return yield* ownEnvironment("beside")
    const found = yield* storage.snapshot(
      Effect.gen(function* () {
        const beside = named ?? (yield* findPolicy(place)).from
        return yield* compareSecrets(pair, place, beside)
      })
    )
    return {
      loadedAt: found.loadedAt,
      changed: found.changed.map(withoutId),
      missing: found.missing.map(withoutId)
    }
  })
}

const withoutId = <A>({ id: _, ...secret }: Identified<A>) => secret

const ownEnvironment = (field: string) =>
  Effect.fail(InvalidInput.at(field, "Expected another environment than that of the deployment."))

const policy = (dependencies: Dependencies) => {
  const { deployments } = dependencies
  const find = policyOf(dependencies)
  return Effect.fn("Readiness.policy")(function* (product: string, environment: string) {
    const access = yield* anyRole
    const pair = yield* deployedPair(deployments, access.workspace.id, product, environment)
    return (yield* find(placeOf(access, pair))).policy
  })
}

const setPolicy = (dependencies: Dependencies) => {
  const { deployments, environments, events, products, repo, storage } = dependencies
  const find = policyOf(dependencies)
  return Effect.fn("Readiness.setPolicy")(function* (product: string, environment: string, input: SetReadinessPolicy) {
    const by = yield* atLeast("admin")
    const changed = Effect.gen(function* () {
      // The lock makes changes of a policy serial, so that each event tells what it changed.
      yield* products.lock(by.workspace.id, product)
      const pair = yield* deployedPair(deployments, by.workspace.id, product, environment)
      const place = placeOf(by, pair)
      const ref = input.from ?? null
      const from = ref === null ? undefined : yield* environments.find(place.workspaceId, ref)
      if (ref !== null && from === undefined) return yield* NotFound.reference("from", ref, "environment")
      if (from?.id === place.environmentId) return yield* ownEnvironment("from")
      if (!isActive(pair)) return yield* archived(pair)
      const row = { ...place, ...settingsOf(input), fromId: from?.id ?? null, updatedAt: yield* now }
      const before = (yield* find(place)).policy
      const after = presentPolicy(row, from)
      const changes = changesOf(before, after)
      // A request that is repeated since its answer was lost finds its own policy.
      if (changes.length === 0) return before
      if (input.expected !== undefined && changesOf(before, input.expected).length > 0) {
        return yield* new Conflict({ message: "Somebody has changed the policy.", reason: "policy_changed" })
      }
      yield* repo.setPolicy(row)
      yield* events.record(by, { kind: "policy_updated", subject: subjectOf(pair), changes })
      return after
    })
    return yield* storage.transaction(changed)
  })
}

/** All but the environment, with what is left out by its default. */
const settingsOf = (input: SetReadinessPolicy) => ({
  requires: (input.requires ?? []).map(({ coverage, severity = "block" }) => ({ coverage, severity })),
  tickets: input.tickets ?? defaultPolicy.tickets,
  secrets: input.secrets ?? defaultPolicy.secrets,
  drift: input.drift ?? defaultPolicy.drift,
  mutes: input.mutes ?? defaultPolicy.mutes,
  freezes: (input.freezes ?? [])
    .map(({ from, reason, to }) => ({ from: timestamp(Date.parse(from)), to: timestamp(Date.parse(to)), reason }))
    .toSorted((a, b) => compare(a.from, b.from) || compare(a.to, b.to) || compare(a.reason, b.reason))
})

const changesOf = (before: ReadinessPolicy, after: ReadinessPolicy): ReadonlyArray<Change> => [
  ...changesBetween(told(before), told(after), "from", "requires", "tickets", "secrets", "drift", "mutes"),
  ...windowChanges(before, after)
]

/** Of how many windows an event tells. */
const mostWindows = 20

const windowChanges = (before: ReadinessPolicy, after: ReadinessPolicy): ReadonlyArray<Change> => {
  const changes = freezeChanges(before.freezes, after.freezes)
  const more = changes.length - mostWindows
  return [
    ...changes.slice(0, mostWindows).map((change) => ({
      field: "freezes",
      from: windowText(change.before),
      to: windowText(change.after)
    })),
    ...(more > 0 ? [{ field: "freezes", from: null, to: `and ${more} more` }] : [])
  ]
}

/** To the minute where the time has no seconds. */
const timeText = (at: string): string =>
  `${at.slice(0, 10)} ${at.endsWith(":00.000Z") ? at.slice(11, 16) : at.slice(11, -1)} UTC`

const windowText = (window: FreezeWindow | undefined): string | null =>
  window === undefined ? null : `${window.reason}: ${timeText(window.from)} to ${timeText(window.to)}`

const told = ({ requires, ...policy }: ReadinessPolicy) => ({
  ...policy,
  requires:
    requires.length === 0 ? null : requires.map(({ coverage, severity }) => `${coverage} (${severity})`).join(", ")
})

const subjectOf = ({ deployment, environment, product }: DeployedPair) => ({
  type: "policy",
  id: deployment.id,
  label: `${product.name} in ${environment.name}`,
  path: `deployments/${product.slug}/${environment.slug}`
})
