import type { TestRule } from "@delivery/domain/flow/TestRule"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { readAgain } from "../api/readAgain.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { testRulesQuery } from "./queries.ts"
import { changesOf, clashesOf, type RulePayload } from "./ruleChanges.ts"
import { RuleMatches } from "./RuleMatches.tsx"
import { type RuleThings, useRuleNames } from "./useRuleNames.ts"
import { restOf, sentenceOf, wholeAt } from "./words.ts"

/** Which failures get tickets, and what tickets those are. It reads as a sentence while it is filled in. */

interface Props {
  readonly slug: string
  /** The rule that is changed; without one it is made. */
  readonly rule?: TestRule
  readonly onClose: () => void
}

/** In place of a name: none, or all. */
const none = ""

const coverages = ["critical", "acceptance", "regression", "exhaustive"] as const
type Coverage = (typeof coverages)[number] | typeof none

const asks = [
  { value: "build", label: "Build it" },
  { value: "plan", label: "Plan it" },
  { value: "refine", label: "Refine the ticket" },
  { value: "draft", label: "Draft the ticket" }
] as const

/** What is filled in, as it stands in the fields. */
interface Filled {
  readonly product: string
  readonly environment: string
  readonly branch: string
  readonly coverage: Coverage
  readonly failures: string
  readonly ofLast: string
  readonly team: string
  readonly project: string
  readonly owner: string
  readonly ask: (typeof asks)[number]["value"]
  readonly above: string
  readonly closeAfter: string
  readonly completion: TestRule["completion"]
}

const filledOf = (rule: TestRule | undefined): Partial<Filled> =>
  rule === undefined
    ? {}
    : {
        product: rule.product,
        environment: rule.environment ?? none,
        branch: rule.branch ?? none,
        coverage: rule.coverage ?? none,
        failures: String(rule.when.failures),
        ofLast: String(rule.when.ofLast),
        team: rule.team,
        project: rule.project ?? none,
        owner: rule.owner ?? none,
        ask: rule.ask ?? "build",
        above: String(rule.above),
        closeAfter: String(rule.closeAfter),
        completion: rule.completion
      }

/** What is not typed is what the rule has now, or for a new one what belongs together. */
const useFilled = ({ likely }: RuleThings, rule: TestRule | undefined) => {
  const [typed, setTyped] = useState<Partial<Filled>>({})
  const product = typed.product ?? likely.product ?? none
  const filled: Filled = {
    product,
    environment: none,
    branch: "main",
    coverage: none,
    failures: "2",
    ofLast: "3",
    team: likely.teamOf(product) ?? none,
    project: none,
    owner: none,
    ask: "build",
    above: "10",
    closeAfter: "3",
    completion: "free",
    ...filledOf(rule),
    ...typed
  }
  return { filled, set: (change: Partial<Filled>) => setTyped((before) => ({ ...before, ...change })) }
}

/** What the API is told; undefined where a number is none. */
const payloadOf = (filled: Filled, isAgent: boolean): RulePayload | undefined => {
  const [failures, ofLast] = [wholeAt(filled.failures, 1, 10), wholeAt(filled.ofLast, 1, 20)]
  const [above, closeAfter] = [wholeAt(filled.above, 1, 5_000), wholeAt(filled.closeAfter, 1, 20)]
  if (failures === undefined || ofLast === undefined || above === undefined || closeAfter === undefined)
    return undefined
  if (ofLast < failures) return undefined
  const orNull = (text: string) => (text.trim() === none ? null : text.trim())
  return {
    product: filled.product,
    environment: orNull(filled.environment),
    branch: orNull(filled.branch),
    coverage: filled.coverage === none ? null : filled.coverage,
    when: { failures, ofLast },
    team: filled.team,
    project: orNull(filled.project),
    owner: orNull(filled.owner),
    ask: isAgent ? filled.ask : null,
    above,
    closeAfter,
    completion: filled.completion
  }
}

const completions = [
  { value: "free", label: "May be completed without evidence" },
  { value: "evidence", label: "Need evidence to be completed" }
] as const

