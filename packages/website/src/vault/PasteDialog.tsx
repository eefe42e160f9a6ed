import { useQueryClient } from "@tanstack/react-query"
import { type DotEnv, readDotEnv } from "@delivery/domain/vault/DotEnv"
import type { Secret } from "@delivery/domain/vault/Secret"
import { useRef, useState } from "react"
import { tellFailure } from "../api/failures.ts"
import { Missing } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { ApprovalNote } from "../catalog/ApprovalNote.tsx"
import { Button } from "../ui/Button.tsx"
import { Diff, type DiffLine } from "../ui/Diff.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { TextArea } from "../ui/Field.tsx"
import { counted } from "../ui/format.ts"
import { useKeys } from "../ui/keys.ts"
import { toast } from "../ui/toast.ts"
import { isWritten, refusalOf } from "./change.ts"
import { type Planned, planPaste, writePaste } from "./paste.ts"
import { type Failed, isForApproval, Refused, unfitOf, Warnings } from "./PasteNotes.tsx"
import type { Preferred } from "./preferred.ts"
import { useTarget } from "./Target.tsx"

/** A .env file, pasted: first what it would change, then the writing. Values are not shown again. */

interface Props {
  readonly slug: string
  readonly preferred: Preferred
  readonly secrets: ReadonlyArray<Secret>
  readonly onClose: () => void
}

/** One that a .env file cannot have is written, and says what that does. */
const lineOf = ({ change, name }: Planned, isUnfit: boolean): DiffLine => {
  if (change === "refused") return { kind: change, text: `${name} (${refusalOf(name)})` }
  if (isUnfit && isWritten(change)) return { kind: "warned", text: `${name} (a deployment then gets no .env file)` }
  return change === "unknown"
    ? { kind: "changed", text: `${name} (its value here may not be read)` }
    : { kind: change, text: name }
}

const order = { refused: 0, added: 1, changed: 2, unknown: 2, same: 3 }

const summaryOf = (planned: ReadonlyArray<Planned>): string => {
  const count = (...changes: ReadonlyArray<Planned["change"]>) =>
    planned.filter(({ change }) => changes.includes(change)).length
  const written = `${count("added")} added, ${count("changed", "unknown")} changed, ${count("same")} the same`
  return count("refused") === 0 ? written : `${written}, ${count("refused")} left out`
}

/** What a paste goes through: the comparison, then the writing, each of which may be refused. */
const usePaste = ({ onClose, preferred, secrets, slug }: Props) => {
  const { environment, fields, product } = useTarget(slug, preferred, true)
  const [planned, setPlanned] = useState<ReadonlyArray<Planned>>()
  const [failed, setFailed] = useState<Failed>()
  const [isBusy, setBusy] = useState(false)
  const queries = useQueryClient()
  const target =
    product === undefined || environment === undefined
      ? undefined
      : { slug, product: product.slug, environment: environment.slug }
  const place = `${product?.name} in ${environment?.name}`
  const busily = async (what: string, work: () => Promise<void>) => {
    setBusy(true)
    try {
      await work()
    } catch (error) {
      tellFailure(what, error)
    } finally {
      setBusy(false)
    }
  }
  const compare = (values: ReadonlyMap<string, string>) =>
    busily("The values could not be compared.", async () => {
      if (target === undefined) return
      setPlanned(await planPaste(target, values, secrets))
      setFailed(undefined)
    })
  const write = (planned: ReadonlyArray<Planned>) =>
    busily("The values could not be written.", async () => {
      if (target === undefined) return
      const outcomes = await writePaste(target, planned)
      await queries.invalidateQueries({ queryKey: workspaceKey(slug, "vault") })
      const refused = outcomes.filter(({ error }) => error !== undefined)
      if (refused.length > 0) {
        setFailed({ refused, written: outcomes.length - refused.length, place, environment: target.environment })
        return setPlanned(undefined)
      }
      toast({ title: `${counted(outcomes.length, "secret")} written to ${place}` })
      onClose()
    })
  const missing = [
    ...(product === undefined ? ["a product"] : []),
    ...(environment === undefined ? ["an environment"] : [])
  ]
  return { compare, failed, fields, isBusy, missing, place, planned, setPlanned, target, write }
}

const hintOf = (text: string, { values }: DotEnv): string =>
  text === "" ? "NAME=value, one a line. Quotes, comments and export are understood." : counted(values.size, "variable")

interface ContentsProps {
  readonly text: string
  readonly read: DotEnv
  readonly onChange: (text: string) => void
}

