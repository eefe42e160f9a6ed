import { runRemarks } from "@delivery/domain/runs/RunRemarks"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { gateText } from "./gate.ts"

/** What the gate of a run says where that is not its result, the retry that may change it, and what it rests on. */
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
  </>
)

export default RunGate
