import type { RunExclusion } from "@delivery/domain/flow/Readiness"
import type { ReadinessPolicy, ReasonSetting } from "@delivery/domain/flow/ReadinessPolicy"
import type { EnvironmentId, ProductId, SecretId, TestRunId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import type { Counts, RunResult } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { Viewer } from "../planning/Viewer.ts"
import type { StoredRunMute } from "../runs/RunMutes.ts"
import { instant, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** What must hold before a version goes out, for each pair that has a policy. In memory by `placeKey`. */
export const readinessPolicies = table("readiness_policies", {
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  environmentId: uuid<EnvironmentId>(),
  fromId: nullable(uuid<EnvironmentId>()),
  requires: json<ReadinessPolicy["requires"]>(),
  tickets: text<ReasonSetting>(),
  secrets: text<ReasonSetting>(),
  drift: text<ReasonSetting>(),
  mutes: text<ReasonSetting>(),
  freezes: json<ReadinessPolicy["freezes"]>(),
  updatedAt: instant()
})

export type PolicyRow = Row<typeof readinessPolicies>

/** A product in an environment. */
export interface Place {
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
}

/** Which runs decide whether a version may go out to a place. */
export interface AskedRuns extends Place, AskedVersions {
  readonly coverages: ReadonlyArray<Coverage>
  /** The environment that versions come from, whose runs alone decide; null where those of each other environment do. */
  readonly fromId: EnvironmentId | null
}

export const placeKey = ({ environmentId, productId }: Place): string => `${productId}/${environmentId}`

/** Among how many runs without a result the one to name is looked for. */
export const mostUnresolved = 200

/** How many failed tests the reason names that a run has failed. */
export const namedFailures = 2

/** How much of the error of a run a reason quotes, in characters. */
export const maxErrorLine = 200

/** The run of a version with a coverage that decides. */
export interface FoundRun {
  readonly coverage: Coverage
  readonly id: TestRunId
  readonly number: number
  readonly result: RunResult
  /** The result without what was muted when it started. */
  readonly gateResult: RunResult
  /** Whether what failed in it passed only in retries of another release or address, or with uncommitted changes: it failed on this one. */
  readonly retriedElsewhere: boolean
  /** Whether the last of those retries began all its attempts before the tests of the run. */
  readonly retriedBefore: boolean
  /** The number of its retry that is running. */
  readonly runningRetry: number | null
  /** What went wrong outside of its tests: the first characters of it. */
  readonly error: string | null
  readonly git: { readonly branch: string; readonly sha: string; readonly dirty: boolean }
  readonly counts: Counts
  /** What failed in it and counts. */
  readonly failures: {
    readonly count: number
    /** The shown titles of the first `namedFailures`, by the code units of their ids. */
    readonly titles: ReadonlyArray<string>
  }
  readonly mutedFailures: {
    readonly count: number
    /** The first `maxMutedFailures`, by the code units of their ids. */
    readonly tests: ReadonlyArray<MutedFailure>
  }
  readonly finishedAt: Timestamp
  readonly environment: { readonly slug: string; readonly name: string }
}

/** A test that failed and does not count, with its shown title. */
export interface MutedFailure extends StoredRunMute {
  readonly title: string
}

/** A run of a version with a coverage that has no result, and may decide. */
export interface UnresolvedRun {
  readonly coverage: Coverage
  readonly number: number
  /** The slug of its environment. */
  readonly environment: string
  readonly state: "running" | "interrupted"
}

/** A finished run of a version with a coverage that would have decided, had it tested the deployment as it is. */
export interface ElsewhereRun {
  readonly coverage: Coverage
  readonly number: number
  /** The slug of its environment. */
  readonly environment: string
  readonly baseUrl: string
  /** Without the tests that were muted. */
  readonly result: RunResult
  readonly finishedAt: Timestamp
  readonly reason: Extract<RunExclusion, "other_address" | "ran_before">
}

/** A run of a version that decides nothing though it tested the deployment. */
export interface UncountedRun extends Omit<ElsewhereRun, "coverage" | "reason"> {
  readonly coverage: Coverage | null
  readonly reason: Exclude<RunExclusion, "other_address">
}

/** A product and the version of which it is asked, in each way in which that is written. */
export interface AskedVersions extends Pick<Place, "productId" | "workspaceId"> {
  readonly versions: ReadonlyArray<string>
}

/** A test that failed when it ran last before a run that decides, which has not run it. */
export interface LeftOutTest {
  readonly coverage: Coverage
  readonly caseId: string
  /** Its first characters. */
  readonly title: string
  /** The run in which it failed last, muted or not; of the version that is asked for where it failed in one of that. */
  readonly number: number
  /** The branch of that. */
  readonly branch: string
  /** Whether that tested an address that the deployment had then, and has not now. */
  readonly isFormer: boolean
  /** When that ended, or the last retry of it in which it failed again. */
  readonly failedAt: Timestamp
  /** The newest run since, or that itself by a retry, in which it passed, but began before it had failed. */
  readonly oldPass: number | null
  /** The newest run since in which it passed at an address that the deployment had then: neither where it failed nor that of now. */
  readonly passedAway: number | null
  /** The version of that, where it is not the one that is asked for. */
  readonly otherVersion: string | null
  /** The run in which it passed in the version and environment with another coverage, of the newest of each of those: the newest such run. */
  readonly passedIn: { readonly coverage: Coverage; readonly number: number } | null
}

/** A run of a version before, which ran markedly more tests than the one that decides. */
export interface FewerTests {
  readonly coverage: Coverage
  readonly number: number
  readonly version: string
  /** How many more. */
  readonly count: number
  /** The first characters of titles of the first `namedTests` that the one that decides has not run. */
  readonly titles: ReadonlyArray<string>
}

/** How many left out tests are told of a run that decides. */
export const mostLeftOut = 200

/** From how many fewer tests on a run has markedly fewer than one before, and from which part of those. */
export const leastFewer = 3
export const fewerOf = 20

/** With how many other versions the number of tests of a run is compared. */
export const mostCompared = 5

/** How many tests a reason names. */
export const namedTests = 5

/** A secret of a product in an environment, and beside another one. Never its value. */
export interface SecretState {
  readonly id: SecretId
  readonly name: string
  readonly isDeleted: boolean
  /** The current version; 0 where none was ever set. */
  readonly version: number
  readonly hasValue: boolean
  /** Whether it has a value in the other environment. */
  readonly hasValueBeside: boolean
}

/** An open ticket that blocks a product. */
export interface BlockingTicket {
  readonly id: TicketId
  readonly teamKey: string
  readonly number: number
  readonly title: string
  /** Whether the viewer may know it. */
  readonly isSeen: boolean
}

/** Stores policies, and finds what says whether a version may go out. */
export class ReadinessRepo extends Context.Service<
  ReadinessRepo,
  {
    readonly policy: (place: Place) => Effect.Effect<PolicyRow | undefined>
    /** In place of the one before. */
    readonly setPolicy: (policy: PolicyRow) => Effect.Effect<void>
    /** Whether a deployment of the product has or had the version, or a run tested it, also one that was erased. */
    readonly isKnown: (place: Place, version: string) => Effect.Effect<boolean>
    /** Such versions that are ids of commits in lower case and begin with a short one: all, if they are fewer than two. */
    readonly begunBy: (place: Place, id: string) => Effect.Effect<ReadonlyArray<string>>
    /** The versions that a deployment of the product had and that may be commits, which begin with seven digits, in whatever case. In no order. */
    readonly commits: (place: Place, begin: string) => Effect.Effect<ReadonlyArray<string>>
    /**
     * For each of the coverages, the run of the version that finished last in such an environment, while its deployment did not change,
     * if there is one: of those that ran the whole coverage without uncommitted changes, in which something passed or failed, and that
     * no agent published. Those that tested another address than the deployment had and has are left out, and those that
     * passed with tests that began before the release, or before those of one that failed on it and finished earlier. In no order.
     */
    readonly runs: (asked: AskedRuns, now: Timestamp) => Effect.Effect<ReadonlyArray<FoundRun>>
    /**
     * For each of the coverages, a run that has no result, of those that ran the whole coverage against the address of the deployment
     * in such an environment, if there is one: one that is running, of these the newest. Looks at the newest `mostUnresolved`. In no order.
     */
    readonly unresolved: (asked: AskedRuns, now: Timestamp) => Effect.Effect<ReadonlyArray<UnresolvedRun>>
    /**
     * For each of the coverages, the run that `runs` leaves out for its address alone, and the one that it leaves out for the times of its
     * tests, if there is one among the last `mostElsewhere` of an environment. In no order.
     */
    readonly elsewhere: (asked: AskedRuns) => Effect.Effect<ReadonlyArray<ElsewhereRun>>
    /**
     * For each of the coverages, and for none, the run of the version that passed last in such an environment, and the one
     * that failed last, of those that `runs` leaves out for another reason than these. Looks at the last `mostElsewhere`. In no
     * order.
     */
    readonly uncounted: (asked: AskedRuns) => Effect.Effect<ReadonlyArray<UncountedRun>>
    /**
     * The tests that failed when they ran last in the environment with the coverage before a run that decides, which has not run them. Looks
     * at the last `mostElsewhere` runs of the version that might have decided, also at an address that the deployment had then, and as many that were interrupted, and at those of other versions
     * among the last `mostElsewhere` finished ones of the environment and as many interrupted ones of the product that started before. What
     * passed in an interrupted run has not passed, what passed at an address of before has passed there alone, and what passed in a test that
     * began before another failed has not passed since. Tests of another version that began to run when the environment had had this one already
     * are left out, unless a run of this one has them. Says where they passed with another coverage. Of each run the
     * first `mostLeftOut`: those of its version, then those of the newest runs. By the coverages and the ids.
     */
    readonly leftOut: (
      asked: AskedVersions,
      runs: ReadonlyArray<TestRunId>
    ) => Effect.Effect<ReadonlyArray<LeftOutTest>>
    /**
     * When people completed a ticket last that needs evidence of these tests, as far as one is completed: of tests that failed before, that
     * they are gone or pass. In no order.
     */
    readonly settled: (
      product: Pick<Place, "productId" | "workspaceId">,
      caseIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<{ readonly caseId: string; readonly at: Timestamp }>>
    /**
     * For each of the runs that decide, that which ran most tests that it did not skip, if it ran markedly more: of the newest run of each of
     * the last `mostCompared` other versions before it that might have decided, whatever came of it. Looks at the last `mostElsewhere` finished
     * runs of the environment; those which began when that had had this version already are left out. In no order.
     */
    readonly fewer: (asked: AskedVersions, runs: ReadonlyArray<TestRunId>) => Effect.Effect<ReadonlyArray<FewerTests>>
    /**
     * The secrets of the product; of deleted ones, those alone that were loaded. May leave out secrets that are as they were loaded,
     * since neither drift nor what is missing has them. In no order.
     */
    readonly secrets: (
      place: Place,
      beside: EnvironmentId | null,
      loaded: Readonly<Record<SecretId, number>>
    ) => Effect.Effect<ReadonlyArray<SecretState>>
    /** Those of projects of the product; neither team nor project is archived. Also those that the viewer does not see. In no order. */
    readonly blockingTickets: (viewer: Viewer, product: ProductId) => Effect.Effect<ReadonlyArray<BlockingTicket>>
  }
>()("@delivery/server/flow/ReadinessRepo") {}
