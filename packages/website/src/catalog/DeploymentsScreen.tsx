import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Secret } from "@delivery/domain/vault/Secret"
import { serviceUrl } from "../api/client.ts"
import { FailureView } from "../api/FailureView.tsx"
import { latestRunsQuery } from "../runs/queries.ts"
import { statusOf } from "../runs/status.ts"
import { Badge } from "../ui/Badge.tsx"
import { counted, shortSha } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { vaultQuery } from "../vault/queries.ts"
import { EnvironmentName } from "./EnvironmentName.tsx"
import { lastRun, matrixOf, missingSecrets } from "./matrix.ts"
import { deploymentsQuery } from "./queries.ts"

/** What runs where: products by environments. */

interface CellProps {
  readonly deployment: Deployment
  readonly slug: string
  readonly run: TestRunSummary | undefined
  readonly missing: ReadonlyArray<string>
}

const Cell = ({ deployment, missing, run, slug }: CellProps) => (
  <Link
    className="hover:bg-hover flex h-full min-h-15 flex-col justify-center gap-1 px-3 py-2"
    params={{ slug, product: deployment.product.slug, environment: deployment.environment.slug }}
    to="/w/$slug/deployments/$product/$environment"
  >
    <span className="flex items-center gap-2">
      {run !== undefined && <StatusMark size={14} status={statusOf(run)} />}
      <span
        className={`foreign truncate font-mono text-xs ${deployment.version === null ? "text-muted" : "font-medium"}`}
        title={deployment.version ?? undefined}
      >
        {deployment.version === null ? "unknown version" : shortSha(deployment.version)}
      </span>
      {!deployment.active && <Badge>archived</Badge>}
    </span>
    <span className="text-muted flex items-center gap-2 text-xs">
      <Time at={deployment.versionUpdatedAt} />
      {missing.length > 0 && (
        <span className="text-warning inline-flex items-center gap-1" title={missing.slice(0, 20).join(", ")}>
          <Icon name="warning" size={12} />
          {counted(missing.length, "secret")} missing
        </span>
      )}
    </span>
  </Link>
)

interface MatrixProps {
  readonly deployments: ReadonlyArray<Deployment>
  readonly runs: ReadonlyArray<TestRunSummary>
  readonly secrets: ReadonlyArray<Secret>
  readonly slug: string
}

const Matrix = ({ deployments, runs, secrets, slug }: MatrixProps) => {
  const { columns, rows } = matrixOf(deployments)
  return (
    <div className="relative overflow-x-auto" role="region" aria-label="Deployments" tabIndex={0}>
      <table className="w-full border-collapse text-left">
        <thead>
          <tr className="border-border border-b">
            <th className="bg-surface text-muted sticky left-0 z-10 px-4 py-2 font-medium" scope="col">
              Product
            </th>
            {columns.map((column) => (
              <th
                className="border-border text-muted min-w-44 border-l px-3 py-2 font-medium"
                key={column.slug}
                scope="col"
              >
                <EnvironmentName environment={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ cells, product }) => (
            <tr className="border-border border-b" key={product.slug}>
              <th className="bg-surface sticky left-0 z-10 max-w-32 px-4 font-medium sm:max-w-60" scope="row">
                <span className="foreign block truncate" title={product.name}>
                  {product.name}
                </span>
                <span className="text-muted text-xs font-normal">{product.type}</span>
              </th>
              {cells.map((cell, index) => (
                <td className="border-border h-px border-l p-0" key={columns[index]!.slug}>
                  {cell === undefined ? (
                    <span className="text-faint px-3">not deployed</span>
                  ) : (
                    <Cell
                      deployment={cell}
                      missing={missingSecrets(secrets, product.slug, cell.environment.slug)}
                      run={lastRun(runs, product.slug, cell.environment.slug)}
                      slug={slug}
                    />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const command = (slug: string) => `curl -X POST ${serviceUrl}/v1/workspaces/${slug}/deployments \\
  -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" \\
  -d '{"product": "shop", "environment": "staging", "baseUrl": "https://staging.shop.example.com"}'`

const DeploymentsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/deployments" })
  const { data, error, refetch } = useQuery(deploymentsQuery(slug))
  const { data: runs } = useQuery(latestRunsQuery(slug))
  const { data: vault } = useQuery(vaultQuery(slug))
  return (
    <>
      <Header crumbs={[]} title="Deployments" />
      {data === undefined ? (
        error === null ? (
          <SkeletonRows rows={8} />
        ) : (
          <FailureView error={error} onRetry={() => void refetch()} />
        )
      ) : data.deployments.length === 0 ? (
        <Empty command={command(slug)} icon="deployments" title="Which version runs where appears here">
          Say of a product in which environment it runs. Products and environments come first: see the API description.
        </Empty>
      ) : (
        <Matrix deployments={data.deployments} runs={runs?.runs ?? []} secrets={vault?.secrets ?? []} slug={slug} />
      )}
    </>
  )
}

export default DeploymentsScreen
