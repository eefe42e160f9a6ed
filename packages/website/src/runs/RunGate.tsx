import { runRemarks } from "@delivery/domain/runs/RunRemarks"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { formatRate } from "../ui/rate.ts"
import { gateText } from "./gate.ts"

/** What the gate of a run says where that is not its result, the retry that may change it, what it rests on, and how many passed. */
const RunGate = ({ run }: { readonly run: TestRun }) => (
  <>
    <span className={`font-medium empty:hidden ${run.gateResult === "failed" ? "text-danger" : "text-warning"}`}>
      {gateText(run)}
    </span>
    {run.retries.at(-1)?.state === "running" && (
      <span className="text-muted">retry {run.retries.length} is running</span>
    )}
    {/* That the deployment changed stands beside its version. */}
    {runRemarks({ ...run, deploymentChanged: run.deploymentChanged && run.deploymentVersion === null }).map(
      (remark) => (
        <span className="text-warning" key={remark}>
          {remark}
        </span>
      )
    )}
    {run.passRate !== null && (run.result === run.gateResult || run.result === "failed") && (
      <span className="text-muted">{formatRate(run.passRate)} passed</span>
    )}
    {run.firstAttemptPassRate !== null && run.firstAttemptPassRate !== run.passRate && (
      <span className="text-muted">{formatRate(run.firstAttemptPassRate)} at the first attempt</span>
    )}
  </>
)

export default RunGate
