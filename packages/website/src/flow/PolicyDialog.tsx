import { useQuery } from "@tanstack/react-query"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { ReadinessPolicy, ReasonSetting } from "@delivery/domain/flow/ReadinessPolicy"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { environmentsQuery } from "../catalog/queries.ts"
import { visible } from "../ui/format.ts"
import { Select } from "../ui/Select.tsx"
import { mergePolicies } from "./mergePolicies.ts"
import { type FreezeDraft, FreezeFields, freezeDraft, missingOf, windowOf } from "./FreezeFields.tsx"

interface Props {
  readonly deployment: Deployment
  readonly policy: ReadinessPolicy
  readonly slug: string
  readonly onClose: () => void
}

const coverages = ["critical", "acceptance", "regression", "exhaustive"] as const satisfies ReadonlyArray<Coverage>

const kinds = [
  ["tickets", "Tickets that block releases"],
  ["secrets", "Missing secrets"],
  ["drift", "Drift of secrets"],
  ["mutes", "Overdue mutes"]
] as const

const settings: ReadonlyArray<{ readonly value: ReasonSetting; readonly label: string }> = [
  { value: "block", label: "Block" },
  { value: "warn", label: "Warn" },
  { value: "off", label: "Do not look" }
]

const requirements: ReadonlyArray<{ readonly value: ReasonSetting; readonly label: string }> = [
  { value: "block", label: "Must have passed" },
  { value: "warn", label: "Warn unless it passed" },
  { value: "off", label: "Not required" }
]

const nowhere = ""

interface Place {
  readonly slug: string
  readonly product: string
  readonly environment: string
}

/** The window that the draft was made of, if it is still that one: fields have no seconds, and may have lost them. */
const untouched = (windows: ReadinessPolicy["freezes"], draft: FreezeDraft) => {
  const { from, reason, to } = windowOf(draft)
  return windows.find((window) => {
    const other = windowOf(freezeDraft(window))
    return other.from === from && other.to === to && other.reason === reason
  })
}

/** How often somebody else may be first. */
const mostTries = 5

/** Sets what the person changed, and nothing else. */
const setPolicy = async (
  params: Place,
  base: ReadinessPolicy,
  mine: ReadinessPolicy,
  tries = mostTries
): Promise<ReadinessPolicy> => {
  const expected = await client.readiness.policy({ params })
  try {
    return await client.readiness.setPolicy({ params, payload: { ...mergePolicies(base, mine, expected), expected } })
  } catch (error) {
    if (tries === 1 || failureOf(error).reason !== "policy_changed") throw error
    return setPolicy(params, base, mine, tries - 1)
  }
}

/** Changes what must hold before a version goes out. */
const PolicyDialog = ({ deployment, onClose, policy, slug }: Props) => {
  const [product, environment] = [deployment.product.slug, deployment.environment.slug]
  const [from, setFrom] = useState(policy.from ?? nowhere)
  const [weights, setWeights] = useState<Readonly<Record<(typeof kinds)[number][0], ReasonSetting>>>(policy)
  const [required, setRequired] = useState<Readonly<Partial<Record<Coverage, ReasonSetting>>>>(
    Object.fromEntries(policy.requires.map(({ coverage, severity }) => [coverage, severity]))
  )
  const [freezes, setFreezes] = useState<ReadonlyArray<FreezeDraft>>(policy.freezes.map(freezeDraft))
  const { data } = useQuery(environmentsQuery(slug))
  const others = (data?.environments ?? []).filter((one) => one.slug !== environment)
  // What it was when the dialog was opened: whatever somebody else changes meanwhile stays.
  const [base] = useState(policy)
  const save = useAction({
    act: () =>
      setPolicy({ slug, product, environment }, base, {
        from: from === nowhere ? null : from,
        requires: coverages.flatMap((coverage) => {
          const severity = required[coverage] ?? "off"
          return severity === "off" ? [] : [{ coverage, severity }]
        }),
        tickets: weights.tickets,
        secrets: weights.secrets,
        drift: weights.drift,
        mutes: weights.mutes,
        freezes: freezes.map((draft) => untouched(base.freezes, draft) ?? windowOf(draft))
      }),
    changes: [workspaceKey(slug, "readiness")],
    done: () => ({ title: `The policy of ${deployment.product.name} in ${deployment.environment.name} was changed` }),
    onDone: onClose
  })
  return (
    <FormDialog
      action="Save policy"
      description="It keeps nothing from going out by itself: your deployment asks “delivery deployments ready” first."
      doing={save}
      missing={missingOf(freezes)}
      onClose={onClose}
      title={`When may a version go to ${deployment.environment.name}?`}
    >
      <Select
        label="Versions come from"
        onChange={setFrom}
        options={[
          { value: nowhere, label: "Nowhere in particular" },
          ...others.map((one) => ({ value: one.slug, label: visible(one.name) }))
        ]}
        value={from}
      />
      <fieldset className="grid gap-3 sm:grid-cols-2">
        <legend className="text-muted pb-1 text-xs font-medium">Runs of the version in another environment</legend>
        {coverages.map((coverage) => (
          <Select
            key={coverage}
            label={coverage}
            onChange={(next) => setRequired({ ...required, [coverage]: next })}
            options={requirements}
            value={required[coverage] ?? "off"}
          />
        ))}
      </fieldset>
      <fieldset className="grid gap-3 sm:grid-cols-2">
        <legend className="text-muted pb-1 text-xs font-medium">What else is looked at</legend>
        {kinds.map(([kind, label]) => (
          <Select
            key={kind}
            label={label}
            onChange={(next) => setWeights({ ...weights, [kind]: next })}
            options={settings}
            value={weights[kind]}
          />
        ))}
      </fieldset>
      <FreezeFields freezes={freezes} onChange={setFreezes} />
    </FormDialog>
  )
}

export default PolicyDialog