interface FieldsProps {
  readonly filled: Filled
  readonly things: RuleThings
  readonly set: (change: Partial<Filled>) => void
  readonly error: unknown
}

const numberField = (
  label: string,
  hint: string,
  [least, most]: readonly [number, number],
  value: string,
  onChange: (value: string) => void,
  issue?: string
) => (
  <Input
    hint={hint}
    inputMode="numeric"
    issue={wholeAt(value, least, most) === undefined ? `A whole number from ${least} to ${most}` : issue}
    label={label}
    max={most}
    min={least}
    onChange={(event) => onChange(event.target.value)}
    type="number"
    value={value}
  />
)

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const grid = "grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2"

/** Which runs count, and how often a test must fail in them. */
const WhenFields = ({ error, filled, set, things }: FieldsProps) => (
  <fieldset className={grid}>
    <legend className="text-muted pb-2 text-xs font-medium">When</legend>
    <Select
      label="Product"
      onChange={(product) => set({ product })}
      options={things.products.map((one) => ({ value: one.slug as string, label: one.name }))}
      value={filled.product}
    />
    <Select
      label="Environment"
      onChange={(environment) => set({ environment })}
      options={[
        { value: none, label: "All" },
        ...things.environments.map((one) => ({ value: one.slug as string, label: one.name }))
      ]}
      value={filled.environment}
    />
    <Input
      autoComplete="off"
      hint="Empty: all."
      isMono
      issue={issueAt(error, "branch")}
      label="Branch"
      maxLength={500}
      onChange={(event) => set({ branch: event.target.value })}
      spellCheck={false}
      value={filled.branch}
    />
    <Select
      label="Runs of"
      onChange={(coverage) => set({ coverage })}
      options={[
        { value: none, label: "All selections" },
        ...coverages.map((one) => ({ value: one, label: `${one} tests` }))
      ]}
      value={filled.coverage}
    />
    {numberField("A test fails in", "Runs.", [1, 10], filled.failures, (failures) => set({ failures }))}
    {numberField(
      "Of the last",
      "Finished runs, the one that finishes among them.",
      [1, 20],
      filled.ofLast,
      (ofLast) => set({ ofLast }),
      Number(filled.ofLast) < Number(filled.failures) ? "Not fewer than the runs that it fails in" : undefined
    )}
  </fieldset>
)

/** What tickets are made. */
const TicketFields = ({ filled, set, things }: FieldsProps) => {
  const projects = things.projects.filter(({ teams }) => teams.some(({ key }) => key === filled.team))
  const isAgent = things.isAgent(filled.owner)
  const isGone = filled.owner !== none && !things.owners.some(({ owner }) => owner.id === filled.owner)
  return (
    <fieldset className={grid}>
      <legend className="text-muted pb-2 text-xs font-medium">Make a ticket</legend>
      <Select
        label="Team"
        onChange={(team) => set({ team, project: none })}
        options={things.teams.map((one) => ({ value: one.key as string, label: one.name }))}
        value={filled.team}
      />
      <Select
        label="Project"
        onChange={(project) => set({ project })}
        options={[
          { value: none, label: "None" },
          ...projects.map((one) => ({ value: one.slug as string, label: one.name }))
        ]}
        value={filled.project}
      />
      <Select
        label="Owner"
        onChange={(owner) => set({ owner })}
        options={[
          { value: none, label: "Nobody" },
          ...(isGone ? [{ value: filled.owner, label: capitalized(things.ownerOf(filled.owner)) }] : []),
          ...things.owners.map(({ hint, label, owner }) => ({
            value: owner.id as string,
            label,
            ...(hint === undefined ? {} : { hint })
          }))
        ]}
        value={filled.owner}
      />
      {isAgent && <Select label="Ask it to" onChange={(ask) => set({ ask })} options={asks} value={filled.ask} />}
      {numberField(
        "One ticket from",
        "Where so many tests or more fail at once, those that fail alike share one.",
        [1, 5_000],
        filled.above,
        (above) => set({ above })
      )}
      {numberField(
        "Completed after",
        "Runs that its tests have passed since.",
        [1, 20],
        filled.closeAfter,
        (closeAfter) => set({ closeAfter })
      )}
      <Select
        label="Its tickets"
        onChange={(completion) => set({ completion })}
        options={completions}
        value={filled.completion}
      />
    </fieldset>
  )
}

