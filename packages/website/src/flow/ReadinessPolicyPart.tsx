import { useQuery } from "@tanstack/react-query"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { ReadinessPolicy, ReasonSetting } from "@delivery/domain/flow/ReadinessPolicy"
import { useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Facts } from "../ui/Facts.tsx"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { momentOf } from "./mute.ts"
import { policyQuery } from "./readiness.ts"
import { inYourTime } from "./zone.ts"

const PolicyDialog = later(() => import("./PolicyDialog.tsx"))

interface Props {
  readonly deployment: Deployment
  readonly slug: string
  /** The time of the server when readiness was answered. */
  readonly at: string | undefined
}

const meaningOf = { block: "block", warn: "warn", off: "nobody looks" } as const satisfies Record<ReasonSetting, string>

interface WindowsProps {
  readonly freezes: ReadinessPolicy["freezes"]
  /** By the clock of the server; undefined while that is not known. */
  readonly at: string | undefined
}

/** Which of them is now, and which is over, is said: those that are over keep nothing back. */
const Windows = ({ at, freezes }: WindowsProps) => (
  <ul>
    {freezes.map(({ from, reason, to }) => {
      const isOver = at !== undefined && to <= at
      return (
        <li className={isOver ? "text-muted" : undefined} key={`${from} ${to} ${reason}`}>
          {reason}: {momentOf(from)} to {momentOf(to)}
          {isOver && ", over"}
          {at !== undefined && from <= at && at < to && (
            <>
              {" "}
              <Badge tone="warning">now</Badge>
            </>
          )}
        </li>
      )
    })}
  </ul>
)

const factsOf = (policy: ReadinessPolicy, { at, from }: { readonly at: string | undefined; readonly from: string }) =>
  [
    ["Versions come from", from],
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
      `Freeze windows, ${inYourTime()}`,
      policy.freezes.length === 0 ? "none" : <Windows at={at} freezes={policy.freezes} />
    ]
  ] as const

/** What must hold before a version goes out. */
export const ReadinessPolicyPart = ({ at, deployment, slug }: Props) => {
  const { data, error, refetch } = useQuery(policyQuery(slug, deployment.product.slug, deployment.environment.slug))
  const nameOf = useEnvironmentName(slug)
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
          <Facts
            facts={factsOf(data, { at, from: data.from === null ? "nowhere in particular" : nameOf(data.from) })}
          />
        )}
        {isChanging && data !== undefined && (
          <PolicyDialog deployment={deployment} onClose={() => setChanging(false)} policy={data} slug={slug} />
        )}
      </Section>
    </div>
  )
}
