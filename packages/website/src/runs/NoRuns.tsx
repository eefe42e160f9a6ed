import { useNavigate } from "@tanstack/react-router"
import { serviceUrl } from "../api/client.ts"
import { Button } from "../ui/Button.tsx"
import { Empty } from "../ui/States.tsx"
import { isFiltered, type RunFilters } from "./filters.ts"

/** In place of the list of runs: why it is empty. */
const NoRuns = ({ filters, slug }: { readonly filters: RunFilters; readonly slug: string }) => {
  const navigate = useNavigate()
  return isFiltered(filters) ? (
    <Empty
      action={
        <Button onClick={() => void navigate({ to: "/w/$slug/test-runs", params: { slug }, search: {} })}>
          Clear the filters
        </Button>
      }
      icon="filter"
      title="No run matches these filters"
    />
  ) : (
    <Empty
      command={`export DELIVERY_URL=${serviceUrl} DELIVERY_WORKSPACE=${slug} DELIVERY_API_KEY=ctk_…\nnpx @delivery/cli runs publish results.xml --product shop --environment staging`}
      icon="runs"
      title="Runs of browser tests appear here"
    >
      Publish one from Playwright, or from the results of any tool that writes JUnit XML.
    </Empty>
  )
}

export default NoRuns
