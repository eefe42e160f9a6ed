import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { Environment } from "@delivery/domain/catalog/Environment"
import type { Product } from "@delivery/domain/catalog/Product"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Secret } from "@delivery/domain/vault/Secret"
import { type CSSProperties, useState } from "react"
import { serviceUrl } from "../api/client.ts"
import { FailureView } from "../api/FailureView.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { deploymentRunsQuery, latestRunsQuery } from "../runs/queries.ts"
import { statusOf } from "../runs/status.ts"
import { Badge } from "../ui/Badge.tsx"
import { counted, shortSha } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { later } from "../ui/later.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { vaultQuery } from "../vault/queries.ts"
import { CatalogActions } from "./CatalogActions.tsx"
import { EnvironmentName } from "./EnvironmentName.tsx"
import { type Column, lastRun, matrixOf, missingSecrets } from "./matrix.ts"
import { deploymentsQuery, environmentsQuery, productsQuery } from "./queries.ts"
import { useMatrixKeys } from "./useMatrixKeys.ts"

/** What runs where: products by environments. */

const CatalogMenu = later(() => import("./CatalogMenu.tsx"))
const EnvironmentLink = later(() => import("./EnvironmentLink.tsx"), EnvironmentName)
const ReadinessMark = later(() => import("../flow/ReadinessMark.tsx"))
const DeploymentDialog = later(() => import("./DeploymentDialog.tsx"))

/** Of more deployments than these, only those in production are asked whether something keeps the next version back. */
const mostWeighed = 40

interface CellProps {
  readonly deployment: Deployment
  readonly slug: string
  readonly run: TestRunSummary | undefined
  readonly missing: ReadonlyArray<string>
  readonly isWeighed: boolean
}

/** What runs there, for the whole cell; what is to be known of it leads to where that is told. */
const Cell = ({ deployment, isWeighed, missing, run, slug }: CellProps) => (
  <span className="hover:bg-hover relative flex h-full min-h-15 min-w-0 flex-1 flex-col max-sm:min-h-12 justify-center gap-1 px-3 py-2">
    <Link
      className="flex flex-wrap items-center gap-x-2 after:absolute after:inset-0"
      params={{ slug, product: deployment.product.slug, environment: deployment.environment.slug }}
      to="/w/$slug/deployments/$product/$environment"
    >
      {run !== undefined && <StatusMark size={14} status={statusOf(run)} />}
      <span
        className={`foreign truncate font-mono text-xs ${deployment.version === null ? "text-muted" : "font-medium"}`}
        title={deployment.version ?? undefined}
      >
        {deployment.version === null ? "unknown version" : shortSha(deployment.version)}
      </span>
      {!deployment.active && <Badge>archived</Badge>}
      <span className="text-muted text-xs">
        <Time at={deployment.versionUpdatedAt} />
      </span>
    </Link>
    <span className="relative z-1 flex w-fit flex-wrap items-center gap-x-2 gap-y-0.5 text-xs empty:hidden">
      {missing.length > 0 && (
        <Link
          className="text-warning inline-flex items-center gap-1 whitespace-nowrap hover:underline"
          params={{ slug }}
          search={{ product: deployment.product.slug, only: "missing" }}
          title={missing.slice(0, 20).join(", ")}
          to="/w/$slug/vault"
        >
          <Icon name="warning" size={12} />
          {counted(missing.length, "secret")} missing
        </Link>
      )}
      {isWeighed && deployment.active && (
        <ReadinessMark
          environment={deployment.environment.slug}
          product={deployment.product.slug}
          running={deployment.version}
          slug={slug}
        />
      )}
    </span>
  </span>
)

interface NoCellProps {
  readonly slug: string
  readonly product: Deployment["product"]
  readonly environment: Column
  readonly mayAdd: boolean
}

/** Where a product does not run yet, and whoever may says that it does. */
const NoCell = ({ environment, mayAdd, product, slug }: NoCellProps) => {
  const [isAdding, setAdding] = useState(false)
  if (!mayAdd) return <span className="text-faint px-3">not deployed</span>
  return (
    <>
      <button
        aria-label={`${product.name} in ${environment.name}: not deployed, add it`}
        className="text-faint hover:bg-hover hover:text-text flex h-full min-h-15 w-full items-center gap-1.5 px-3 text-left max-sm:min-h-9"
        onClick={() => setAdding(true)}
        type="button"
      >
        <Icon name="plus" size={12} />
        not deployed
      </button>
      {isAdding && (
        <DeploymentDialog environment={environment} onClose={() => setAdding(false)} product={product} slug={slug} />
      )}
    </>
  )
}

interface MatrixProps {
  readonly deployments: ReadonlyArray<Deployment>
  readonly products: ReadonlyArray<Product>
  readonly environments: ReadonlyArray<Environment>
  readonly runs: ReadonlyArray<TestRunSummary>
  readonly secrets: ReadonlyArray<Secret>
  readonly slug: string
}

/** Production stays in sight, however many environments stand before it. */
const keptClass = (columns: ReadonlyArray<{ readonly class: string }>, index: number): string =>
  index > 1 && index === columns.length - 1 && columns[index]!.class === "production"
    ? "bg-surface sm:sticky sm:right-0 sm:z-10"
    : ""

