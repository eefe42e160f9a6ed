import { useQuery, useQueryClient } from "@tanstack/react-query"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { ReadinessPolicy, ReasonSetting } from "@delivery/domain/flow/ReadinessPolicy"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { readAgain } from "../api/readAgain.ts"
import { useAction } from "../api/useAction.ts"
import { environmentsQuery } from "../catalog/queries.ts"
import { Select } from "../ui/Select.tsx"
import { type FreezeDraft, freezeDraft, missingOf, windowOf } from "./freezeDrafts.ts"
import { FreezeFields } from "./FreezeFields.tsx"
import {
  coverages,
  mergePolicies,
  type MyPolicy,
  policyClashes,
  requirementLabels,
  settingLabels,
  weightLabels
} from "./policyChanges.ts"
import { policyQuery } from "./readiness.ts"

interface Props {
  readonly deployment: Deployment
  readonly policy: ReadinessPolicy
  readonly slug: string
  readonly onClose: () => void
}

const kinds = ["tickets", "secrets", "drift", "mutes"] as const
type Weights = Pick<ReadinessPolicy, (typeof kinds)[number]>

const optionsOf = (labels: Readonly<Record<ReasonSetting, string>>) =>
  (["block", "warn", "off"] as const).map((value) => ({ value, label: labels[value] }))

const settings = optionsOf(settingLabels)
const requirements = optionsOf(requirementLabels)

const nowhere = ""

interface Place {
  readonly slug: string
  readonly product: string
  readonly environment: string
}

/** How often somebody else may be first. */
const mostTries = 5

interface Seen {
  readonly base: ReadinessPolicy
  readonly mine: MyPolicy
  /** What kept the person from saving before: they were told that others have changed it. */
  readonly told: ReadonlyArray<string>
  readonly tell: (clashes: ReadonlyArray<string>) => void
}

/** Sets what the person changed, and nothing else: not in place of what somebody else has set and they were not told. */
const setPolicy = async (
  params: Place,
  read: () => Promise<ReadinessPolicy>,
  seen: Seen,
  tries = mostTries
): Promise<ReadinessPolicy> => {
  const expected = await read()
  const { base, mine, tell, told } = seen
  const clashes = policyClashes(base, mine, expected)
  if (clashes.some((clash) => !told.includes(clash))) {
    tell(clashes)
    throw new Error(
      "Somebody else has changed meanwhile what you change, too. To put yours in place of theirs, save again."
    )
  }
  try {
    return await client.readiness.setPolicy({ params, payload: { ...mergePolicies(base, mine, expected), expected } })
  } catch (error) {
    if (tries === 1 || failureOf(error).reason !== "policy_changed") throw error
    return setPolicy(params, read, seen, tries - 1)
  }
}

const useFilled = (policy: ReadinessPolicy) => {
  const [from, setFrom] = useState(policy.from ?? nowhere)
  const [weights, setWeights] = useState<Weights>(policy)
  const [required, setRequired] = useState<Readonly<Partial<Record<Coverage, ReasonSetting>>>>(
    Object.fromEntries(policy.requires.map(({ coverage, severity }) => [coverage, severity]))
  )
  const [freezes, setFreezes] = useState<ReadonlyArray<FreezeDraft>>(policy.freezes.map(freezeDraft))
  const missing = missingOf(freezes)
  const mine: MyPolicy | undefined =
    missing.length > 0
      ? undefined
      : {
          from: from === nowhere ? null : from,
          requires: coverages.flatMap((coverage) => {
            const severity = required[coverage] ?? "off"
            return severity === "off" ? [] : [{ coverage, severity }]
          }),
          tickets: weights.tickets,
          secrets: weights.secrets,
          drift: weights.drift,
          mutes: weights.mutes,
          freezes: freezes.map((draft) => ({ of: draft.of, window: windowOf(draft) }))
        }
  return { freezes, from, mine, missing, required, setFreezes, setFrom, setRequired, setWeights, weights }
}

/** Changes what must hold before a version goes out. */
const PolicyDialog = ({ deployment, onClose, policy, slug }: Props) => {
  const [product, environment] = [deployment.product.slug, deployment.environment.slug]
  // What it was when the dialog was opened: whatever somebody else changes meanwhile stays.
  const [base] = useState(policy)
  const filled = useFilled(base)
  const { freezes, from, mine, missing, required, setFreezes, setFrom, setRequired, setWeights, weights } = filled
  const { data } = useQuery(environmentsQuery(slug))
  const others = (data?.environments ?? []).filter((one) => one.slug !== environment)
  const queries = useQueryClient()
  const read = () => readAgain(queries, policyQuery(slug, product, environment))
  const [told, setTold] = useState<ReadonlyArray<string>>([])
  const clashes = mine === undefined ? [] : policyClashes(base, mine, policy)
  const save = useAction({
    act: (filledIn: MyPolicy) =>
      setPolicy({ slug, product, environment }, read, { base, mine: filledIn, told, tell: setTold }),
    changes: [workspaceKey(slug, "readiness")],
    done: () => ({ title: `The policy of ${deployment.product.name} in ${deployment.environment.name} was changed` }),
    onDone: onClose
  })
  return (
    <FormDialog
      action="Save policy"
      description="It keeps nothing from going out by itself: your deployment asks “delivery deployments ready” first."
      doing={{ ...save, mutate: () => mine !== undefined && save.mutate(mine) }}
      missing={missing}
      onClose={onClose}
      title={`When may a version go to ${deployment.environment.name}?`}
    >
      <Select
        label="Versions come from"
        onChange={setFrom}
        options={[
          { value: nowhere, label: "Nowhere in particular" },
          ...others.map((one) => ({ value: one.slug, label: one.name }))
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
        {kinds.map((kind) => (
          <Select
            key={kind}
            label={weightLabels[kind]}
            onChange={(next) => setWeights({ ...weights, [kind]: next })}
            options={settings}
            value={weights[kind]}
          />
        ))}
      </fieldset>
      <FreezeFields freezes={freezes} onChange={setFreezes} />
      {/* Beside what saves it: the rest may have been scrolled away. */}
      {clashes.length > 0 && (
        <div className="bg-warning-soft text-warning foreign rounded-md px-3 py-2" role="alert">
          <p>Somebody else has changed meanwhile what you change, too:</p>
          <ul className="list-disc pl-5">
            {clashes.map((clash) => (
              <li key={clash}>{clash}</li>
            ))}
          </ul>
        </div>
      )}
    </FormDialog>
  )
}

export default PolicyDialog
