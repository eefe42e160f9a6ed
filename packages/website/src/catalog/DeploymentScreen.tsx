import { useQuery } from "@tanstack/react-query"
import { Link, useParams, useSearch } from "@tanstack/react-router"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import { verdictText, warnedText } from "@delivery/domain/catalog/KeptBack"
import type { Release } from "@delivery/domain/releases/Release"
import { Fragment, useState } from "react"
import { actorName } from "../api/actors.ts"
import { FailureView } from "../api/FailureView.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { latestRunsQuery } from "../runs/queries.ts"
import { statusOf } from "../runs/status.ts"
import { TestedElsewhere } from "../runs/TestedElsewhere.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Copyable } from "../ui/Copy.tsx"
import { formatDuration } from "../ui/duration.ts"
import { counted, shortSha } from "../ui/format.ts"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { later } from "../ui/later.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Elapsed } from "../ui/Elapsed.tsx"
import { Time } from "../ui/Time.tsx"
import { vaultQuery } from "../vault/queries.ts"
import { EnvironmentName } from "./EnvironmentName.tsx"
import { environmentOrder } from "./environmentOrder.ts"
import { missingSecrets } from "./matrix.ts"
import { deploymentQuery, deploymentsQuery, releasesQuery } from "./queries.ts"

/** A product in an environment: what runs, since when, what is missing, and what ran before. */

const SetVersion = later(() => import("./SetVersion.tsx"))
const CompareDeployments = later(
  () => import("./CompareDeployments.tsx"),
  () => <SkeletonRows rows={3} />
)
const DeploymentReadiness = later(
  () => import("../flow/DeploymentReadiness.tsx"),
  () => <SkeletonRows rows={4} />
)
const ReadinessSummary = later(() => import("../flow/ReadinessSummary.tsx"))
const DeploymentTokens = later(
  () => import("../deploy/DeploymentTokens.tsx"),
  () => <SkeletonRows rows={3} />
)

interface Props {
  readonly deployment: Deployment
  readonly slug: string
}

