import type { Deployment } from "@delivery/domain/catalog/Deployment"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { latestRunsQuery } from "../runs/queries.ts"
import type { RunFilters } from "../runs/filters.ts"
import { countsText } from "../runs/countsText.ts"
import { statusOf } from "../runs/status.ts"
import { TestedElsewhere } from "../runs/TestedElsewhere.tsx"
import { shortSha } from "../ui/format.ts"
import { Section } from "../ui/Section.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { environmentOrder } from "./environmentOrder.ts"
import { deploymentsQuery } from "./queries.ts"

/** What runs of a product or in an environment, and how its newest runs of tests went. */

const row = "border-border hover:bg-hover flex h-(--row) items-center gap-3 border-b px-4"

/** As wide as any: what stands before it is a column, too. */
const when = "text-muted shrink-0 text-right sm:w-20"

const most = 10

interface Props {
  readonly slug: string
  readonly isOf: (deployment: Deployment) => boolean
  /** What a row is called: the other part of the deployment. */
  readonly nameOf: (deployment: Deployment) => ReactNode
  readonly filters: RunFilters
}

export const Deployed = ({ filters, isOf, nameOf, slug }: Props) => {
  const { data } = useQuery(deploymentsQuery(slug))
  const { data: runs } = useQuery(latestRunsQuery(slug, filters))
  const deployments = data?.deployments
    .filter(isOf)
    .toSorted((a, b) => environmentOrder(a.environment, b.environment) || a.product.name.localeCompare(b.product.name))
  const newest = runs?.runs.slice(0, most)
  return (
    <>
      <Section isFlush title="Deployments">
        {deployments === undefined ? (
          <SkeletonRows rows={3} />
        ) : deployments.length === 0 ? (
          <p className="text-muted px-4 py-3">Nothing is deployed yet.</p>
        ) : (
          deployments.map((deployment) => (
            <Link
              className={row}
              key={deployment.id}
              params={{ slug, product: deployment.product.slug, environment: deployment.environment.slug }}
              to="/w/$slug/deployments/$product/$environment"
            >
              <span className="min-w-0 flex-1 truncate font-medium">{nameOf(deployment)}</span>
              <span className="text-muted foreign truncate font-mono text-xs">
                {deployment.version === null ? "unknown version" : shortSha(deployment.version)}
              </span>
              <span className={when}>
                <Time at={deployment.versionUpdatedAt} />
              </span>
            </Link>
          ))
        )}
      </Section>
      <Section
        actions={
          <Link className="text-muted hover:underline" params={{ slug }} search={filters} to="/w/$slug/test-runs">
            All runs
          </Link>
        }
        isFlush
        title="Newest runs"
      >
        {newest === undefined ? (
          <SkeletonRows rows={3} />
        ) : newest.length === 0 ? (
          <p className="text-muted px-4 py-3">No runs yet.</p>
        ) : (
          newest.map((run) => (
            <Link className={row} key={run.id} params={{ slug, run: String(run.number) }} to="/w/$slug/test-runs/$run">
              <StatusMark status={statusOf(run)} />
              <span className="text-muted tabular sm:min-w-11">#{run.number}</span>
              <span className="foreign min-w-0 flex-1 truncate">
                <TestedElsewhere run={run} />
                {run.git.subject}
              </span>
              {run.state !== "running" && (
                <span className={`tabular max-sm:hidden ${run.counts.failed > 0 ? "text-danger" : "text-muted"}`}>
                  {countsText(run.counts)}
                </span>
              )}
              <span className={when}>
                <Time at={run.startedAt} />
              </span>
            </Link>
          ))
        )}
      </Section>
    </>
  )
}
