import { useNavigate } from "@tanstack/react-router"
import { Button } from "../ui/Button.tsx"
import { Empty } from "../ui/States.tsx"
import { publishCommand } from "./publishCommand.ts"

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
      command={publishCommand(slug, product)}
      icon="runs"
      title="No finished run of this product has been counted yet"
    >
      Publish a run of its tests: how each of them does over time appears here.
    </Empty>
  )
}

export default NoCases
