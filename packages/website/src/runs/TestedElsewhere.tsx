import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { Icon } from "../ui/Icon.tsx"

interface Props {
  readonly run: Pick<TestRunSummary, "baseUrl" | "deploymentBaseUrl">
}

/** Marks a run of another address than the deployment's, such as a preview: how it went says nothing of the deployment. */
export const TestedElsewhere = ({ run }: Props) =>
  !testsDeployment(run) && (
    <span className="text-warning mr-1 inline-block align-middle" title={`Tested ${run.baseUrl}`}>
      <Icon name="external" size={12} />
      <span className="sr-only">Tested {run.baseUrl}: </span>
    </span>
  )
