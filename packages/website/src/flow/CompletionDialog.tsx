import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { type KeyboardEvent, useDeferredValue, useRef, useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { productsQuery } from "../catalog/queries.ts"
import { casesQuery } from "../runs/queries.ts"
import { Input, TextArea } from "../ui/Field.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { Select } from "../ui/Select.tsx"
import { undone } from "../ui/toast.ts"
import { Truncated } from "../ui/Truncated.tsx"
import { fileOf, titleOf } from "./caseName.ts"
import { wholeAt } from "./words.ts"
import { WhichRuns } from "./WhichRuns.tsx"

/** What evidence a ticket asks for: of which tests, and in how many runs. */

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly onClose: () => void
}

/** As many as are offered at once. */
const mostFound = 6

interface PickerProps {
  readonly slug: string
  readonly product: string
  readonly chosen: ReadonlyArray<string>
  readonly onAdd: (caseId: string) => void
}

/** Finds tests of the product by their words. */
const Picker = ({ chosen, onAdd, product, slug }: PickerProps) => {
  const [text, setText] = useState("")
  const q = useDeferredValue(text.trim())
  const { data } = useInfiniteQuery({ ...casesQuery(slug, product, { q }), enabled: q.length > 1 })
  const field = useRef<HTMLInputElement>(null)
  const found = q.length > 1 ? (data?.pages.flatMap(({ cases }) => cases) ?? []) : []
  const offered = found.filter(({ caseId }) => !chosen.includes(caseId)).slice(0, mostFound)
  const add = (caseId: string) => {
    onAdd(caseId)
    setText("")
    field.current?.focus()
  }
  /** Enter adds the first that is found. It sends the form where nothing is looked for. */
  const onEnter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || text.trim() === "") return
    event.preventDefault()
    if (offered[0] !== undefined && q === text.trim()) add(offered[0].caseId)
  }
  return (
    <div className="flex flex-col gap-1">
      <Input
        autoComplete="off"
        hint={offered.length === 0 ? undefined : "Enter adds the first."}
        label="Add a test"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onEnter}
        placeholder="Words of its title or file"
        ref={field}
        type="search"
        value={text}
      />
      <ul aria-label="Tests found">
        {offered.map(({ caseId, title }) => (
          <li className="flex min-h-7 items-center gap-2" key={caseId}>
            <span className="foreign min-w-0 flex-1 truncate">{title.slice(0, 500)}</span>
            <Button aria-label={`Add ${title.slice(0, 200)}`} look="quiet" onClick={() => add(caseId)}>
              Add
            </Button>
          </li>
        ))}
      </ul>
    </div>
  )
}

interface ChosenProps {
  readonly ids: ReadonlyArray<string>
  readonly product: string
  readonly onChange: (ids: ReadonlyArray<string>) => void
}

const ChosenTests = ({ ids, onChange, product }: ChosenProps) => (
  <section aria-label="Tests">
    <h3 className="font-medium">Tests{ids.length > 0 && ` of ${product}`}</h3>
    {ids.length === 0 && <p className="text-muted">None yet.</p>}
    <ul className="max-h-48 overflow-y-auto">
      {ids.map((caseId) => (
        <li className="flex min-h-7 items-center gap-2" key={caseId}>
          <span className="flex min-w-0 flex-1 flex-col" title={caseId}>
            <span className="foreign truncate">{titleOf(caseId)}</span>
            <span className="text-muted flex min-w-0">
              <Truncated text={fileOf(caseId)} />
            </span>
          </span>
          <IconButton
            icon="cross"
            isSmall
            label={`Remove ${caseId}`}
            onClick={() => onChange(ids.filter((one) => one !== caseId))}
          />
        </li>
      ))}
    </ul>
  </section>
)

interface AskedProps {
  readonly how: Ticket["completion"]
  readonly onHow: (how: Ticket["completion"]) => void
  readonly passes: string
  readonly onPasses: (passes: string) => void
  readonly issue: string | undefined
}

/** Whether it needs evidence, and of how many runs. */
const Asked = ({ how, issue, onHow, onPasses, passes }: AskedProps) => (
  <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2 sm:items-end">
    <Select
      label="It is completed"
      onChange={onHow}
      options={[
        { value: "free", label: "By whoever moves it" },
        { value: "evidence", label: "Only with evidence" }
      ]}
      value={how}
    />
    <Input
      inputMode="numeric"
      issue={issue}
      label="Runs that each must pass"
      max={10}
      min={1}
      onChange={(event) => onPasses(event.target.value)}
      type="number"
      value={passes}
    />
  </div>
)

