import type { TestRun } from "@delivery/domain/runs/TestRun"
import { gateText } from "./gate.ts"

/** What the gate of a run says where that is not its result, and the retry that may change it. */
const RunGate = ({ run }: { readonly run: TestRun }) => (
  <>
    <span className={`font-medium empty:hidden ${run.gateResult === "failed" ? "text-danger" : "text-warning"}`}>
      {gateText(run)}
    </span>
    {run.retries.at(-1)?.state === "running" && (
      <span className="text-muted">retry {run.retries.length} is running</span>
    )}
  </>
)

export default RunGate
