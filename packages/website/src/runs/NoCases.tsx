import { useNavigate } from "@tanstack/react-router"
import { serviceUrl } from "../api/client.ts"
import { Button } from "../ui/Button.tsx"
import { Empty } from "../ui/States.tsx"

/** In place of an empty list of tests: what fills it, or that a filter leaves nothing. */

const NoCases = ({
  isFiltered,
  product,
  slug
}: {
  readonly isFiltered: boolean
  readonly product: string
  readonly slug: string
}) => {
  const navigate = useNavigate()
  return isFiltered ? (
    <Empty
      action={
        <Button onClick={() => void navigate({ to: "/w/$slug/tests", params: { slug }, search: { product } })}>
          Clear the filters
        </Button>
      }
      icon="filter"
      title="No test matches these filters"
    />
  ) : (
    <Empty
      command={`export DELIVERY_URL=${serviceUrl} DELIVERY_WORKSPACE=${slug} DELIVERY_API_KEY=ctk_…\nnpx @delivery/cli runs publish results.xml --product ${product} --environment staging`}
      icon="runs"
      title="No finished run of this product has been counted yet"
    >
      Publish a run of its tests: how each of them does over time appears here.
    </Empty>
  )
}

export default NoCases
