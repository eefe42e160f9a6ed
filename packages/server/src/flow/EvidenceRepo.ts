import type {
  ApiKeyId,
  PersonId,
  ProductId,
  TestRunId,
  TicketId,
  TicketStatusId,
  WorkspaceId
} from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { TicketsOf } from "../planning/TicketGuards.ts"
import type { OwnerRef } from "../planning/TicketsRepo.ts"

/** The result of a test in a finished run. */
export interface EvidenceResult {
  readonly caseId: string
  readonly title: string
  readonly run: TestRunId
  readonly number: number
  readonly status: string
  /** The slug of the environment of the run. */
  readonly environment: string
  /** Whether that is not archived. */
  readonly isActive: boolean
  readonly branch: string
  readonly commit: string
  /** Whether it ran changes that are in no commit. */
  readonly dirty: boolean
  /** Whether it tested the address that the deployment had and has, and not another one. */
  readonly isOfDeployment: boolean
  /** Whether it tested the address that the deployment had then. */
  readonly wasOfDeployment: boolean
  /** Whether the deployment changed while it ran. */
  readonly deploymentChanged: boolean
  readonly finishedAt: Timestamp
  /** When its first attempt began, as who published it says, but not after the run ended; null where it does not say. */
  readonly startedAt: Timestamp | null
  readonly publisher: ActorRef
  /** The person who published it, or for whom an agent did; null for an account key. */
  readonly personId: string | null
  /** The name of the account key that published it; null for others. */
  readonly keyName: string | null
  /** The person who made that, also by a key that they or a key of theirs made, and when it was made; null where nobody is known. */
  readonly keyMaker: string | null
  readonly keyMadeAt: Timestamp | null
}

/** A ticket as the audit names it. */
export interface HeldTicket {
  readonly id: TicketId
  readonly team: { readonly key: string }
  readonly number: number
  readonly title: string
}

/** Finds what proves that tests pass again. */
export class EvidenceRepo extends Context.Service<
  EvidenceRepo,
  {
    /**
     * The results of the tests in the newest `evidenceRuns` finished and interrupted runs of the product, newest run first, skipped ones
     * left out, and of interrupted ones all but failures. Before these, of each test in each environment, the last `olderResults` failures,
     * as many without uncommitted changes among the last `olderFailures`, and the last `olderResults` others in finished runs, and the failures in the last `olderInterrupted` interrupted ones.
     */
    readonly results: (
      workspaceId: WorkspaceId,
      productId: ProductId,
      caseIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<EvidenceResult>>
    /** The persons that owners are, or for whom they work. */
    readonly personsOf: (owners: ReadonlyArray<OwnerRef>) => Effect.Effect<ReadonlyArray<string>>
    /** The person who made an account key, also by a key of theirs, where that was after a time. */
    readonly makersOf: (key: ApiKeyId, since: Timestamp) => Effect.Effect<ReadonlyArray<PersonId>>
    /** The tickets of the status that need evidence to be completed. */
    readonly needing: (status: TicketStatusId) => Effect.Effect<ReadonlyArray<TicketId>>
    /** The open tickets that need evidence and block, in a project with products. In no order. */
    readonly holding: (workspaceId: WorkspaceId, of: TicketsOf) => Effect.Effect<ReadonlyArray<HeldTicket>>
  }
>()("@delivery/server/flow/EvidenceRepo") {}

/** How many of the newest finished runs of a product are looked at, whatever they tested. */
export const evidenceRuns = 300

/** How many older results of a test: a busy product has 300 runs a day, and a test of its nightly suite one. */
export const olderResults = 50

/** Among how many older failures of a test those without uncommitted changes are looked for: others undo no proof. */
export const olderFailures = 500

/** How many older interrupted runs, whose failures are counted nowhere else. */
export const olderInterrupted = 100