const Elsewhere = ({ deployment, slug }: Props) => {
  const { data } = useQuery(deploymentsQuery(slug))
  const others = (data?.deployments ?? [])
    .filter((one) => one.product.slug === deployment.product.slug && one.id !== deployment.id)
    .toSorted((a, b) => environmentOrder(a.environment, b.environment))
  if (others.length === 0) return null
  return (
    <section aria-label="In other environments">
      <h2 className="text-muted px-4 pt-4 pb-1 text-xs font-medium">In other environments</h2>
      <ul>
        {others.map((one) => (
          <li key={one.id}>
            <Link
              className="hover:bg-hover border-border flex h-(--row) items-center gap-2 border-b px-4"
              params={{ slug, product: one.product.slug, environment: one.environment.slug }}
              to="/w/$slug/deployments/$product/$environment"
            >
              <EnvironmentName environment={one.environment} />
              <span className="flex-1" />
              <span className="truncate font-mono text-xs">
                {one.version === null ? "unknown" : shortSha(one.version)}
              </span>
              {/* Of two that are unknown nobody can say. */}
              {one.version !== null && deployment.version !== null && (
                <Badge tone={one.version === deployment.version ? "success" : "plain"}>
                  {one.version === deployment.version ? "same" : "other"}
                </Badge>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

const Runs = ({ deployment, slug }: Props) => {
  const { environment, product } = deployment
  const { data } = useQuery(latestRunsQuery(slug, { product: product.slug, environment: environment.slug }))
  const runs = data?.runs ?? []
  return (
    <section aria-label="Newest runs">
      <h2 className="text-muted px-4 pt-4 pb-1 text-xs font-medium">Newest runs</h2>
      {data === undefined ? (
        <SkeletonRows rows={6} />
      ) : (
        runs.length === 0 && <p className="text-muted px-4">No run has tested it in {environment.name} yet.</p>
      )}
      <ul>
        {runs.slice(0, 6).map((run) => (
          <li key={run.id}>
            <Link
              className="hover:bg-hover border-border flex h-(--row) items-center gap-2 border-b px-4"
              params={{ slug, run: String(run.number) }}
              to="/w/$slug/test-runs/$run"
            >
              <StatusMark size={14} status={statusOf(run)} />
              <span className="tabular">#{run.number}</span>
              <span className="foreign text-muted min-w-0 flex-1 truncate">
                <TestedElsewhere run={run} />
                {run.git.subject}
              </span>
              <span className={run.state === "running" ? "text-info tabular" : "text-muted tabular"}>
                {run.state === "running" ? <Elapsed since={run.startedAt} /> : formatDuration(run.durationMs)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <Link
        className="text-accent block px-4 pt-2 hover:underline"
        params={{ slug }}
        search={{ product: deployment.product.slug, environment: deployment.environment.slug }}
        to="/w/$slug/test-runs"
      >
        All its runs
      </Link>
    </section>
  )
}

/** Whether its only commit is what its version says. */
const isOfOneCommit = ({ commits: [first, ...rest], version }: Release): boolean =>
  version !== null && rest.length === 0 && first?.sha.startsWith(version) === true

interface JudgedProps {
  readonly readiness: NonNullable<Release["readiness"]>
  readonly slug: string
}

/** What readiness said of it, and the runs that decided: of a policy that warns only, there may be none. */
const Judged = ({ readiness, slug }: JudgedProps) => {
  const warned = warnedText(readiness)
  return (
    <>
      {!readiness.ready && <Badge tone="danger">{verdictText(readiness)}</Badge>}
      {readiness.ready &&
        (readiness.requires.length === 0 ? (
          <span className="text-warning">{verdictText(readiness)}</span>
        ) : (
          <span className="text-success" title="By the policy of then">
            {verdictText(readiness)}
          </span>
        ))}
      {warned !== undefined && <span className="text-warning">{warned}</span>}
      {readiness.runs.map((run) => (
        <Link
          className="text-muted tabular hover:underline"
          key={run}
          params={{ slug, run: String(run) }}
          title="It decided whether the version was ready"
          to="/w/$slug/test-runs/$run"
        >
          run {run}
        </Link>
      ))}
    </>
  )
}

/** That nobody can say whether it was ready. */
const NotJudged = () => (
  <span className="text-muted" title="There was no policy then, or it could not be told in time">
    not judged
  </span>
)

interface ReleaseRowProps {
  readonly release: Release
  /** Whether others beside it were judged: else no word is needed for what was not. */
  readonly areJudged: boolean
  readonly slug: string
}

const ReleaseRow = ({ areJudged, release, slug }: ReleaseRowProps) => (
  <li className="border-border flex flex-col gap-1 border-b px-4 py-2">
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="text-muted tabular w-8">#{release.number}</span>
      {release.version === null ? (
        <span className="text-muted">version cleared</span>
      ) : (
        <Copyable label="Copy the version" shown={shortSha(release.version)} text={release.version} />
      )}
      {release.readiness !== null ? (
        <Judged readiness={release.readiness} slug={slug} />
      ) : (
        areJudged && release.version !== null && <NotJudged />
      )}
      {release.rolledBackTo !== null && <Badge tone="warning">back to release {release.rolledBackTo}</Badge>}
      {release.runs.failed > 0 && <span className="text-danger">{counted(release.runs.failed, "run")} failed</span>}
      {release.runs.passed > 0 && <span className="text-success">{counted(release.runs.passed, "run")} passed</span>}
      <span className="text-muted ml-auto flex min-w-0 gap-3">
        <span className="truncate">{actorName(release.by)}</span>
        <span className="shrink-0">
          <Time at={release.at} />
        </span>
      </span>
    </p>
    {release.override !== null && (
      <p className="text-warning flex items-baseline gap-2 pl-11">
        <Icon name="warning" size={12} />
        <span className="foreign min-w-0 break-words">Override: {release.override}</span>
      </p>
    )}
    {release.commits.length > 0 && (
      <ul className="text-muted flex flex-col gap-0.5 pl-11">
        {release.commits.slice(0, 10).map((commit) => (
          <li className="flex min-w-0 items-baseline gap-2" key={commit.sha}>
            {!isOfOneCommit(release) && <span className="shrink-0 font-mono text-xs">{shortSha(commit.sha)}</span>}
            <span className="foreign truncate">{commit.subject}</span>
          </li>
        ))}
        {release.commits.length > 10 && <li>and {counted(release.commits.length - 10, "more commit")}</li>}
      </ul>
    )}
  </li>
)

const History = ({ deployment, slug }: Props) => {
  const { data, error, refetch } = useQuery(releasesQuery(slug, deployment.product.slug, deployment.environment.slug))
  if (error !== null && data === undefined) return <FailureView error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={6} />
  if (data.releases.length === 0) {
    return (
      <Empty
        command={`npx @delivery/cli deployments set-version $(git rev-parse HEAD) --product ${deployment.product.slug} --environment ${deployment.environment.slug}`}
        icon="deployments"
        title="No release yet"
      >
        Say in your deployment script which version runs. Each change is a release here.
      </Empty>
    )
  }
  const areJudged = data.releases.some(({ readiness }) => readiness !== null)
  return (
    <ol aria-label="Releases">
      {data.releases.map((release, index) => (
        <Fragment key={`${release.deployment.id}/${release.number}`}>
          {release.deployment.deletedAt !== null &&
            data.releases[index - 1]?.deployment.id !== release.deployment.id && (
              <li className="text-warning border-border flex flex-wrap items-baseline gap-x-2 border-b px-4 py-2">
                <Icon name="warning" size={12} />
                <span>
                  The releases below are of a deployment that was deleted <Time at={release.deployment.deletedAt} />
                </span>
              </li>
            )}
          <ReleaseRow areJudged={areJudged} release={release} slug={slug} />
        </Fragment>
      ))}
    </ol>
  )
}

const views = [
  [undefined, "Releases"],
  ["readiness", "Readiness"],
  ["compare", "Compare"],
  ["tokens", "Tokens"]
] as const

const otherViews = { readiness: DeploymentReadiness, compare: CompareDeployments, tokens: DeploymentTokens }

const Views = () => (
  <Tabs label="Views of the deployment">
    {views.map(([view, label]) => (
      <Link
        activeOptions={{ exact: view === undefined }}
        className={tabClass}
        from="/w/$slug/deployments/$product/$environment"
        key={label}
        replace
        search={view === undefined ? {} : { view }}
        to="."
      >
        {label}
      </Link>
    ))}
  </Tabs>
)

const Loaded = ({ deployment, slug }: Props) => {
  const { view } = useSearch({ from: "/w/$slug/deployments/$product/$environment" })
  const Other = view === undefined ? undefined : otherViews[view]
  const { data: vault } = useQuery(vaultQuery(slug))
  const missing = missingSecrets(vault?.secrets ?? [], deployment.product.slug, deployment.environment.slug)
  return (
    <>
      <section aria-label="Summary" className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3">
        <span className="text-md inline-flex max-w-full min-w-0 items-center gap-1 font-medium">
          {deployment.version === null ? (
            "Unknown version"
          ) : (
            <Copyable label="Copy the version" shown={shortSha(deployment.version)} text={deployment.version} />
          )}
        </span>
        <span className="text-muted">
          since <Time at={deployment.versionUpdatedAt} />
        </span>
        {deployment.baseUrl !== null && <Copyable label="Copy the address" text={deployment.baseUrl} />}
        {missing.length > 0 && (
          <Link
            className="text-warning hover:underline"
            params={{ slug }}
            search={{ product: deployment.product.slug, only: "missing" }}
            to="/w/$slug/vault"
          >
            {counted(missing.length, "secret")} missing
          </Link>
        )}
        {deployment.active && <ReadinessSummary deployment={deployment} slug={slug} />}
      </section>
      <Views />
      {Other !== undefined ? (
        <Other deployment={deployment} slug={slug} />
      ) : (
        <div className="flex grow flex-col lg:flex-row">
          <section aria-label="History" className="min-w-0 lg:flex-1">
            <h2 className="text-muted border-border border-b px-4 pt-4 pb-1 text-xs font-medium">Releases</h2>
            <History deployment={deployment} slug={slug} />
          </section>
          <aside aria-label="Beside it" className="border-border shrink-0 pb-4 max-lg:border-t lg:w-90 lg:border-l">
            <Elsewhere deployment={deployment} slug={slug} />
            <Runs deployment={deployment} slug={slug} />
          </aside>
        </div>
      )}
    </>
  )
}

/** That it is production: a word, and on narrow screens its sign. */
const ProductionBadge = () => (
  <>
    <span className="max-sm:sr-only">
      <Badge tone="warning">production</Badge>
    </span>
    <span className="text-warning sm:hidden">
      <Icon name="lock" size={14} />
    </span>
  </>
)

const DeploymentScreen = () => {
  const { environment, product, slug } = useParams({ from: "/w/$slug/deployments/$product/$environment" })
  const { data: deployment, error, refetch } = useQuery(deploymentQuery(slug, product, environment))
  const [isSetting, setSetting] = useState(false)
  const mayChange = mayAct(useRole(slug), "member") && deployment?.active === true
  const name =
    deployment === undefined
      ? `${product} in ${environment}`
      : `${deployment.product.name} in ${deployment.environment.name}`
  return (
    <div className="flex min-h-full flex-col">
      <Header
        actions={mayChange && <Button onClick={() => setSetting(true)}>Set version</Button>}
        crumbs={[{ label: "Deployments", link: { to: "/w/$slug/deployments", params: { slug } } }]}
        state={
          <>
            {deployment?.environment.class === "production" && <ProductionBadge />}
            {deployment?.active === false && <Badge>archived</Badge>}
          </>
        }
        title={name}
      />
      {deployment !== undefined ? (
        <Loaded deployment={deployment} slug={slug} />
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={8} />
      )}
      {isSetting && deployment !== undefined && (
        <SetVersion
          environment={environment}
          name={name}
          onClose={() => setSetting(false)}
          product={product}
          slug={slug}
          version={deployment.version}
        />
      )}
    </div>
  )
}

export default DeploymentScreen
