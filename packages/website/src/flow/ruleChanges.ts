import type { CreateTestRule, TestRule } from "@delivery/domain/flow/TestRule"

/** What a person changes of a test rule that others may change meanwhile. Pure. */

/** A rule as it is filled in. */
export type RulePayload = Required<CreateTestRule> & Pick<TestRule, "when">

const names = {
  product: "product",
  environment: "environment",
  branch: "branch",
  coverage: "selection of runs",
  when: "number of failures",
  team: "team",
  project: "project",
  owner: "owner",
  ask: "request to the agent",
  above: "number of tests that share a ticket",
  closeAfter: "number of runs that complete a ticket",
  completion: "completion of tickets"
} as const satisfies Record<keyof RulePayload, string>

const fields = Object.keys(names) as ReadonlyArray<keyof RulePayload>

const isSame = (one: RulePayload | TestRule, other: RulePayload | TestRule, field: keyof RulePayload): boolean =>
  field === "when"
    ? one.when.failures === other.when.failures && one.when.ofLast === other.when.ofLast
    : one[field] === other[field]

/** The fields that are filled in otherwise than the rule has them: all others stay as somebody else may have set them. */
export const changesOf = (rule: TestRule, mine: RulePayload): Partial<RulePayload> =>
  Object.fromEntries(fields.flatMap((field) => (isSame(rule, mine, field) ? [] : [[field, mine[field]]])))

/** The names of what somebody else has changed since `first`, and the person changes too, to something else. */
export const clashesOf = (first: TestRule, rule: TestRule, mine: RulePayload): ReadonlyArray<string> =>
  fields.flatMap((field) => (isSame(first, rule, field) || isSame(rule, mine, field) ? [] : [names[field]]))
