import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { Badge } from "../ui/Badge.tsx"

/** What the gate says of a run in a list where its result says something else. */
const RunMarks = ({ run }: { readonly run: Pick<TestRunSummary, "gateResult"> }) => (
  <Badge
    title={
      run.gateResult === "failed"
        ? "A retry tested another release or address, or had uncommitted changes: what passed there does not count for the gate"
        : "What failed was muted when the run started: it does not count for the gate"
    }
    tone={run.gateResult === "failed" ? "danger" : "warning"}
  >
    {run.gateResult === "failed" ? "failed for the gate" : "gate passes"}
  </Badge>
)

export default RunMarks
