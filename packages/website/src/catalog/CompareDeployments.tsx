import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import { FailureView } from "../api/FailureView.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Copyable } from "../ui/Copy.tsx"
import { Filter } from "../ui/Filter.tsx"
import { counted, shortSha } from "../ui/format.ts"
import { Section } from "../ui/Section.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { vaultQuery } from "../vault/queries.ts"
import { EnvironmentName } from "./EnvironmentName.tsx"
import { missingSecrets } from "./matrix.ts"
import { deploymentsQuery, releasesQuery } from "./queries.ts"
import { type Lead, since } from "./versions.ts"

/** A deployment beside that of another environment: which versions, what the one has that the other lacks. */

interface Props {
  readonly deployment: Deployment
  readonly slug: string
}

const Version = ({ deployment, slug }: Props) => (
  <div className="border-border flex min-w-0 flex-1 flex-col gap-1 rounded-lg border p-3">
    <Link
      className="font-medium hover:underline"
      params={{ slug, product: deployment.product.slug, environment: deployment.environment.slug }}
      to="/w/$slug/deployments/$product/$environment"
    >
      <EnvironmentName environment={deployment.environment} />
    </Link>
    {deployment.version === null ? (
      <span className="text-muted">unknown version</span>
    ) : (
      <Copyable label="Copy the version" shown={shortSha(deployment.version)} text={deployment.version} />
    )}
    <span className="text-muted">
      since <Time at={deployment.versionUpdatedAt} />
    </span>
  </div>
)

const Commits = ({ lead }: { readonly lead: Lead }) =>
  lead.commits.length === 0 ? (
    <p className="text-muted">Nobody told which commits these releases have.</p>
  ) : (
    <ul aria-label="Commits" className="flex flex-col gap-1">
      {lead.commits.slice(0, 100).map((commit) => (
        <li className="flex min-w-0 items-baseline gap-2" key={commit.sha}>
          <span className="text-muted shrink-0 font-mono text-xs">{shortSha(commit.sha)}</span>
          <span className="foreign truncate">{commit.subject}</span>
        </li>
      ))}
      {lead.commits.length > 100 && (
        <li className="text-muted">and {counted(lead.commits.length - 100, "more commit")}</li>
      )}
    </ul>
  )

interface BothProps {
  readonly here: Deployment
  readonly there: Deployment
  readonly slug: string
}

const Secrets = ({ here, slug, there }: BothProps) => {
  const { data } = useQuery(vaultQuery(slug))
  if (data === undefined) return null
  const lacking = (one: Deployment, other: Deployment) => {
    const names = missingSecrets(data.secrets, one.product.slug, one.environment.slug)
    return names.filter((name) =>
      data.secrets.some(
        (secret) =>
          secret.name === name &&
          secret.product.slug === other.product.slug &&
          secret.environments.some((cell) => cell.environment.slug === other.environment.slug && cell.hasValue)
      )
    )
  }
  const rows = [
    ...lacking(here, there).map((name) => [name, here] as const),
    ...lacking(there, here).map((name) => [name, there] as const)
  ]
  return (
    <Section
      actions={
        <Link
          className="text-accent hover:underline"
          params={{ slug }}
          search={{ product: here.product.slug, left: here.environment.slug, right: there.environment.slug }}
          to="/w/$slug/vault/compare"
        >
          Compare all secrets
        </Link>
      }
      title="Secrets that one of them lacks"
    >
      {rows.length === 0 ? (
        <p className="text-muted">Both have a value of the same secrets.</p>
      ) : (
        <ul className="flex flex-col gap-1">
          {rows.map(([name, { environment }]) => (
            <li className="flex flex-wrap items-center gap-2" key={`${environment.slug} ${name}`}>
              <span className="foreign font-mono text-xs">{name}</span>
              <Badge tone="warning">
                missing in&nbsp;<span className="max-w-60 truncate">{environment.name}</span>
              </Badge>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

const Both = ({ here, slug, there }: BothProps) => {
  const ours = useQuery(releasesQuery(slug, here.product.slug, here.environment.slug))
  const theirs = useQuery(releasesQuery(slug, there.product.slug, there.environment.slug))
  const failed = [ours, theirs].find(({ error }) => error !== null)
  if (ours.data === undefined || theirs.data === undefined) {
    return failed === undefined ? (
      <SkeletonRows rows={4} />
    ) : (
      <FailureView error={failed.error} onRetry={() => void failed.refetch()} />
    )
  }
  const isSame = here.version !== null && here.version === there.version
  const [ahead, behind] = [since(ours.data.releases, there.version), since(theirs.data.releases, here.version)]
  const lead = ahead ?? behind
  const [first, second] = ahead === undefined ? [there, here] : [here, there]
  return (
    <>
      <div className="flex flex-col gap-3 px-4 pt-3 sm:flex-row">
        <Version deployment={here} slug={slug} />
        <Version deployment={there} slug={slug} />
      </div>
      {isSame ? (
        <p className="px-4 pt-4">Both run the same version.</p>
      ) : lead === undefined ? (
        <p className="text-muted px-4 pt-4">
          Neither ever ran the version of the other, so what lies between them is not known.
        </p>
      ) : (
        <Section
          title={`${first.environment.name} is ${counted(lead.releases.length, "release")} ahead of ${second.environment.name}`}
        >
          <Commits lead={lead} />
        </Section>
      )}
      <Secrets here={here} slug={slug} there={there} />
    </>
  )
}

/** When its version was last told; nothing for one whose version is not known. */
const changedAt = ({ version, versionUpdatedAt }: Deployment): string => (version === null ? "" : versionUpdatedAt)

const CompareDeployments = ({ deployment, slug }: Props) => {
  const { with: chosen } = useSearch({ from: "/w/$slug/deployments/$product/$environment" })
  const navigate = useNavigate({ from: "/w/$slug/deployments/$product/$environment" })
  const { data, error, refetch } = useQuery(deploymentsQuery(slug))
  if (data === undefined) {
    return error === null ? <SkeletonRows rows={4} /> : <FailureView error={error} onRetry={() => void refetch()} />
  }
  const others = data.deployments.filter(
    (one) => one.product.slug === deployment.product.slug && one.id !== deployment.id
  )
  const there =
    others.find((one) => one.environment.slug === chosen) ??
    others.find((one) => one.environment.class === "production") ??
    others.toSorted((a, b) => changedAt(b).localeCompare(changedAt(a)))[0]
  if (there === undefined) {
    return (
      <Empty icon="deployments" title="It runs nowhere else">
        Two deployments of one product can be compared: their versions, commits and secrets.
      </Empty>
    )
  }
  return (
    <section aria-label="Compare" className="pb-6">
      <div className="border-border border-b px-3 py-1.5">
        <Filter
          choices={others.map(({ environment }) => ({ value: environment.slug, label: environment.name }))}
          isRequired
          noun="environment"
          onChange={(next) =>
            void navigate({ search: { view: "compare", ...(next === undefined ? {} : { with: next }) }, replace: true })
          }
          value={there.environment.slug}
        />
      </div>
      <Both here={deployment} key={there.id} slug={slug} there={there} />
    </section>
  )
}

export default CompareDeployments
