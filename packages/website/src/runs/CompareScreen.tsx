import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import type { Secret } from "@delivery/domain/vault/Secret"
import { useMemo } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { actorName } from "../api/actors.ts"
import { workspaceKey } from "../api/queries.ts"
import { releasesQuery } from "../catalog/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Filter } from "../ui/Filter.tsx"
import { formatDuration } from "../ui/duration.ts"
import { counted, formatCount, shortSha } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useKeys } from "../ui/keys.ts"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { vaultQuery, versionsQuery } from "../vault/queries.ts"
import { compareTests, type Compared, type ComparedKind, isBetween, releasesBetween } from "./comparison.ts"
import { runQuery, runsQuery } from "./queries.ts"
import { statusOf } from "./status.ts"

/** Two runs beside each other: what newly fails, was fixed, got slower, and what was released and written between them. */

interface Props {
  readonly slug: string
  readonly base: TestRun
  readonly run: TestRun
}

/** So many tests of a kind are shown. */
const shownTests = 200

const sections: ReadonlyArray<readonly [kind: ComparedKind, title: string]> = [
  ["failing", "Newly failing"],
  ["flaky", "Newly flaky"],
  ["fixed", "Fixed"],
  ["slower", "Slower: half as long again, and a second more"],
  ["stillFailing", "Still failing"],
  ["added", "Ran in the newer run alone"],
  ["removed", "Ran in the older run alone"]
]

const TestLine = ({ one, props }: { readonly one: Compared; readonly props: Props }) => {
  const { base, run, slug } = props
  const { after, before, test } = one
  const change = after !== undefined && before !== undefined ? after.durationMs - before.durationMs : undefined
  return (
    <li className="border-border border-b">
      <Link
        className="hover:bg-hover flex h-(--row) items-center gap-3 px-4"
        params={{ slug, run: String(after === undefined ? base.number : run.number), case: test.caseId }}
        to="/w/$slug/test-runs/$run/tests/$case"
      >
        <span className="inline-flex w-14 shrink-0 items-center gap-1">
          {before === undefined ? (
            <span className="text-faint w-4 text-center">–</span>
          ) : (
            <StatusMark status={before.status} />
          )}
          <span className="text-faint">
            <Icon name="arrowRight" size={12} />
          </span>
          {after === undefined ? (
            <span className="text-faint w-4 text-center">–</span>
          ) : (
            <StatusMark status={after.status} />
          )}
        </span>
        <span className="foreign min-w-0 flex-1 truncate" title={test.title.slice(0, 1_000)}>
          {test.title.slice(0, 1_000)}
        </span>
        <span className="text-muted tabular shrink-0 text-right max-sm:hidden">
          {before !== undefined && formatDuration(before.durationMs)}
          {change !== undefined && " to "}
          {after !== undefined && formatDuration(after.durationMs)}
        </span>
      </Link>
    </li>
  )
}

const Tests = (props: Props) => {
  const comparison = useMemo(() => compareTests(props.base.tests, props.run.tests), [props.base.tests, props.run.tests])
  const shown = sections.filter(([kind]) => comparison[kind].length > 0)
  if (shown.length === 0) {
    return (
      <Empty icon="check" title="The tests of both runs came to the same">
        {counted(props.run.tests.length, "test")} compared.
      </Empty>
    )
  }
  return shown.map(([kind, title]) => (
    <section aria-label={title} key={kind}>
      <h2 className="border-border text-muted border-b px-4 pt-4 pb-1 text-xs font-medium">
        {title} <span className="tabular">{formatCount(comparison[kind].length)}</span>
      </h2>
      <ul>
        {comparison[kind].slice(0, shownTests).map((one) => (
          <TestLine key={one.caseId} one={one} props={props} />
        ))}
      </ul>
      {comparison[kind].length > shownTests && (
        <p className="text-muted px-4 py-1">and {counted(comparison[kind].length - shownTests, "more test")}</p>
      )}
    </section>
  ))
}

