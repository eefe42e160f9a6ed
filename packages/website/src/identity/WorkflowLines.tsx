import { useQuery } from "@tanstack/react-query"
import { serviceUrl } from "../api/client.ts"
import { environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Ways } from "../ui/Ways.tsx"
import { workflowWays } from "./workflowLines.ts"

interface Props {
  readonly slug: string
  readonly issuer?: string
  readonly onClose: () => void
}

/** The lines for the workflow, with this service, this workspace, and its first product. */
const WorkflowLines = ({ issuer, onClose, slug }: Props) => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  const environment =
    environments?.environments.find((one) => one.class !== "production") ?? environments?.environments[0]
  const target = {
    serviceUrl,
    slug,
    product: products?.products[0]?.slug ?? "shop",
    environment: environment?.slug ?? "staging"
  }
  return (
    <Dialog
      description="No key is stored in the CI: the job shows who it is, and gets a key for 15 minutes. Change product and environment to yours."
      isWide
      onClose={onClose}
      title="Lines for the workflow"
    >
      <Ways label="The CI" ways={workflowWays(target, issuer)} />
    </Dialog>
  )
}

export default WorkflowLines
