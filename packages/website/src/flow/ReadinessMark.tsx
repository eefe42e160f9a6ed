import { useQuery } from "@tanstack/react-query"
import { Icon } from "../ui/Icon.tsx"
import { counted, shortSha } from "../ui/format.ts"
import { readinessQuery, weigh } from "./readiness.ts"

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string
}

/** In the table of deployments: that something keeps the next version back, or is to be known of it. Quiet where nothing does. */
const ReadinessMark = ({ environment, product, slug }: Props) => {
  const { data } = useQuery({ ...readinessQuery(slug, product, environment), staleTime: 30_000 })
  if (data === undefined || data.version === null || data.reasons.length === 0) return null
  const { blocks, warnings } = weigh(data.reasons)
  const title = data.reasons
    .slice(0, 10)
    .map(({ message }) => message)
    .join("\n")
  return blocks > 0 ? (
    <span className="text-danger inline-flex items-center gap-1" title={title}>
      <Icon name="lock" size={12} />
      <span>
        <span className="font-mono text-xs">{shortSha(data.version)}</span> not ready
      </span>
    </span>
  ) : (
    <span className="text-warning inline-flex items-center gap-1" title={title}>
      <Icon name="warning" size={12} />
      <span>
        <span className="font-mono text-xs">{shortSha(data.version)}</span> {counted(warnings, "warning")}
      </span>
    </span>
  )
}

export default ReadinessMark
