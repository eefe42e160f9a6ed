import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import { shortSha } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { readinessQuery } from "./readiness.ts"
import { markOf, readyWords, startOf, weigh } from "./reasons.ts"

interface Props {
  readonly deployment: Deployment
  readonly slug: string
}

/** In one line: whether the next version may go out to the deployment. */
const ReadinessSummary = ({ deployment, slug }: Props) => {
  const { environment, product, version } = deployment
  const { data } = useQuery(readinessQuery(slug, product.slug, environment.slug))
  if (data === undefined) return null
  const { blocks, warnings } = weigh(data.reasons)
  const mark = markOf(data, version)
  const about = data.version === null || data.version === version ? "" : `${shortSha(data.version)} is `
  const [tone, icon, text] =
    blocks > 0 && mark !== undefined
      ? ([mark.tone, mark.icon, mark.text] as const)
      : warnings > 0 || mark !== undefined
        ? (["text-warning", "warning", readyWords(data)] as const)
        : ([data.requires.length === 0 ? "text-muted" : "text-success", "check", readyWords(data)] as const)
  const words = `${about}${text}`
  return (
    <Link
      className={`${tone} inline-flex items-center gap-1 hover:underline`}
      from="/w/$slug/deployments/$product/$environment"
      search={{ view: "readiness" }}
      to="."
    >
      <Icon name={icon} size={14} />
      {about === "" ? startOf(words) : words}
    </Link>
  )
}

export default ReadinessSummary
