import { runRemarks } from "@delivery/domain/runs/RunRemarks"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { Badge } from "../ui/Badge.tsx"

const gate = {
  failed: [
    "failed for the gate",
    "A retry tested another release or address, or had uncommitted changes: what passed there does not count for the gate"
  ],
  passed: ["gate passes", "What failed was muted when the run started: it does not count for the gate"]
} as const

interface Props {
  readonly run: Pick<TestRunSummary, "counts" | "deploymentChanged" | "gateResult" | "partOfTests" | "result">
}

/** What a list says of a run beside its result: the gate where it says something else, and what it rests on. */
const RunMarks = ({ run }: Props) => {
  const { gateResult, result } = run
  const remarks = runRemarks(run)
  return (
    <>
      {gateResult !== result && gateResult !== null && (
        <Badge title={gate[gateResult][1]} tone={gateResult === "failed" ? "danger" : "warning"}>
          {gate[gateResult][0]}
        </Badge>
      )}
      {remarks.length > 0 && (
        <span className="text-warning shrink-[99] truncate text-xs" title={remarks.join(", ")}>
          {remarks.join(", ")}
        </span>
      )}
    </>
  )
}

export default RunMarks
