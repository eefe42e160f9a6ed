import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { notCountedTexts, pendingTexts } from "@delivery/domain/flow/ReadinessRuns"
import { Icon } from "../ui/Icon.tsx"
import { shortSha } from "../ui/format.ts"
import { readinessQuery } from "./readiness.ts"
import { markOf, told } from "./reasons.ts"

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string
  /** The version that runs there. */
  readonly running: string | null
}

/** In the table of deployments: that something keeps the next version back, or is to be known of it. Quiet where nothing does. */
const ReadinessMark = ({ environment, product, running, slug }: Props) => {
  const { data } = useQuery({ ...readinessQuery(slug, product, environment), staleTime: 30_000 })
  if (data === undefined) return null
  const { version } = data
  const mark = markOf(data, running)
  // That no version is known here is said already.
  const isUnknown = running === null && version === null && data.reasons.every(({ kind }) => kind === "version_missing")
  if (mark === undefined || isUnknown) return null
  const title = [
    ...data.reasons.slice(0, 10).map(({ message }) => told(message, version)),
    ...data.runs.flatMap(pendingTexts),
    ...notCountedTexts(data)
  ].join("\n")
  return (
    <Link
      className={`${mark.tone} inline-flex items-center gap-1 hover:underline`}
      params={{ slug, product, environment }}
      search={{ view: "readiness" }}
      title={title}
      to="/w/$slug/deployments/$product/$environment"
    >
      <Icon name={mark.icon} size={12} />
      <span>
        {version !== null && <span className="font-mono text-xs">{shortSha(version)} </span>}
        {mark.text}
      </span>
    </Link>
  )
}

export default ReadinessMark
