import { useQuery } from "@tanstack/react-query"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { ReadinessPolicy, ReasonSetting } from "@delivery/domain/flow/ReadinessPolicy"
import { useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { Facts } from "../ui/Facts.tsx"
import { visible } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { momentOf } from "./mute.ts"
import { policyQuery } from "./readiness.ts"

const PolicyDialog = later(() => import("./PolicyDialog.tsx"))

interface Props {
  readonly deployment: Deployment
  readonly slug: string
}

const meaningOf = { block: "block", warn: "warn", off: "nobody looks" } as const satisfies Record<ReasonSetting, string>

const factsOf = (policy: ReadinessPolicy) =>
  [
    ["Versions come from", policy.from ?? "nowhere in particular"],
    [
      "Required runs",
      policy.requires.length === 0
        ? "none"
        : policy.requires
            .map(({ coverage, severity }) => (severity === "block" ? coverage : `${coverage} (warns)`))
            .join(", ")
    ],
    ["Tickets that block releases", meaningOf[policy.tickets]],
    ["Missing secrets", policy.from === null ? "compared with nothing" : meaningOf[policy.secrets]],
    ["Drift of secrets", meaningOf[policy.drift]],
    ["Overdue mutes", meaningOf[policy.mutes]],
    [
      "Freeze windows",
      policy.freezes.length === 0 ? (
        "none"
      ) : (
        <ul>
          {policy.freezes.map(({ from, reason, to }) => (
            <li key={`${from} ${to} ${reason}`}>
              {visible(reason)}: {momentOf(from)} to {momentOf(to)}
            </li>
          ))}
        </ul>
      )
    ]
  ] as const

/** What must hold before a version goes out. */
export const ReadinessPolicyPart = ({ deployment, slug }: Props) => {
  const { data, error, refetch } = useQuery(policyQuery(slug, deployment.product.slug, deployment.environment.slug))
  const [isChanging, setChanging] = useState(false)
  const mayChange = mayAct(useRole(slug), "admin") && deployment.active
  return (
    <div id="policy">
      <Section
        actions={
          mayChange && data !== undefined ? (
            <Button onClick={() => setChanging(true)}>Change policy</Button>
          ) : (
            data !== undefined && <span className="text-muted text-xs">Admins change it.</span>
          )
        }
        isFlush
        title="Policy"
      >
        {data === undefined ? (
          error === null ? (
            <SkeletonRows rows={7} />
          ) : (
            <FailureView error={error} onRetry={() => void refetch()} />
          )
        ) : (
          <Facts facts={factsOf(data)} />
        )}
        {isChanging && data !== undefined && (
          <PolicyDialog deployment={deployment} onClose={() => setChanging(false)} policy={data} slug={slug} />
        )}
      </Section>
    </div>
  )
}
