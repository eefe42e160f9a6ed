import type { Actor } from "@delivery/domain/identity/Actor"
import type {
  EnvironmentId,
  PersonId,
  ProductId,
  ProjectId,
  TeamId,
  TestRuleId,
  TestRunId,
  TicketId,
  WorkspaceId
} from "@delivery/domain/Ids"
import type { TestRule } from "@delivery/domain/flow/TestRule"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import { Context, type Effect } from "effect"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { OwnerRef } from "../planning/TicketsRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** Rules that make tickets of failing tests. Null in a condition: all. */
export const testRules = table("test_rules", {
  id: uuid<TestRuleId>(),
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  environmentId: nullable(uuid<EnvironmentId>()),
  branch: nullable(text()),
  coverage: nullable(text<Coverage>()),
  failures: integer(),
  ofLast: integer(),
  teamId: uuid<TeamId>(),
  projectId: nullable(uuid<ProjectId>()),
  ownerKind: nullable(text<OwnerRef["kind"]>()),
  ownerId: nullable(uuid<OwnerRef["id"]>()),
  ask: nullable(text<NonNullable<TestRule["ask"]>>()),
  above: integer(),
  closeAfter: integer(),
  completion: text<TestRule["completion"]>(),
  authorId: uuid<PersonId>(),
  state: text<TestRule["state"]>(),
  createdAt: instant(),
  updatedAt: instant()
})

export type TestRuleRow = Row<typeof testRules>

/** The tickets that rules have made. In memory by the ticket. */
export const testRuleTickets = table("test_rule_tickets", {
  ticketId: uuid<TicketId>(),
  workspaceId: uuid<WorkspaceId>(),
  ruleId: uuid<TestRuleId>()
})

/** A rule with the current names of what it refers to. */
export interface FoundTestRule extends TestRuleRow {
  readonly product: string
  readonly environment: string | null
  readonly team: string
  readonly project: string | null
  readonly author: Actor
}

/** A test that failed in a run, with what its attempt says. */
export interface FailedTest {
  readonly caseId: string
  readonly title: string
  readonly file: string
  readonly error: string
  readonly files: ReadonlyArray<string>
}

/** A run that a rule is not for. */
export interface ElsewhereFailure {
  readonly number: number
  readonly environment: string
  readonly branch: string
}

/** A ticket about tests of a product, of a team that is not archived. */
export interface CaseTicket {
  readonly id: TicketId
  readonly teamId: TeamId
  readonly category: StatusCategory
  readonly caseIds: ReadonlyArray<string>
  readonly completion: "free" | "evidence"
  /** The rule that made it; null where another did, or people. */
  readonly ruleId: TestRuleId | null
}

/** Stores rules, and finds what they need to know of runs and tickets. */
export class TestRulesRepo extends Context.Service<
  TestRulesRepo,
  {
    /** Those of teams that the viewer sees, oldest first. */
    readonly list: (viewer: Viewer) => Effect.Effect<ReadonlyArray<FoundTestRule>>
    readonly find: (viewer: Viewer, id: TestRuleId) => Effect.Effect<FoundTestRule | undefined>
    readonly count: (productId: ProductId) => Effect.Effect<number>
    readonly insert: (rule: TestRuleRow, event: StoredEvent) => Effect.Effect<void>
    readonly update: (rule: TestRuleRow, event: StoredEvent) => Effect.Effect<void>
    readonly delete: (id: TestRuleId, event: StoredEvent) => Effect.Effect<void>
    /** Until the transaction ends, nobody else changes rules of the product, or makes tickets by them. */
    readonly hold: (productId: ProductId) => Effect.Effect<void>
    /** The product of the run, where an active rule is for the run. */
    readonly watched: (run: TestRunId) => Effect.Effect<ProductId | undefined>
    /** The active rules that are for the run, oldest first. */
    readonly ofRun: (run: TestRunId) => Effect.Effect<ReadonlyArray<FoundTestRule>>
    /** The other active rules of the product of a rule, oldest first. */
    readonly others: (rule: TestRuleRow) => Effect.Effect<ReadonlyArray<FoundTestRule>>
    /** The tests of the run that failed, by id. */
    readonly failures: (run: TestRunId) => Effect.Effect<ReadonlyArray<FailedTest>>
    /**
     * The statuses of tests, skipped ones left out, passes that complete no ticket as `uncountedPass`: first that in the run, if one is named, then those in the newest others of the
     * finished runs that the rule is for, what finished last first, at most `limit` runs in all, and none that finished before the ticket was made, if one is
     * named. Of tests that were in none of them there is nothing.
     */
    readonly statuses: (
      rule: TestRuleRow,
      run: TestRunId | undefined,
      caseIds: ReadonlyArray<string>,
      limit: number,
      since?: TicketId
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>>
    /**
     * The newest run that the rule is not for in which one of the tests failed, and did not pass since in that environment and branch: of
     * those that finished since the ticket was made.
     */
    readonly failsElsewhere: (
      rule: TestRuleRow,
      caseIds: ReadonlyArray<string>,
      since: TicketId
    ) => Effect.Effect<ElsewhereFailure | undefined>
    /** Tickets that the viewer sees about one of the tests, oldest first. */
    readonly about: (
      viewer: Viewer,
      productId: ProductId,
      caseIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<CaseTicket>>
    /** The open tickets of the rule that the viewer sees, oldest first. */
    readonly openOf: (viewer: Viewer, rule: TestRuleId) => Effect.Effect<ReadonlyArray<CaseTicket>>
    /** The tickets that the rule has made and that still are, newest first, at most `limit`. */
    readonly made: (rule: TestRuleId, limit: number) => Effect.Effect<ReadonlyArray<TicketId>>
    /** Whether an agent has a message about the ticket that has not ended. */
    readonly isAsked: (ticket: TicketId) => Effect.Effect<boolean>
    /** Notes that the rule has made the ticket. */
    readonly link: (rule: TestRuleRow, ticket: TicketId) => Effect.Effect<void>
  }
>()("@delivery/server/flow/TestRulesRepo") {}

/** The status of a test that passed in a run with uncommitted changes, of an agent, or during which the deployment changed. */
export const uncountedPass = "uncounted"

/** How many of the newest finished runs that a rule is not for are looked at. */
export const lookedAtElsewhere = 200

/** How many of the newest finished runs of a product are looked at to find those that a rule is for. */
export const lookedAt = 1_000
