import type { ReadinessPolicy, Severity } from "@delivery/domain/flow/ReadinessPolicy"
import type { WorkspaceId } from "@delivery/domain/Ids"
import type { ReleaseReadiness as Found } from "@delivery/domain/catalog/ReleaseReadiness"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer, Option } from "effect"
import type { DeployablePair } from "../catalog/DeploymentsRepo.ts"
import { DeploymentsRepo } from "../catalog/DeploymentsRepo.ts"
import { EnvironmentsRepo } from "../catalog/EnvironmentsRepo.ts"
import { ReleaseReadiness } from "../catalog/ReleaseReadiness.ts"
import { LoadsRepo } from "../deploy/LoadsRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { CasesRepo } from "../runs/cases/CasesRepo.ts"
import { RunMutes } from "../runs/RunMutes.ts"
import { Storage } from "../storage/Storage.ts"
import { MutesRepo } from "./MutesRepo.ts"
import { OverdueMutes } from "./OverdueMutes.ts"
import { findingsOf, policyOf } from "./Readiness.ts"
import { type Findings, reasonsOf } from "./ReadinessReasons.ts"
import { ReadinessRepo } from "./ReadinessRepo.ts"

/** How long a change of a version waits for it. */
const longest = "2 seconds"

/** The catalog's `ReleaseReadiness`. */
export const layer = Layer.effect(
  ReleaseReadiness,
  Effect.gen(function* () {
    const storage = yield* Storage
    const dependencies = {
      repo: yield* ReadinessRepo,
      mutes: yield* OverdueMutes,
      muting: yield* MutesRepo,
      runMutes: yield* RunMutes,
      cases: yield* CasesRepo,
      loads: yield* LoadsRepo,
      deployments: yield* DeploymentsRepo,
      environments: yield* EnvironmentsRepo
    }
    const find = findingsOf(dependencies)
    const findPolicy = policyOf(dependencies)
    const judged = Effect.fnUntraced(function* (workspaceId: WorkspaceId, pair: DeployablePair, version: string) {
      const place = { workspaceId, productId: pair.product.id, environmentId: pair.environment.id }
      if ((yield* dependencies.repo.policy(place)) === undefined) return null
      const at = timestamp(yield* Clock.currentTimeMillis)
      return yield* storage.snapshot(
        Effect.flatMap(findPolicy(place), ({ from, policy }) =>
          Effect.map(find(anybody(workspaceId), pair, { asked: version, at, from, policy }), (found) =>
            toldOf(policy, found)
          )
        )
      )
    })
    return ReleaseReadiness.of({
      find: (workspaceId, pair, version) =>
        judged(workspaceId, pair, version).pipe(
          Effect.timeoutOption(longest),
          Effect.map(Option.getOrElse(() => null)),
          Effect.withSpan("ReleaseReadiness.find"),
          Effect.catchCause((cause) =>
            Effect.as(
              Effect.logWarning("A release is recorded without its readiness, which could not be told.", cause),
              null
            )
          )
        )
    })
  })
)

/** Whoever reads the release reads what was stored: of private teams, what nobody outside of them sees counts as one. */
const anybody = (workspaceId: WorkspaceId): Viewer => ({ workspaceId, seesPrivateTeams: false, personId: null })

/** The kinds of what blocks and what warns, and how many of each, with what was asked for: no name of anything. */
const toldOf = (policy: ReadinessPolicy, found: Findings): Found => {
  const all = reasonsOf(policy, found, nowhere)
  const kindsOf = (weight: Severity) =>
    [
      ...Map.groupBy(
        all.filter(({ severity }) => severity === weight),
        ({ kind }) => kind
      )
    ].map(([kind, { length: count }]) => ({ kind, count }))
  const reasons = kindsOf("block")
  const requires = policy.requires.map(({ coverage }) => coverage)
  const deciding = requires.flatMap((coverage) => found.runs.filter((run) => run.coverage === coverage))
  return {
    ready: reasons.length === 0,
    reasons,
    warnings: kindsOf("warn"),
    requires,
    runs: [...new Set(deciding.map(({ number }) => number))]
  }
}

/** Its reasons are counted: their addresses are seen by nobody. */
const nowhere = { workspaceUrl: "", productSlug: "", environmentSlug: "" }
