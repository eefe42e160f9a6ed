import { Schema } from "effect"
import { atLeast, OneOf, Ref, Text } from "../Text.ts"
import { CaseStateFilter } from "./Case.ts"

/** What the lists of runs and of cases are filtered by: in their queries, and in filters that are saved. */

const text = Text(500).check(atLeast(1))

export const runFilters = {
  product: Schema.optionalKey(
    Ref.annotate({ description: "Only runs of this product, by slug or id.", examples: ["shop"] })
  ),
  environment: Schema.optionalKey(
    Ref.annotate({ description: "Only runs in this environment, by slug or id.", examples: ["staging"] })
  ),
  result: Schema.optionalKey(
    OneOf(["passed", "failed", "flaky"]).annotate({
      description:
        "Only runs with this `result`. One that passed and failed for the gate (`gateResult`) is among `passed`. `flaky` means finished runs with at least one flaky test."
    })
  ),
  q: Schema.optionalKey(
    text.annotate({
      description:
        "Only runs that match this text: part of the branch or of the commit subject, or the start of the commit SHA. Case does not matter.",
      examples: ["basket"]
    })
  ),
  commit: Schema.optionalKey(
    text.annotate({
      description: "Only runs of this commit, by its full SHA.",
      examples: ["9fceb02d0ae598e95dc970b74767f19372d61af8"]
    })
  ),
  mine: Schema.optionalKey(
    OneOf(["true", "false"]).annotate({
      description: "`true` for only the runs that you published.",
      default: "false"
    })
  ),
  latest: Schema.optionalKey(
    OneOf(["true", "false"]).annotate({
      description:
        "`true` for only the run that tells how a deployment fares, for each whose product and environment are not archived: of its 200 newest finished runs the newest 20 that tested it, and not another address, and of these the one that finished last. Runs that passed a part of the tests alone do not tell it where others ran all, and those in which nothing passed or failed never do where others did. With `result=failed`: what fails now.",
      default: "false"
    })
  )
}

export const caseFilters = {
  state: Schema.optionalKey(CaseStateFilter),
  environment: Schema.optionalKey(
    Ref.annotate({
      description: "Only runs in this environment, by slug or id. Without it, runs in all environments.",
      examples: ["staging"]
    })
  ),
  q: Schema.optionalKey(
    text.annotate({
      description: "Only cases that match this text: part of the title, the file or the case id. Case does not matter.",
      examples: ["card"]
    })
  )
}