const Matrix = ({ deployments, environments, products, runs, secrets, slug }: MatrixProps) => {
  const { columns, rows } = matrixOf(deployments, products, environments)
  const role = useRole(slug)
  const [mayAdd, mayManage] = [mayAct(role, "member"), mayAct(role, "admin")]
  const table = useMatrixKeys(mayAdd)
  const menuOf = (subject: Product | Environment | undefined) =>
    mayManage && subject !== undefined && <CatalogMenu slug={slug} subject={subject} />
  return (
    <div className="relative overflow-x-auto" role="region" aria-label="Deployments" tabIndex={0}>
      {/* Every column as wide as the others, so that none moves when readiness is known. */}
      <table
        className="w-full table-fixed border-collapse text-left max-sm:block sm:min-w-(--least)"
        ref={table}
        style={{ "--least": `${columns.length * 11 + 8}rem` } as CSSProperties}
      >
        <thead className="max-sm:hidden">
          <tr className="border-border border-b">
            <th className="bg-surface text-muted sticky left-0 z-10 w-32 px-4 py-2 font-medium sm:w-60" scope="col">
              Product
            </th>
            {columns.map((column, index) => (
              <th
                className={`border-border text-muted border-l px-3 py-2 font-medium ${keptClass(columns, index)}`}
                key={column.slug}
                scope="col"
              >
                <span className="flex items-center justify-between gap-2">
                  <EnvironmentLink environment={column} slug={slug} />
                  {menuOf(environments.find((one) => one.slug === column.slug))}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        {/* Without room for columns: below each product what runs where, in the order of the columns. */}
        <tbody className="max-sm:block">
          {rows.map(({ cells, product }) => (
            <tr className="border-border border-b max-sm:flex max-sm:flex-col" key={product.slug}>
              <th
                className="bg-surface max-sm:bg-sunken sticky left-0 z-10 px-4 font-medium max-sm:static max-sm:py-1"
                scope="row"
              >
                <span className="flex items-center justify-between gap-2">
                  <span className="min-w-0 max-sm:flex max-sm:items-baseline max-sm:gap-2">
                    <span className="foreign block truncate" title={product.name}>
                      {product.name}
                    </span>
                    <span className="text-muted text-xs font-normal">{product.type}</span>
                  </span>
                  {menuOf(products.find((one) => one.slug === product.slug))}
                </span>
              </th>
              {cells.map((cell, index) => (
                <td
                  className={`border-border h-px border-l p-0 max-sm:flex max-sm:h-auto max-sm:items-center max-sm:border-t max-sm:border-l-0 ${keptClass(columns, index)}`}
                  key={columns[index]!.slug}
                >
                  <span className="text-muted w-38 shrink-0 pl-4 sm:hidden">
                    <EnvironmentLink environment={columns[index]!} slug={slug} />
                  </span>
                  {cell === undefined ? (
                    <NoCell environment={columns[index]!} mayAdd={mayAdd} product={product} slug={slug} />
                  ) : (
                    <Cell
                      deployment={cell}
                      isWeighed={deployments.length <= mostWeighed || cell.environment.class === "production"}
                      missing={missingSecrets(secrets, product.slug, cell.environment.slug)}
                      run={lastRun(runs, cell)}
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

const command = (slug: string) => `curl -X POST ${serviceUrl}/v1/workspaces/${slug}/products \\
  -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" \\
  -d '{"slug": "shop", "name": "Shop", "type": "website"}'`

const DeploymentsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/deployments" })
  const deployments = useQuery(deploymentsQuery(slug))
  const products = useQuery(productsQuery(slug))
  const environments = useQuery(environmentsQuery(slug))
  const { data: latest } = useQuery(latestRunsQuery(slug))
  const { data: ofDeployments = [] } = useQuery(deploymentRunsQuery(slug))
  const { data: vault } = useQuery(vaultQuery(slug))
  const failed = [deployments, products, environments].find(({ error }) => error !== null)
  const mayManage = mayAct(useRole(slug), "admin")
  return (
    <>
      <Header actions={mayManage && <CatalogActions slug={slug} />} crumbs={[]} title="Deployments" />
      {deployments.data === undefined || products.data === undefined || environments.data === undefined ? (
        failed === undefined ? (
          <SkeletonRows rows={8} />
        ) : (
          <FailureView error={failed.error} onRetry={() => void failed.refetch()} />
        )
      ) : products.data.products.length + environments.data.environments.length === 0 ? (
        <Empty command={command(slug)} icon="deployments" title="Which version runs where appears here">
          {mayManage
            ? "Add what you ship, then the environments that it runs in. A script can do the same:"
            : "An admin adds what you ship, and the environments that it runs in."}
        </Empty>
      ) : (
        <Matrix
          deployments={deployments.data.deployments}
          environments={environments.data.environments}
          products={products.data.products}
          runs={[...(latest?.runs ?? []), ...ofDeployments]}
          secrets={vault?.secrets ?? []}
          slug={slug}
        />
      )}
    </>
  )
}

export default DeploymentsScreen