const Contents = ({ onChange, read, text }: ContentsProps) => (
  <TextArea
    autoComplete="off"
    autoFocus
    data-missing={read.values.size === 0 || undefined}
    hint={hintOf(text, read)}
    isMono
    label="Contents of the file"
    onChange={(event) => onChange(event.target.value)}
    rows={10}
    spellCheck={false}
    value={text}
  />
)

interface DifferenceProps {
  readonly planned: ReadonlyArray<Planned>
  readonly unfit: ReadonlySet<string>
}

const Difference = ({ planned, unfit }: DifferenceProps) => (
  <Diff
    label="What would change"
    lines={planned
      .toSorted((a, b) => order[a.change] - order[b.change] || a.name.localeCompare(b.name))
      .map((one) => lineOf(one, unfit.has(one.name)))}
  />
)

interface ActionsProps {
  /** How many secrets would be written; undefined before that is known. */
  readonly changes: number | undefined
  readonly isBusy: boolean
  /** Whether what would be written leaves the deployment without a .env file. */
  readonly isWarned: boolean
  /** What is to be filled in before anything can be compared. */
  readonly missing: ReadonlyArray<string>
  /** It was asked for all the same. */
  readonly isRefused: boolean
  readonly onBack: () => void
  readonly onGoOn: () => void
}

const Actions = ({ changes, isBusy, isRefused, isWarned, missing, onBack, onGoOn }: ActionsProps) =>
  changes === undefined ? (
    <>
      {missing.length > 0 && <Missing isRefused={isRefused} missing={missing} />}
      <Cancel />
      <Button disabled={missing.length > 0} isBusy={isBusy} look="primary" onClick={onGoOn}>
        Show the difference
      </Button>
    </>
  ) : (
    <>
      <Button autoFocus={changes === 0} onClick={onBack}>
        Back
      </Button>
      <Button
        autoFocus={!isWarned}
        disabled={changes === 0}
        isBusy={isBusy}
        key="write"
        look={isWarned ? "plain" : "primary"}
        onClick={onGoOn}
      >
        Write {counted(changes, "secret")}
        {isWarned && " all the same"}
      </Button>
    </>
  )

const PasteDialog = (props: Props) => {
  const { onClose } = props
  const [text, setText] = useState("")
  const [isLeftOut, setLeftOut] = useState(false)
  const { compare, failed, fields, isBusy, missing: unchosen, planned: all, ...paste } = usePaste(props)
  const { place, setPlanned, target, write } = paste
  const read = readDotEnv(text)
  const { values } = read
  const unfit = new Set(unfitOf(read))
  const planned = isLeftOut ? all?.filter(({ name }) => !unfit.has(name)) : all
  const changes = planned?.filter(({ change }) => isWritten(change)).length ?? 0
  const missing = values.size > 0 ? unchosen : [...unchosen, "a line NAME=value"]
  const [isRefused, setRefused] = useState(false)
  const form = useRef<HTMLDivElement>(null)
  const goOn = () => {
    if (isBusy) return
    if (planned !== undefined) {
      if (changes > 0) void write(planned)
      return
    }
    setRefused(missing.length > 0)
    if (missing.length === 0) void compare(values)
    else form.current?.querySelector<HTMLElement>("[data-missing]")?.focus()
  }
  useKeys([{ keys: "Mod+enter", label: "Go on", group: "Vault", run: goOn }])
  return (
    <Dialog
      actions={
        <Actions
          changes={planned === undefined ? undefined : changes}
          isBusy={isBusy}
          isRefused={isRefused}
          isWarned={unfit.size > 0 && !isLeftOut}
          missing={missing}
          onBack={() => setPlanned(undefined)}
          onGoOn={goOn}
        />
      }
      description={
        planned === undefined
          ? "Nothing is written before you have seen what would change."
          : `${place}: ${summaryOf(planned)}`
      }
      isPersistent
      isWide
      onClose={onClose}
      title="Paste a .env file"
    >
      <div className="flex flex-col gap-3" ref={form}>
        {planned === undefined && (
          <>
            {failed !== undefined && <Refused {...failed} />}
            {fields}
          </>
        )}
        {target !== undefined && (
          <ApprovalNote
            environment={target.environment}
            isRefused={failed?.environment === target.environment && isForApproval(failed)}
            refusal=""
            slug={target.slug}
          />
        )}
        {planned === undefined && <Contents onChange={setText} read={read} text={text} />}
        <Warnings isCompared={planned !== undefined} isLeftOut={isLeftOut} onLeaveOut={setLeftOut} read={read} />
        {planned !== undefined && <Difference planned={planned} unfit={unfit} />}
      </div>
    </Dialog>
  )
}

export default PasteDialog
