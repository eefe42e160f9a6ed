import { useQuery } from "@tanstack/react-query"
import type { ChangedSecret } from "@delivery/domain/flow/Drift"
import { FailureView } from "../api/FailureView.tsx"
import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { PathLink } from "../ui/PathLink.tsx"
import { Section } from "../ui/Section.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { driftQuery } from "./readiness.ts"

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string
}

const changeOf = ({ loaded, version }: ChangedSecret): string => {
  if (loaded === null) return `was set since: it lacks version ${version}`
  return version === 0
    ? `was deleted since: it has version ${loaded}`
    : `has version ${loaded}, now there is ${version}`
}

/** What the running product does not have: secrets that changed since it loaded them, and those that are missing. Names, never values. */
export const SecretDrift = ({ environment, product, slug }: Props) => {
  const { data, error, refetch } = useQuery(driftQuery(slug, product, environment))
  const nameOf = useEnvironmentName(slug)
  const row = "border-border flex min-h-(--row) flex-wrap items-center gap-x-3 border-b px-4"
  const linkOf = (name: string) => (
    <span className="font-mono text-xs">
      <PathLink path={`/w/${slug}/products/${product}/secrets/${encodeURIComponent(name)}`}>{name}</PathLink>
    </span>
  )
  return (
    <>
      <Section isFlush title="Drift of secrets">
        {data === undefined ? (
          error === null ? (
            <SkeletonRows rows={2} />
          ) : (
            <FailureView error={error} onRetry={() => void refetch()} />
          )
        ) : (
          <>
            <p className="text-muted px-4 py-2">
              {data.loadedAt === null ? (
                "The product never loaded its secrets here with a deployment token, so nothing is known of what it has."
              ) : (
                <>
                  It loaded its secrets <Time at={data.loadedAt} />.{" "}
                  {data.changed.length === 0 && "Nothing has changed since."}
                </>
              )}
            </p>
            {data.changed.length > 0 && (
              <ul aria-label="Drift">
                {data.changed.map((secret) => (
                  <li className={row} key={secret.name}>
                    {linkOf(secret.name)}
                    <span className="text-muted">{changeOf(secret)}</span>
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </Section>
      {/* Apart, as the policy has them. */}
      {data !== undefined && data.missing.length > 0 && (
        <Section isFlush title="Missing secrets">
          <ul aria-label="Missing secrets">
            {data.missing.map(({ beside, name }) => (
              <li className={row} key={name}>
                {linkOf(name)}
                <span className="text-warning">has a value in {nameOf(beside)}, and none here</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  )
}
