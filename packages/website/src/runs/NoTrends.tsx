import { useNavigate } from "@tanstack/react-router"
import { Button } from "../ui/Button.tsx"
import { Empty } from "../ui/States.tsx"
import { publishCommand } from "./publishCommand.ts"

interface Props {
  readonly days: number
  readonly environment: string | undefined
  readonly product: string
  readonly slug: string
}

/** In place of plots: what fills them. */
const NoTrends = ({ days, environment, product, slug }: Props) => {
  const navigate = useNavigate({ from: "/w/$slug/trends" })
  return (
    <Empty
      action={
        environment !== undefined && (
          <Button onClick={() => void navigate({ search: ({ environment: _, ...before }) => before, replace: true })}>
            Show every environment
          </Button>
        )
      }
      command={publishCommand(slug, product, environment)}
      icon="trends"
      title={`No run of this product finished in the last ${days} days`}
    >
      Publish a run of its tests: each day with one appears here. Or choose a longer time above.
    </Empty>
  )
}

export default NoTrends
