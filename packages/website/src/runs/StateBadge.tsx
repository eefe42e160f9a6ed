import type { CaseState } from "@delivery/domain/runs/Case"
import { Badge, type Tone } from "../ui/Badge.tsx"

const tones: Readonly<Record<CaseState, Tone>> = {
  failing: "danger",
  flaky: "warning",
  slow: "warning",
  muted: "plain",
  passing: "success"
}

const meanings: Readonly<Record<CaseState, string>> = {
  failing: "Its newest result is a failure",
  passing: "Its newest result is no failure",
  flaky: "One of its results of 30 days was flaky",
  slow: "95 of 100 of its results take 10 s at least, and three times what half of the tests of the product take",
  muted: "Its failures do not count"
}

/** What a test is, over many runs. */
export const StateBadge = ({ state }: { readonly state: CaseState }) => (
  <Badge title={meanings[state]} tone={tones[state]}>
    {state}
  </Badge>
)
