import { Schema } from "effect"
import { Exact } from "../Body.ts"
import { Coverage } from "../runs/TestEntry.ts"
import { Name, OneOf, Ref, undocumented } from "../Text.ts"
import { Timestamp, TimestampInput } from "../Timestamp.ts"

const meaning =
  "`block`: the deployment is not ready while there is such a reason. `warn`: it is told, and keeps nothing back."

const Weight = OneOf(["block", "warn"])

/** How much a reason weighs. */
export const Severity = Weight.annotate({
  identifier: "Severity",
  description: meaning,
  examples: ["block"]
})
export type Severity = typeof Severity.Type

const Setting = OneOf(["block", "warn", "off"])

/** How much reasons of a kind weigh, or that nobody looks for them. */
export type ReasonSetting = typeof Setting.Type

const setting = (what: string) => Setting.annotate({ description: `${what} ${meaning} \`off\`: nobody looks.` })

/** How many freeze windows a policy has, at most. */
export const maxFreezes = 100

const whatTickets = "Open tickets with `blocks: true` in projects of the product."
const whatSecrets = "Secrets that have a value in the environment of `from`, and none in this one."
const whatDrift = "Secrets that changed since the product loaded them."
const whatMutes = "Muted tests of the product past their time."
const whatRequires =
  "Of which coverages a run of the version must have passed in the environment of `from`, or in any other one where there is no `from`. The newest finished run of each decides."
const whatFrom =
  "The environment that versions come from, by slug. What the deployment lacks is told beside it, and its version is the one that may go out unless a request names another."
const whatFreezes = "When nothing may go out: from `from` on, before `to`."

/** What must hold before a version may go out to a deployment (docs/contract.md, Readiness). */
export const ReadinessPolicy = Schema.Struct({
  from: Schema.NullOr(Schema.String).annotate({ description: `${whatFrom} Null for none.` }),
  requires: Schema.Array(Schema.Struct({ coverage: Coverage, severity: Severity })).annotate({
    description: whatRequires
  }),
  tickets: setting(whatTickets),
  secrets: setting(whatSecrets),
  drift: setting(whatDrift),
  mutes: setting(whatMutes),
  freezes: Schema.Array(Schema.Struct({ from: Timestamp, to: Timestamp, reason: Schema.String })).annotate({
    description: `${whatFreezes} By their beginning.`
  })
}).annotate({
  identifier: "ReadinessPolicy",
  description: "What must hold before a version may go out to the deployment.",
  examples: [
    {
      from: "staging",
      requires: [
        { coverage: "critical", severity: "block" },
        { coverage: "regression", severity: "warn" }
      ],
      tickets: "block",
      secrets: "block",
      drift: "warn",
      mutes: "warn",
      freezes: [{ from: "2026-12-23T00:00:00.000Z", to: "2027-01-02T00:00:00.000Z", reason: "Holidays" }]
    }
  ]
})
export type ReadinessPolicy = typeof ReadinessPolicy.Type

/** What holds where nobody has set a policy. */
export const defaultPolicy: ReadinessPolicy = {
  from: null,
  requires: [],
  tickets: "block",
  secrets: "warn",
  drift: "warn",
  mutes: "warn",
  freezes: []
}

const settingOr = (what: string, value: ReasonSetting) => Schema.optionalKey(setting(what).annotate({ default: value }))

const Freeze = Exact({ from: TimestampInput, to: TimestampInput, reason: Name(200) }).check(
  Schema.makeFilter<{ readonly from: string; readonly to: string }>(
    ({ from, to }) => Date.parse(from) < Date.parse(to) || { path: ["to"], issue: "Expected a time after from" },
    { toJsonSchema: undocumented }
  )
)

export const SetReadinessPolicy = Exact({
  from: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({ description: `${whatFrom} Also by id. Null, or left out, for none.` })
  ),
  requires: Schema.optionalKey(
    Schema.Array(
      Exact({
        coverage: Coverage,
        severity: Schema.optionalKey(Weight.annotate({ description: meaning, default: "block" }))
      })
    )
      .check(
        Schema.makeFilter<ReadonlyArray<{ readonly coverage: Coverage }>>(
          (requires) =>
            new Set(requires.map(({ coverage }) => coverage)).size === requires.length || "Expected each coverage once",
          { toJsonSchema: undocumented }
        )
      )
      .annotate({ description: `${whatRequires} By default none.` })
  ),
  tickets: settingOr(whatTickets, defaultPolicy.tickets),
  secrets: settingOr(whatSecrets, defaultPolicy.secrets),
  drift: settingOr(whatDrift, defaultPolicy.drift),
  mutes: settingOr(whatMutes, defaultPolicy.mutes),
  freezes: Schema.optionalKey(
    Schema.Array(Freeze)
      .check(Schema.isMaxLength(maxFreezes, { message: `Expected at most ${maxFreezes} windows` }))
      .annotate({ description: `${whatFreezes} At most ${maxFreezes}; by default none.` })
  ),
  expected: Schema.optionalKey(ReadinessPolicy)
}).annotate({
  identifier: "SetReadinessPolicy",
  description: "The whole policy: what is left out gets its default. `expected` is the policy that was read before.",
  examples: [
    {
      from: "staging",
      requires: [{ coverage: "critical" }, { coverage: "regression", severity: "warn" }],
      secrets: "block",
      freezes: [{ from: "2026-12-23T00:00:00Z", to: "2027-01-02T00:00:00Z", reason: "Holidays" }]
    }
  ]
})
export type SetReadinessPolicy = typeof SetReadinessPolicy.Type