/** What a ticket asks for, as a change of it. */
const asked = ({ cases, completion, passes }: Pick<Ticket, "cases" | "completion" | "passes">) => ({
  cases: cases === null ? null : { product: cases.product, caseIds: [...cases.caseIds] },
  completion,
  passes
})

const useSave = ({ onClose, slug, ticket }: Props) => {
  const { identifier } = ticket
  const change = (payload: ReturnType<typeof asked> & { readonly override?: string }) =>
    client.tickets.update({ params: { slug, ticket: identifier }, payload })
  const changes = ["tickets", "evidence"].map((kind) => workspaceKey(slug, kind))
  const before = asked(ticket)
  const back = useAction({
    act: change,
    changes,
    failed: () => `${identifier} does not ask for what it asked for before`
  })
  return useAction({
    act: change,
    changes,
    done: (answer, { override: _, ...now }) =>
      JSON.stringify(now) === JSON.stringify(before)
        ? { title: `${identifier} asks for what it asked for before` }
        : {
            title: `${identifier} asks for ${answer.completion === "free" ? "no evidence" : "other evidence"}`,
            undo: () => undone(back.mutateAsync(before), `${identifier} asks for what it asked for before`)
          },
    onDone: onClose
  })
}

const CompletionDialog = (props: Props) => {
  const { onClose, slug, ticket } = props
  const { cases, completion, identifier } = ticket
  const { data: products } = useQuery(productsQuery(slug))
  const [product, setProduct] = useState(cases?.product)
  const [ids, setIds] = useState<ReadonlyArray<string>>(cases?.caseIds ?? [])
  const [passes, setPasses] = useState(String(ticket.passes))
  const [how, setHow] = useState<Ticket["completion"]>(cases === null ? "evidence" : completion)
  const [reason, setReason] = useState("")
  const [refused, setRefused] = useState<string>()
  const chosen = product ?? products?.products[0]?.slug ?? ""
  const count = wholeAt(passes, 1, 10)
  const save = useSave(props)
  // A completed ticket says that its tests pass: what it did not prove needs the evidence, or a reason.
  const isUnproven = save.error !== null && failureOf(save.error).reason === "evidence_missing"
  const now = {
    cases: ids.length === 0 ? null : { product: chosen, caseIds: [...ids] },
    completion: how,
    passes: count ?? 1
  }
  const key = JSON.stringify(now)
  // What it would ask for otherwise by now may need no reason.
  if (refused !== undefined && refused !== key) setRefused(undefined)
  const isRefused = refused === key
  const mutate = () =>
    save.mutate(isRefused && reason.trim() !== "" ? { ...now, override: reason.trim() } : now, {
      onError: (error) => failureOf(error).reason === "evidence_missing" && setRefused(key)
    })
  return (
    <FormDialog
      action="Save"
      description="Evidence is that each of its tests passes again, in so many runs."
      doing={{ ...save, error: isUnproven ? null : save.error, mutate }}
      fields={["passes", "cases", "completion", "override"]}
      missing={[
        ...(how === "evidence" && ids.length === 0 ? ["a test"] : []),
        ...(count === undefined ? ["a number of runs from 1 to 10"] : []),
        ...(isRefused && reason.trim() === "" ? ["a reason"] : [])
      ]}
      onClose={onClose}
      title={`How ${identifier} is completed`}
    >
      <Asked how={how} issue={issueAt(save.error, "passes")} onHow={setHow} onPasses={setPasses} passes={passes} />
      {ids.length === 0 && (products?.products.length ?? 0) > 1 && (
        <Select
          label="Product"
          onChange={setProduct}
          options={(products?.products ?? []).map((one) => ({ value: one.slug as string, label: one.name }))}
          value={chosen}
        />
      )}
      <ChosenTests
        ids={ids}
        onChange={setIds}
        product={products?.products.find((one) => one.slug === chosen)?.name ?? chosen}
      />
      {chosen !== "" && (
        <Picker chosen={ids} onAdd={(caseId) => setIds([...ids, caseId])} product={chosen} slug={slug} />
      )}
      {isRefused && (
        <>
          <p className="bg-warning-soft text-warning rounded-md px-3 py-2" role="alert">
            {identifier} is completed, and not all tests that it would ask for have passed again often enough. Let them
            pass first, or say why it stays completed without.
          </p>
          <TextArea
            autoFocus
            data-missing={reason.trim() === "" || undefined}
            hint="The audit keeps who changed it, and this reason."
            issue={issueAt(save.error, "override")}
            label="Why without evidence"
            maxLength={2_000}
            onChange={(event) => setReason(event.target.value)}
            rows={3}
            value={reason}
          />
        </>
      )}
      <WhichRuns />
    </FormDialog>
  )
}

export default CompletionDialog
