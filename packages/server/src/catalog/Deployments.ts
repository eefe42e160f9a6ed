import type { CreateDeployment, Deployment, UpdateDeployment } from "@delivery/domain/catalog/Deployment"
import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import { needsBaseUrl, type ProductRef } from "@delivery/domain/catalog/Product"
import type { Archived } from "@delivery/domain/Archived"
import { Conflict, type Forbidden, InvalidInput, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { DeploymentId, EnvironmentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { NextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { anyRole, atLeast } from "../access/Access.ts"
import { asCallerNow, type RefusedNow } from "../http/ArrivedBodies.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import {
  type DeployedPair,
  type DeploymentRow,
  DeploymentsRepo,
  type DeploymentState,
  type Pair,
  presentRefs,
  type ReleasePlace
} from "./DeploymentsRepo.ts"
import { DeploymentEnds } from "./DeploymentEnds.ts"
import { DeploymentLocks } from "./DeploymentLocks.ts"
import { EnvironmentsRepo } from "./EnvironmentsRepo.ts"
import { type By, type Judged, newRelease } from "./MadeReleases.ts"
import { ProductsRepo } from "./ProductsRepo.ts"
import { ReleaseReadiness } from "./ReleaseReadiness.ts"
import { ReleaseWaits } from "./ReleaseWaits.ts"

/** An existing product and environment, and their deployment if there is one. */
export interface DeploymentTarget {
  readonly product: ProductRef
  readonly environment: EnvironmentRef
  readonly deployment: DeploymentState | undefined
}

/** Deployments (docs/contract.md, Deployments). */
export class Deployments extends Context.Service<
  Deployments,
  {
    readonly list: (filter: {
      readonly product?: string | undefined
      readonly environment?: string | undefined
      readonly archived?: Archived | undefined
    }) => Effect.Effect<ReadonlyArray<Deployment>, NotFound, Caller>
    readonly create: (
      input: CreateDeployment
    ) => Effect.Effect<Deployment, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly get: (product: string, environment: string) => Effect.Effect<Deployment, NotFound, Caller>
    readonly update: (
      product: string,
      environment: string,
      input: UpdateDeployment
    ) => Effect.Effect<Deployment, InvalidInput | NotFound | Forbidden | Conflict | RefusedNow, Caller>
    readonly delete: (product: string, environment: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
    /**
     * What `update` does with a version, for a deployed product itself, by whatever it has shown.
     *
     * @param shown Checks what it has shown around each try, also after each wait for locked runs.
     */
    readonly setVersion: (
      by: By,
      product: ProductId,
      environment: EnvironmentId,
      input: Pick<UpdateDeployment, "version" | "commits" | "force" | "waitMs">,
      shown: <A, E>(change: Effect.Effect<A, E>) => Effect.Effect<A, E | Unauthorized>
    ) => Effect.Effect<Deployment, Unauthorized | InvalidInput | NotFound | Conflict>
    /** The product and environment that a body names. `NotFound` names the field. */
    readonly target: (
      workspaceId: WorkspaceId,
      product: string,
      environment: string
    ) => Effect.Effect<DeploymentTarget, NotFound>
    /** The ids that filters name by slug or id. `NotFound` names the field. */
    readonly resolveRefs: (
      workspaceId: WorkspaceId,
      refs: { readonly product?: string | undefined; readonly environment?: string | undefined }
    ) => Effect.Effect<
      { readonly productId?: ProductId | undefined; readonly environmentId?: EnvironmentId | undefined },
      NotFound
    >
  }
>()("@delivery/server/catalog/Deployments") {
  static readonly layer = Layer.effect(Deployments, Effect.gen(make))
}

interface Dependencies {
  readonly repo: DeploymentsRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly environments: EnvironmentsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly audited: AuditedEvents["Service"]
  readonly nextId: NextId["Service"]
  readonly locks: DeploymentLocks["Service"]
  readonly ends: DeploymentEnds["Service"]
  readonly waits: ReleaseWaits["Service"]
  readonly readiness: ReleaseReadiness["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* DeploymentsRepo,
    products: yield* ProductsRepo,
    environments: yield* EnvironmentsRepo,
    storage: yield* Storage,
    events: yield* Events,
    audited: yield* AuditedEvents,
    nextId: yield* NextId,
    locks: yield* DeploymentLocks,
    ends: yield* DeploymentEnds,
    waits: yield* ReleaseWaits,
    readiness: yield* ReleaseReadiness
  }
  return Deployments.of({
    list: list(dependencies),
    create: create(dependencies),
    get: get(dependencies),
    update: update(dependencies),
    delete: remove(dependencies),
    setVersion: setVersion(dependencies),
    target: target(dependencies),
    resolveRefs: resolveRefs(dependencies)
  })
}

const target = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (workspaceId: WorkspaceId, product: string, environment: string) {
    const found = yield* namedPair(repo, workspaceId, product, environment)
    return { ...presentRefs(found), deployment: found.deployment }
  })

/** The product and environment that a body names, and their deployment if there is one. */
const namedPair = Effect.fnUntraced(function* (
  repo: DeploymentsRepo["Service"],
  workspaceId: WorkspaceId,
  productRef: string,
  environmentRef: string
) {
  const { deployment, environment, product } = yield* repo.target(workspaceId, productRef, environmentRef)
  if (product === undefined) return yield* NotFound.reference("product", productRef)
  if (environment === undefined) return yield* NotFound.reference("environment", environmentRef)
  return { product, environment, deployment }
})

/** The deployment that a path names. */
export const deployedPair = Effect.fnUntraced(function* (
  repo: DeploymentsRepo["Service"],
  workspaceId: WorkspaceId,
  productRef: string,
  environmentRef: string
) {
  const { deployment, environment, product } = yield* repo.target(workspaceId, productRef, environmentRef)
  if (product === undefined || environment === undefined || deployment === undefined) {
    return yield* NotFound.of("deployment", `${productRef}/${environmentRef}`)
  }
  return { product, environment, deployment }
})

const resolveRefs = ({ environments, products }: Dependencies): Deployments["Service"]["resolveRefs"] =>
  Effect.fnUntraced(function* (workspaceId, { environment, product }) {
    const productId = product === undefined ? undefined : (yield* products.find(workspaceId, product))?.id
    if (product !== undefined && productId === undefined) return yield* NotFound.reference("product", product)
    const environmentId =
      environment === undefined ? undefined : (yield* environments.find(workspaceId, environment))?.id
    if (environment !== undefined && environmentId === undefined) {
      return yield* NotFound.reference("environment", environment)
    }
    return { productId, environmentId }
  })

const list = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const resolve = resolveRefs(dependencies)
  return Effect.fn("Deployments.list")(function* ({
    archived = "exclude",
    ...filter
  }: Parameters<Deployments["Service"]["list"]>[0]) {
    const { workspace } = yield* anyRole
    const found = yield* repo.list(workspace.id, yield* resolve(workspace.id, filter))
    return found
      .filter((pair) => archived === "include" || (archived === "only") === !isActive(pair))
      .map(present)
      .toSorted((a, b) => byName(a.product, b.product) || byName(a.environment, b.environment))
  })
}

const create = (dependencies: Dependencies) => {
  const { events, nextId, products, repo, storage } = dependencies
  const releaseOf = newRelease(dependencies)
  const judge = judgedBefore(dependencies)
  return Effect.fn("Deployments.create")(function* (input: CreateDeployment) {
    const by = yield* atLeast("member")
    const judged = yield* judge(by, input.product, input.environment, input)
    const inserted = Effect.gen(function* () {
      // The lock keeps the type of the product from changing to one that needs a baseUrl.
      yield* products.lock(by.workspace.id, input.product)
      const pair = yield* namedPair(repo, by.workspace.id, input.product, input.environment)
      const baseUrl = input.baseUrl ?? null
      if (baseUrl === null && needsBaseUrl(pair.product.type)) return yield* baseUrlNeeded(pair.product.type)
      if (!isActive(pair)) return yield* archived(pair)
      // Once the deployment before is seen to be deleted, all of its releases are seen, too.
      if (pair.deployment !== undefined) return yield* deploymentExists
      const now = timestamp(yield* Clock.currentTimeMillis)
      const place = placeOf(by, pair)
      const deployment: DeploymentRow = {
        id: yield* nextId<DeploymentId>(),
        ...place,
        baseUrl,
        fixtureUrl: input.fixtureUrl ?? null,
        version: input.version ?? null,
        versionUpdatedAt: now,
        release: (input.version ?? null) === null ? 0 : (yield* repo.lastRelease(place)) + 1,
        locks: 0,
        createdAt: now,
        updatedAt: now,
        deletedAt: null
      }
      const release =
        deployment.release === 0
          ? undefined
          : yield* releaseOf(by, pair, deployment, { commits: input.commits ?? [], override: input.override, judged })
      yield* repo.insert(deployment, release)
      const brought = { version: deployment.version, override: input.override ?? null }
      const changes = changesBetween({ version: null, override: null }, brought, "version", "override")
      yield* events.record(by, { kind: "deployment_created", subject: subjectOf(pair, deployment), changes })
      return present({ ...pair, deployment })
    })
    return yield* storage.transaction(inserted).pipe(Effect.catchTag("UniqueViolation", () => deploymentExists))
  })
}

const placeOf = ({ workspace }: Pick<By, "workspace">, { environment, product }: Pair): ReleasePlace => ({
  workspaceId: workspace.id,
  productId: product.id,
  environmentId: environment.id
})

const get = ({ repo }: Dependencies) =>
  Effect.fn("Deployments.get")(function* (product: string, environment: string) {
    const { workspace } = yield* anyRole
    return present(yield* deployedPair(repo, workspace.id, product, environment))
  })

const update = (dependencies: Dependencies) => Effect.fn("Deployments.update")(change(dependencies))

/** Locked runs hold the deployment, so that its version cannot change now. */
class Held extends Data.TaggedError("Held")<{
  readonly deployment: DeploymentId
  readonly runs: ReadonlyArray<number>
}> {}

/**
 * Changes a deployment for whoever may, and waits for locked runs as long as the input says. Who calls is decided again after
 * each wait: nobody changes anything by an access that has ended meanwhile.
 */
const change = (dependencies: Dependencies) => {
  const attempt = changeNow(dependencies)
  const judge = judgedBefore(dependencies)
  const whenFree = waiting(dependencies)
  return Effect.fnUntraced(function* (product: string, environment: string, input: UpdateDeployment) {
    const attempted = Effect.flatMap(atLeast("member"), (by) =>
      Effect.flatMap(judge(by, product, environment, input), (judged) =>
        attempt(by, product, environment, input, judged)
      )
    )
    const caller = Effect.map(anyRole, ({ actor }) => actor.id)
    return yield* whenFree(attempted, asCallerNow(attempted), caller, input.waitMs)
  })
}

const setVersion = (dependencies: Dependencies): Deployments["Service"]["setVersion"] => {
  const attempt = changeNow(dependencies)
  const judge = judgedBefore(dependencies)
  const whenFree = waiting(dependencies)
  return (by, product, environment, input, shown) => {
    const attempted = Effect.flatMap(judge(by, product, environment, input), (judged) =>
      shown(attempt(by, product, environment, input, judged))
    )
    const changed = whenFree(attempted, attempted, Effect.succeed(by.actor.id), input.waitMs)
    return Effect.withSpan(changed, "Deployments.setVersion")
  }
}

/** Makes an attempt, and again while locked runs hold the deployment, as long as one may wait. */
const waiting =
  ({ waits }: Dependencies) =>
  <A, E, E1, E2, R, R1, R2>(
    attempted: Effect.Effect<A, E | Held, R>,
    again: Effect.Effect<A, E1 | Held, R1>,
    caller: Effect.Effect<string, E2, R2>,
    waitMs = 0
  ) => {
    const wait = Effect.fnUntraced(function* (first: Held) {
      const until = (yield* Clock.currentTimeMillis) + waitMs
      const wait = yield* waits.begin(first.deployment, yield* caller)
      if (wait === undefined) return yield* runInProgress(first)
      for (let next: Effect.Effect<A, E | E1 | Held, R | R1> = attempted; ; next = again) {
        const result = yield* Effect.catchIf(next, (error) => error instanceof Held, Effect.succeed)
        if (!(result instanceof Held)) return result
        const left = until - (yield* Clock.currentTimeMillis)
        if (left <= 0 || waits.isStopping()) return yield* runInProgress(result)
        yield* wait(left)
      }
    })
    return Effect.catchIf(
      attempted,
      (error) => error instanceof Held,
      (held) => (waitMs === 0 ? runInProgress(held) : Effect.scoped(wait(held)))
    )
  }

/**
 * What readiness says of a version, before anything is locked; null where none is sent. Also of one that seems to be there already, and
 * where there seems to be no deployment: when it is changed, another request may have come first.
 */
const judgedBefore = ({ readiness, repo }: Dependencies) =>
  Effect.fnUntraced(function* (
    { workspace }: Pick<By, "workspace">,
    productRef: string,
    environmentRef: string,
    { version }: Pick<UpdateDeployment, "version">
  ) {
    if (typeof version !== "string") return null
    const { deployment, environment, product } = yield* repo.target(workspace.id, productRef, environmentRef)
    if (product === undefined || environment === undefined) return null
    const place = { product, environment, deployment }
    return isActive(place) ? yield* readiness.find(workspace.id, place, version) : null
  })

const changeNow = (dependencies: Dependencies) => {
  const { products, storage } = dependencies
  const changed = changeOnce(dependencies)
  return Effect.fnUntraced(function* (
    by: By,
    product: string,
    environment: string,
    input: UpdateDeployment,
    judged: Judged
  ) {
    const tryChange = changed(by, product, environment, input, judged)
    const first = input.baseUrl === null ? undefined : yield* tryChange
    if (first !== undefined) return first
    // Another change came first. The lock makes the next attempts serial, since many concurrent ones would mostly fail.
    const inTurn = storage.transaction(Effect.andThen(products.lock(by.workspace.id, product), tryChange))
    for (;;) {
      const updated = yield* inTurn
      if (updated !== undefined) return updated
    }
  })
}

/** Undefined where another change of the deployment came first, or a run that holds it. */
const changeOnce = (dependencies: Dependencies) => {
  const { events, locks, repo } = dependencies
  const releaseOf = newRelease(dependencies)
  return Effect.fnUntraced(function* (
    by: By,
    productRef: string,
    environmentRef: string,
    { commits = [], force = false, override, waitMs: _, ...input }: UpdateDeployment,
    judged: Judged
  ) {
    const pair = yield* deployedPair(repo, by.workspace.id, productRef, environmentRef)
    if (input.baseUrl === null && needsBaseUrl(pair.product.type)) return yield* baseUrlNeeded(pair.product.type)
    if (!isActive(pair)) return yield* archived(pair)
    const before = pair.deployment
    const changed = { ...before, ...input }
    const changes = changesBetween(before, changed, "baseUrl", "fixtureUrl", "version")
    const isRelease = changed.version !== before.version
    // Whoever sends the same again, as CI does, has been heard.
    const isLate = !isRelease && override !== undefined && override !== (yield* repo.overrideOf(before))
    if (isLate) return yield* overrideTooLate
    if (changes.length === 0) return present(pair)
    if (isRelease && !force && before.locks > 0) {
      const runs = yield* locks.heldBy(before.id)
      if (runs.length > 0) return yield* new Held({ deployment: before.id, runs })
    }
    const now = yield* nextUpdate(before)
    const last = isRelease && before.release === 0 ? yield* repo.lastRelease(placeOf(by, pair)) : before.release
    const after = isRelease
      ? { ...changed, versionUpdatedAt: now, updatedAt: now, release: last + 1 }
      : { ...changed, updatedAt: now }
    const told =
      isRelease && override !== undefined ? [...changes, { field: "override", from: null, to: override }] : changes
    const event = yield* events.make(by, { kind: "deployment_updated", subject: subjectOf(pair, after), changes: told })
    const release = isRelease ? yield* releaseOf(by, pair, after, { commits, override, judged }) : undefined
    const isStored = yield* repo.update({ before, after, event, release, isFree: isRelease && !force })
    return isStored ? present({ ...pair, deployment: after }) : undefined
  })
}

const overrideTooLate = InvalidInput.at(
  "override",
  "The deployment runs this version already: nothing has changed, and the reason is not kept. A release takes its reason when it is made."
)

const runInProgress = ({ runs }: Held) =>
  Effect.fail(
    new Conflict({
      message:
        runs.length === 1
          ? `Test run ${runs[0]} holds the deployment: its version cannot change before the run ends.`
          : `Test runs ${runs.join(", ")} hold the deployment: its version cannot change before they end.`,
      reason: "run_in_progress",
      runs
    })
  )

const remove = ({ audited, ends, events, repo, storage }: Dependencies) =>
  Effect.fn("Deployments.delete")(function* (product: string, environment: string) {
    const by = yield* atLeast("member")
    const pair = yield* deployedPair(repo, by.workspace.id, product, environment)
    const deleted = Effect.gen(function* () {
      const now = timestamp(yield* Clock.currentTimeMillis)
      if (!(yield* repo.delete(pair.deployment.id, now)))
        return yield* NotFound.of("deployment", `${product}/${environment}`)
      yield* ends.ended(by, pair)
      const { notReady, releases, version } = yield* repo.ended(pair.deployment.id)
      const event = {
        kind: "deployment_deleted",
        subject: subjectOf(pair, pair.deployment),
        changes: version === null ? [] : [{ field: "version", from: version, to: null }]
      } as const
      if (releases === 0) return yield* events.record(by, event)
      const changes = Object.entries({ releases, notReady }).map(([field, count]) => ({
        field,
        from: String(count),
        to: null
      }))
      yield* audited.record(by, event, { changes })
    })
    yield* storage.transaction(deleted)
  })

export const isActive = ({ environment, product }: Pair): boolean =>
  product.archivedAt === null && environment.archivedAt === null

export const archived = ({ product }: Pair) =>
  Conflict.archived(product.archivedAt === null ? "environment" : "product")

const baseUrlNeeded = (type: string) =>
  InvalidInput.at("baseUrl", `A deployment of a product of the type ${type} needs a baseUrl.`)

const deploymentExists = Effect.fail(
  new Conflict({
    message: "The product already has a deployment in this environment.",
    reason: "deployment_exists"
  })
)

const present = (pair: DeployedPair): Deployment => ({
  id: pair.deployment.id,
  ...presentRefs(pair),
  baseUrl: pair.deployment.baseUrl,
  fixtureUrl: pair.deployment.fixtureUrl,
  version: pair.deployment.version,
  versionUpdatedAt: pair.deployment.versionUpdatedAt,
  active: isActive(pair),
  createdAt: pair.deployment.createdAt,
  updatedAt: pair.deployment.updatedAt
})

const subjectOf = (pair: Pair, deployment: { readonly id: DeploymentId }) => ({
  type: "deployment",
  id: deployment.id,
  label: `${pair.product.name} in ${pair.environment.name}`,
  path: `deployments/${pair.product.slug}/${pair.environment.slug}`
})