const Releases = ({ base, run, slug }: Props) => {
  const { product, environment } = run
  const { data, error } = useQuery(releasesQuery(slug, product.slug, environment.slug))
  const between = releasesBetween(data?.releases ?? [], base.release, run.release)
  const versionOf = (one: TestRun) =>
    one.deploymentVersion === null ? "an unknown version" : shortSha(one.deploymentVersion)
  return (
    <section aria-label="Releases between">
      <h2 className="text-muted px-4 pt-4 pb-1 text-xs font-medium">Releases between</h2>
      {base.environment.slug !== environment.slug ? (
        <p className="text-muted px-4">
          They ran in two environments: {versionOf(base)} in {base.environment.name}, {versionOf(run)} in{" "}
          {environment.name}.
        </p>
      ) : between.length === 0 ? (
        <p className="text-muted px-4">
          {error === null ? `None: ${versionOf(run)} was deployed for both.` : "The releases could not be read."}
        </p>
      ) : (
        <ol>
          {between.map((release) => (
            <li className="border-border flex flex-col gap-0.5 border-b px-4 py-1.5" key={release.number}>
              <p className="flex items-center gap-2">
                <span className="text-muted tabular">#{release.number}</span>
                <span
                  className="min-w-0 flex-1 truncate font-mono text-xs font-medium"
                  title={release.version ?? undefined}
                >
                  {release.version === null ? "cleared" : shortSha(release.version)}
                </span>
                <span className="text-muted">
                  <Time at={release.at} />
                </span>
              </p>
              {release.commits.slice(0, 5).map((commit) => (
                <p className="text-muted foreign truncate" key={commit.sha} title={commit.subject.slice(0, 500)}>
                  {commit.subject}
                </p>
              ))}
              {release.commits.length > 5 && (
                <p className="text-muted">and {counted(release.commits.length - 5, "more commit")}</p>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

/** Which secrets of the environment were written between the two. */
const Secrets = ({ base, run, slug }: Props) => {
  const { data: vault } = useQuery(vaultQuery(slug))
  const { environment, product } = run
  const from = base.startedAt < run.startedAt ? base.startedAt : run.startedAt
  const written = (vault?.secrets ?? []).filter(
    (secret) =>
      secret.product.slug === product.slug &&
      secret.environments.some((one) => one.environment.slug === environment.slug && (one.updatedAt ?? "") > from)
  )
  const queries = useQueryClient()
  const { data: lines = [] } = useQuery({
    queryKey: workspaceKey(
      slug,
      "vault",
      "between",
      base.id,
      run.id,
      written.map(({ updatedAt }) => updatedAt)
    ),
    queryFn: async () => {
      const read = async ({ name }: Secret) => {
        const { versions } = await queries.fetchQuery(versionsQuery(slug, product.slug, name, environment.slug))
        return versions
          .filter(({ createdAt }) => isBetween(createdAt, base.startedAt, run.startedAt))
          .map((version) => ({ name, version }))
      }
      return (await Promise.all(written.map(read))).flat()
    },
    enabled: vault !== undefined
  })
  return (
    <section aria-label="Secrets between">
      <h2 className="text-muted px-4 pt-4 pb-1 text-xs font-medium">Secrets written between, in {environment.name}</h2>
      {lines.length === 0 ? (
        <p className="text-muted px-4">None.</p>
      ) : (
        <ul>
          {lines.map(({ name, version }) => (
            <li key={`${name} ${version.version}`}>
              <Link
                className="hover:bg-hover border-border flex h-(--row) items-center gap-2 border-b px-4"
                params={{ slug, product: product.slug, name }}
                to="/w/$slug/products/$product/secrets/$name"
              >
                <span className="min-w-0 flex-1 truncate font-mono text-xs">{name}</span>
                <span className="text-muted tabular">v{version.version}</span>
                <span className="text-muted max-w-24 truncate">{actorName(version.createdBy)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const Side = ({ label, run, slug }: { readonly label: string; readonly run: TestRun; readonly slug: string }) => (
  <Link
    className="hover:bg-hover flex min-w-0 flex-1 flex-col gap-0.5 px-4 py-2"
    params={{ slug, run: String(run.number) }}
    to="/w/$slug/test-runs/$run"
  >
    <span className="text-muted text-xs">{label}</span>
    <span className="flex min-w-0 items-center gap-2">
      <StatusMark status={statusOf(run)} />
      <span className="tabular shrink-0 font-medium">Run {run.number}</span>
      <span className="foreign min-w-0 truncate">{run.git.subject}</span>
    </span>
    <span className="text-muted flex min-w-0 flex-wrap items-baseline gap-x-3">
      <span className="truncate">
        {run.product.name} / {run.environment.name}
      </span>
      <span className="font-mono text-xs">{shortSha(run.git.sha)}</span>
      <Time at={run.startedAt} />
    </span>
  </Link>
)

const Loaded = (props: Props) => (
  <>
    <div className="border-border flex border-b max-sm:flex-col sm:divide-x sm:divide-(--border)">
      <Side label="From" run={props.base} slug={props.slug} />
      <Side label="To" run={props.run} slug={props.slug} />
    </div>
    <div className="flex grow flex-col lg:flex-row">
      <div className="min-w-0 pb-4 lg:flex-1">
        <Tests {...props} />
      </div>
      <aside aria-label="Between them" className="border-border shrink-0 pb-4 max-lg:border-t lg:w-90 lg:border-l">
        <Releases {...props} />
        <Secrets {...props} />
      </aside>
    </div>
  </>
)

/** The run to compare with where none is chosen: the one before it, of the same environment if there is one. */
const useChoices = (slug: string, run: TestRun | undefined) => {
  const { data } = useInfiniteQuery({
    ...runsQuery(slug, { product: run?.product.slug ?? "" }),
    enabled: run !== undefined
  })
  const others = (data?.pages.flatMap((page) => page.runs) ?? []).filter(
    (one) => one.number !== run?.number && one.state !== "running"
  )
  const before = others.filter((one) => run !== undefined && one.number < run.number)
  const alike = before.find((one) => one.environment.slug === run?.environment.slug) ?? before[0]
  return { others, preferred: alike?.number }
}

const CompareScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/compare" })
  const search = useSearch({ from: "/w/$slug/compare" })
  const navigate = useNavigate({ from: "/w/$slug/compare" })
  const run = useQuery({ ...runQuery(slug, search.run ?? 0), enabled: search.run !== undefined })
  const { others, preferred } = useChoices(slug, run.data)
  const number = search.base ?? preferred
  const base = useQuery({ ...runQuery(slug, number ?? 0), enabled: number !== undefined })
  const swap = () =>
    void navigate({
      search: {
        ...(search.run === undefined ? {} : { base: search.run }),
        ...(number === undefined ? {} : { run: number })
      }
    })
  useKeys([{ keys: "x", label: "Swap the runs", group: "Compare", run: swap }])
  const error = run.error ?? base.error
  return (
    <div className="flex min-h-full flex-col">
      <Header
        actions={
          <Button onClick={swap} shortcut="x">
            Swap
          </Button>
        }
        crumbs={[{ label: "Runs", link: { to: "/w/$slug/test-runs", params: { slug } } }]}
        title="Compare runs"
      />
      <search aria-label="Runs" className="border-border flex flex-wrap items-center gap-1 border-b px-3 py-1.5">
        <Filter
          choices={others.map((one) => ({
            value: String(one.number),
            label: `run ${one.number}: ${one.git.subject.slice(0, 60)}`
          }))}
          isRequired
          noun="base"
          onChange={(next) => void navigate({ search: { ...search, base: Number(next) }, replace: true })}
          value={number === undefined ? undefined : String(number)}
        />
        {search.run !== undefined && <span className="text-muted max-sm:hidden">to run {search.run}</span>}
      </search>
      {search.run === undefined ? (
        <Empty icon="runs" title="Open a run, and compare it from there" />
      ) : run.data !== undefined && base.data !== undefined ? (
        <Loaded base={base.data} run={run.data} slug={slug} />
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void Promise.all([run.refetch(), base.refetch()])} />
      ) : run.data !== undefined && number === undefined && others.length === 0 ? (
        <Empty icon="runs" title="This product has no earlier run to compare it with" />
      ) : (
        <SkeletonRows rows={12} />
      )}
    </div>
  )
}

export default CompareScreen