/** The rule as it is now: somebody else may change it while it is filled in. */
const useCurrent = (slug: string, rule: TestRule | undefined) => {
  const [first] = useState(rule)
  const queries = useQueryClient()
  const { data } = useQuery({ ...testRulesQuery(slug), enabled: rule !== undefined })
  const of = (answer: typeof data) => answer?.testRules.find(({ id }) => id === first?.id)
  return {
    first,
    rule: of(data) ?? rule,
    readCurrent: async () => of(await readAgain(queries, testRulesQuery(slug)))
  }
}

const theOf = (clashes: ReadonlyArray<string>): string => `the ${clashes.join(" and the ")}`

const useSave = (slug: string, current: ReturnType<typeof useCurrent>) => {
  // What kept the person from saving before. What was only shown may not have been in view.
  const [told, setTold] = useState<ReadonlyArray<string>>([])
  const act = async (payload: RulePayload) => {
    const { first } = current
    if (first === undefined) return client.testRules.create({ params: { slug }, payload })
    const rule = (await current.readCurrent()) ?? first
    const clashes = clashesOf(first, rule, payload)
    if (clashes.some((name) => !told.includes(name))) {
      setTold(clashes)
      throw new Error(
        `Somebody else has changed ${theOf(clashes)} meanwhile. To put yours in place of theirs, save again.`
      )
    }
    return client.testRules.update({ params: { slug, testRule: first.id }, payload: changesOf(rule, payload) })
  }
  return { act, changes: [workspaceKey(slug, "test-rules")] }
}

const TestRuleForm = ({ onClose, rule, slug }: Props) => {
  const things = useRuleNames(slug)
  const current = useCurrent(slug, rule)
  const { filled, set } = useFilled(things, current.rule)
  const isAgent = things.isAgent(filled.owner)
  const payload = payloadOf(filled, isAgent)
  const { first } = current
  const clashes =
    first === undefined || current.rule === undefined || payload === undefined
      ? []
      : clashesOf(first, current.rule, payload)
  const save = useAction({
    ...useSave(slug, current),
    done: () => ({ title: rule === undefined ? "The rule was made" : "The rule was changed", tone: "success" }),
    onDone: onClose
  })
  return (
    <FormDialog
      action={rule === undefined ? "Create rule" : "Save"}
      description="It acts as you: whoever changes a rule is its author from then on."
      doing={{ ...save, mutate: () => payload !== undefined && save.mutate(payload) }}
      fields={["branch"]}
      missing={[
        ...(filled.product === none ? ["a product"] : []),
        ...(filled.team === none ? ["a team"] : []),
        ...(payload === undefined ? ["numbers that fit"] : [])
      ]}
      onClose={onClose}
      title={rule === undefined ? "New test rule" : "Change the test rule"}
    >
      {payload !== undefined && (
        <p aria-live="polite" className="bg-sunken foreign rounded-md px-3 py-2">
          {sentenceOf(payload, things.namesOf(payload), isAgent)} <span className="text-muted">{restOf(payload)}</span>
        </p>
      )}
      {payload !== undefined && payload.product !== none && <RuleMatches rule={payload} slug={slug} />}
      {clashes.length > 0 && (
        <p className="bg-warning-soft text-warning rounded-md px-3 py-2" role="alert">
          Somebody else has changed {theOf(clashes)} meanwhile. If you save, yours is in place of theirs.
        </p>
      )}
      <WhenFields error={save.error} filled={filled} set={set} things={things} />
      <TicketFields error={save.error} filled={filled} set={set} things={things} />
    </FormDialog>
  )
}

export default TestRuleForm
