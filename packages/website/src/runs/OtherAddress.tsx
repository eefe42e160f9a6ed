import type { TestRun } from "@delivery/domain/runs/TestRun"
import { Badge } from "../ui/Badge.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Truncated } from "../ui/Truncated.tsx"

/** The address that a run tested in place of the deployment's, such as that of a preview. */
const OtherAddress = ({ run }: { readonly run: Pick<TestRun, "baseUrl" | "deploymentBaseUrl"> }) => (
  <span className="text-muted inline-flex max-w-full min-w-0 items-center gap-1.5">
    <Icon name="external" size={14} />
    <Truncated text={run.baseUrl} />
    <Badge title={`The address of the deployment is ${run.deploymentBaseUrl}`} tone="warning">
      another address
    </Badge>
  </span>
)

export default OtherAddress
