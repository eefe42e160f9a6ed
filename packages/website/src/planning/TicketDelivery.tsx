import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { TestedElsewhere } from "../runs/TestedElsewhere.tsx"
import { shortSha } from "../ui/format.ts"
import { Section } from "../ui/Section.tsx"
import { Time } from "../ui/Time.tsx"
import { traceQuery } from "./activityQueries.ts"

/** What became of a ticket: its commits, where they run, and the runs that tested them. In one sentence, then each. */

const mostLines = 10

const lineClass = "border-border flex min-h-(--row) flex-wrap items-center gap-x-2 border-b px-4 py-1"

export const TicketDelivery = ({ slug, ticket }: { readonly slug: string; readonly ticket: string }) => {
  const { data } = useQuery(traceQuery(slug, ticket))
  if (data === undefined || (data.commits.length === 0 && data.releases.length === 0 && data.runs.length === 0))
    return null
  return (
    <Section isFlush title="Delivery">
      <p className={`foreign ${lineClass} font-medium`}>{data.text}</p>
      <ul>
        {data.releases
          .toReversed()
          .slice(0, mostLines)
          .map(({ at, environment, number, product, version }) => (
            <li className={lineClass} key={`${product.id} ${environment.id} ${number}`}>
              <span className="text-muted w-20 shrink-0">Release</span>
              <Link
                className="foreign min-w-0 truncate hover:underline"
                params={{ slug, product: product.slug, environment: environment.slug }}
                to="/w/$slug/deployments/$product/$environment"
              >
                {product.name} in {environment.name}
              </Link>
              <span className="text-muted flex-1 font-mono text-xs">{shortSha(version)}</span>
              <span className="text-muted">
                <Time at={at} />
              </span>
            </li>
          ))}
        {data.runs.slice(0, mostLines).map((run) => (
          <li className={lineClass} key={run.id}>
            <span className="text-muted w-20 shrink-0">Run</span>
            <Link
              className="foreign min-w-0 flex-1 truncate hover:underline"
              params={{ slug, run: String(run.number) }}
              to="/w/$slug/test-runs/$run"
            >
              <TestedElsewhere run={run} />#{run.number} {run.result ?? run.state} · {run.product.name} in{" "}
              {run.environment.name}
            </Link>
            <span className="text-muted">
              <Time at={run.startedAt} />
            </span>
          </li>
        ))}
        {data.commits.slice(0, mostLines).map(({ product, sha, subject }) => (
          <li className={lineClass} key={`${product.id} ${sha}`}>
            <span className="text-muted w-20 shrink-0">Commit</span>
            <span className="font-mono text-xs">{shortSha(sha)}</span>
            <span className="foreign min-w-0 flex-1 truncate">{subject}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
