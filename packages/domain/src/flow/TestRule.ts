import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { PersonId, TestRuleId } from "../Ids.ts"
import { Coverage } from "../runs/TestEntry.ts"
import { atLeast, OneOf, Ref, Text } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** Rules that make tickets of failing tests (docs/contract.md, Test rules). */

/** How many rules a product has at most. */
export const maxTestRules = 20

/** How many tickets one run makes and reopens at most, of all rules together. */
export const maxTicketsOfRun = 20

/** How many tickets of a rule are listed at most. */
export const maxTicketsOfRule = 100

const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(
    Schema.isBetween({ minimum, maximum }, { message: `Expected a whole number from ${minimum} to ${maximum}` })
  )

const When = Body({
  failures: whole(1, 10).annotate({ description: "In how many runs a test must have failed." }),
  ofLast: Schema.optionalKey(
    whole(1, 20).annotate({
      description:
        "Of how many finished runs that the rule is for: the one that finishes, and the newest others. Not below `failures`, which is the default."
    })
  )
})
  .check(
    Schema.makeFilter(
      ({ failures, ofLast = failures }) =>
        ofLast >= failures || { path: ["ofLast"], issue: "Expected at least `failures`" },
      { toJsonSchema: () => [{}, true] as const }
    )
  )
  .annotate({
    identifier: "TestRuleWhen",
    description: "When a test gets a ticket.",
    examples: [{ failures: 2, ofLast: 5 }]
  })

/** What the agent who owns the tickets can be asked. */
const RuleAsk = OneOf(["draft", "refine", "plan", "build"])

export const TestRuleState = Schema.Literals(["active", "stopped"]).annotate({
  identifier: "TestRuleState",
  description:
    "Whether the rule makes tickets. It is stopped by people, and by itself where it cannot act as its author any more.",
  examples: ["active"]
})

const example = {
  product: "shop",
  environment: "staging",
  branch: "main",
  coverage: null,
  when: { failures: 2, ofLast: 5 },
  team: "ENG",
  project: null,
  owner: "0197a1b2-0000-7000-8000-0000000000e1",
  ask: "build",
  above: 10,
  closeAfter: 3,
  completion: "evidence"
} as const

const fields = {
  product: Ref.annotate({ description: "The product whose runs count, by slug or id." }),
  environment: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({ description: "Only runs in this environment, by slug or id; null for all." })
  ),
  branch: Schema.optionalKey(
    Schema.NullOr(Text(500).check(atLeast(1))).annotate({ description: "Only runs of this branch; null for all." })
  ),
  coverage: Schema.optionalKey(
    Schema.NullOr(Coverage).annotate({ description: "Only runs of this selection; null for all." })
  ),
  when: When,
  team: Ref.annotate({ description: "The team that gets the tickets, by key." }),
  project: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({ description: "The project of the tickets, by slug; null for none." })
  ),
  owner: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({
      description:
        "Who owns the tickets: the id or email address of a member, or the id of an agent; null for nobody. One who has left, or does not see the team, owns no new ones."
    })
  ),
  ask: Schema.optionalKey(
    Schema.NullOr(RuleAsk).annotate({
      description: "What an agent who owns a new ticket is asked, in one message; null for `build`. Only for an agent."
    })
  ),
  above: Schema.optionalKey(
    whole(1, 5_000).annotate({
      description: "Where so many tests or more fail in a run, those that fail alike share one ticket.",
      default: 10
    })
  ),
  closeAfter: Schema.optionalKey(
    whole(1, 20).annotate({
      description:
        "A ticket is completed once each of its tests has passed in so many runs since it failed last, also where a retry has made it flaky.",
      default: 3
    })
  ),
  completion: Schema.optionalKey(
    OneOf(["free", "evidence"]).annotate({
      description:
        'What completes the tickets. `evidence`: they need it as tickets with `completion: "evidence"` do, also for the rule itself. Take it where agents own them, who may else complete them as they like.',
      default: "free"
    })
  )
}

export const CreateTestRule = Body(fields).annotate({
  identifier: "CreateTestRule",
  description: "Which failures get tickets, and what tickets those are.",
  examples: [example]
})
export type CreateTestRule = typeof CreateTestRule.Type

export const UpdateTestRule = Body({
  ...fields,
  product: Schema.optionalKey(fields.product),
  when: Schema.optionalKey(fields.when),
  team: Schema.optionalKey(fields.team),
  state: Schema.optionalKey(
    OneOf(["active", "stopped"]).annotate({ description: "`stopped` ends the rule for now, `active` begins it again." })
  )
}).annotate({
  identifier: "UpdateTestRule",
  description: "The fields to change; `null` clears one.",
  examples: [{ closeAfter: 5 }]
})
export type UpdateTestRule = typeof UpdateTestRule.Type

/** A rule that makes tickets of failing tests (docs/contract.md, Test rules). */
export const TestRule = Schema.Struct({
  id: TestRuleId,
  product: Schema.String.annotate({ description: "The slug of the product." }),
  environment: Schema.NullOr(Schema.String).annotate({ description: "The slug of the environment; null for all." }),
  branch: Schema.NullOr(Schema.String),
  coverage: Schema.NullOr(Coverage),
  when: Schema.Struct({ failures: Schema.Int, ofLast: Schema.Int }),
  team: Schema.String.annotate({ description: "The key of the team." }),
  project: Schema.NullOr(Schema.String).annotate({
    description: "The slug of the project; null for none, and where you do not see it."
  }),
  owner: Schema.NullOr(Schema.String).annotate({ description: "The id of the owner; null for nobody." }),
  ask: Schema.NullOr(RuleAsk),
  above: Schema.Int,
  closeAfter: Schema.Int,
  completion: OneOf(["free", "evidence"]).annotate({ description: "What completes its tickets." }),
  author: Actor,
  state: TestRuleState,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "TestRule",
  description: "A rule that makes tickets of failing tests.",
  examples: [
    {
      ...example,
      id: TestRuleId.make("0197a1b2-0000-7000-8000-000000000d01"),
      author: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      state: "active",
      createdAt: "2026-11-21T09:30:00.000Z",
      updatedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type TestRule = typeof TestRule.Type

/** How often a test failed of the runs that count, newest first; the first is the one that finishes. */
export const isDue = (
  statuses: ReadonlyArray<string>,
  { failures, ofLast }: { readonly failures: number; readonly ofLast: number }
): boolean => statuses.slice(0, ofLast).filter((status) => status === "failed").length >= failures

/**
 * Whether a test has passed in so many runs since it failed last, by the statuses of its runs, newest first. One that is
 * flaky has failed, too: a retry of that run does not undo it.
 */
export const hasRecovered = (statuses: ReadonlyArray<string>, closeAfter: number): boolean =>
  sinceFailure(statuses).filter((status) => status === "passed").length >= closeAfter

/** The statuses of a test since it failed last. */
export const sinceFailure = (statuses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const failed = lastFailure(statuses)
  return failed === -1 ? statuses : statuses.slice(0, failed)
}

/** Whether a test has failed, and not recovered since. */
export const isBroken = (statuses: ReadonlyArray<string>, closeAfter: number): boolean =>
  lastFailure(statuses) !== -1 && !hasRecovered(statuses, closeAfter)

const lastFailure = (statuses: ReadonlyArray<string>): number =>
  statuses.findIndex((status) => status === "failed" || status === "flaky")
