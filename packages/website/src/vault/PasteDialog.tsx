import { useQueryClient } from "@tanstack/react-query"
import { environmentFile } from "@delivery/domain/deploy/EnvironmentFile"
import { type DotEnv, readDotEnv } from "@delivery/domain/vault/DotEnv"
import type { Secret } from "@delivery/domain/vault/Secret"
import { useState } from "react"
import { failureOf, tellFailure } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Diff, type DiffLine } from "../ui/Diff.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { TextArea } from "../ui/Field.tsx"
import { counted } from "../ui/format.ts"
import { useKeys } from "../ui/keys.ts"
import { toast } from "../ui/toast.ts"
import { isWritten, refusalOf } from "./change.ts"
import { type Outcome, type Planned, planPaste, writePaste } from "./paste.ts"
import type { Preferred } from "./preferred.ts"
import { useTarget } from "./Target.tsx"

/** A .env file, pasted: first what it would change, then the writing. Values are not shown again. */

interface Props {
  readonly slug: string
  readonly preferred: Preferred
  readonly secrets: ReadonlyArray<Secret>
  readonly onClose: () => void
}

const unfitOf = ({ values }: DotEnv): ReadonlyArray<string> => environmentFile(values).refused ?? []

/** One that a .env file cannot have is written, and looks as grave as it is. */
const lineOf = ({ change, name }: Planned, isUnfit: boolean): DiffLine => {
  if (change === "refused") return { kind: change, text: `${name} (${refusalOf(name)})` }
  if (isUnfit && isWritten(change)) return { kind: "refused", text: `${name} (is written, and stops the .env file)` }
  return change === "unknown"
    ? { kind: "changed", text: `${name} (its value here may not be read)` }
    : { kind: change, text: name }
}

const order = { refused: 0, added: 1, changed: 2, unknown: 2, same: 3 }

const summaryOf = (planned: ReadonlyArray<Planned>): string => {
  const count = (...changes: ReadonlyArray<Planned["change"]>) =>
    planned.filter(({ change }) => changes.includes(change)).length
  const written = `${count("added")} added, ${count("changed", "unknown")} changed, ${count("same")} the same`
  return count("refused") === 0 ? written : `${written}, ${count("refused")} refused`
}

const Refused = ({ outcomes }: { readonly outcomes: ReadonlyArray<Outcome> }) => (
  <div className="bg-danger-soft text-danger rounded-md px-3 py-2" role="alert">
    <p className="font-medium">These were not written, the others were:</p>
    <ul>
      {outcomes.map(({ error, name }) => (
        <li className="foreign" key={name}>
          <span className="font-mono text-xs">{name}</span>: {failureOf(error).message}
        </li>
      ))}
    </ul>
  </div>
)

/** What a paste goes through: the comparison, then the writing, each of which may be refused. */
const usePaste = ({ onClose, preferred, secrets, slug }: Props) => {
  const { environment, fields, product } = useTarget(slug, preferred, true)
  const [planned, setPlanned] = useState<ReadonlyArray<Planned>>()
  const [refused, setRefused] = useState<ReadonlyArray<Outcome>>([])
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
      if (target !== undefined) setPlanned(await planPaste(target, values, secrets))
    })
  const write = () =>
    busily("The values could not be written.", async () => {
      if (target === undefined || planned === undefined) return
      const outcomes = await writePaste(target, planned)
      await queries.invalidateQueries({ queryKey: workspaceKey(slug, "vault") })
      const failed = outcomes.filter(({ error }) => error !== undefined)
      const written = outcomes.length - failed.length
      if (written > 0) toast({ title: `${counted(written, "secret")} written to ${place}` })
      if (failed.length === 0) return onClose()
      setRefused(failed)
      setPlanned(undefined)
    })
  return { compare, fields, hasTarget: target !== undefined, isBusy, place, planned, refused, setPlanned, write }
}

const firstOf = (all: ReadonlyArray<number | string>): string =>
  `${all.slice(0, 10).join(", ")}${all.length > 10 ? ` and ${all.length - 10} more` : ""}`

/** What of the file is not written, and what is, but cannot be written into such a file again. */
const notesOf = ({ ignored, repeated }: DotEnv): ReadonlyArray<string> => [
  ...(ignored.length === 0 ? [] : [`Not understood, and left out: line ${firstOf(ignored)}.`]),
  ...(repeated.length === 0 ? [] : [`There more than once, of which the last counts: ${firstOf(repeated)}.`])
]

/** What is wrong with the file, the gravest first. */
const Warnings = ({ read }: { readonly read: DotEnv }) => {
  const unfit = unfitOf(read)
  const notes = notesOf(read)
  return (
    <>
      {unfit.length > 0 && (
        <p className="bg-danger-soft text-danger foreign rounded-md px-3 py-2" role="alert">
          <strong className="font-medium">
            With {unfit.length === 1 ? "this name" : "these names"}, a deployment gets no .env file:
          </strong>{" "}
          <span className="font-mono text-xs">{firstOf(unfit)}</span>
        </p>
      )}
      {notes.length > 0 && (
        <ul className="bg-warning-soft text-warning foreign list-disc rounded-md py-2 pr-3 pl-7" role="status">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  )
}

const hintOf = (text: string, { values }: DotEnv): string =>
  text === "" ? "NAME=value, one a line. Quotes, comments and export are understood." : counted(values.size, "variable")

interface DifferenceProps {
  readonly planned: ReadonlyArray<Planned>
  readonly read: DotEnv
}

const Difference = ({ planned, read }: DifferenceProps) => {
  const unfit = new Set(unfitOf(read))
  return (
    <div className="flex flex-col gap-3">
      <Warnings read={read} />
      <Diff
        label="What would change"
        lines={planned
          .toSorted((a, b) => order[a.change] - order[b.change] || a.name.localeCompare(b.name))
          .map((one) => lineOf(one, unfit.has(one.name)))}
      />
    </div>
  )
}

const PasteDialog = (props: Props) => {
  const { onClose } = props
  const [text, setText] = useState("")
  const { compare, fields, hasTarget, isBusy, place, planned, refused, setPlanned, write } = usePaste(props)
  const read = readDotEnv(text)
  const { values } = read
  const changes = planned?.filter(({ change }) => isWritten(change)).length ?? 0
  const mayCompare = values.size > 0 && hasTarget
  const goOn = () => {
    if (isBusy) return
    if (planned !== undefined && changes > 0) void write()
    else if (planned === undefined && mayCompare) void compare(values)
  }
  useKeys([{ keys: "Mod+enter", label: "Go on", group: "Vault", run: goOn }])
  return (
    <Dialog
      actions={
        planned === undefined ? (
          <>
            <Cancel />
            <Button disabled={!mayCompare} isBusy={isBusy} look="primary" onClick={() => void compare(values)}>
              Show the difference
            </Button>
          </>
        ) : (
          <>
            <Button autoFocus={changes === 0} onClick={() => setPlanned(undefined)}>
              Back
            </Button>
            <Button
              autoFocus
              disabled={changes === 0}
              isBusy={isBusy}
              key="write"
              look="primary"
              onClick={() => void write()}
            >
              Write {counted(changes, "secret")}
            </Button>
          </>
        )
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
      {planned !== undefined ? (
        <Difference planned={planned} read={read} />
      ) : (
        <div className="flex flex-col gap-3">
          {refused.length > 0 && <Refused outcomes={refused} />}
          {fields}
          <TextArea
            autoComplete="off"
            autoFocus
            hint={hintOf(text, read)}
            isMono
            label="Contents of the file"
            onChange={(event) => setText(event.target.value)}
            rows={10}
            spellCheck={false}
            value={text}
          />
          <Warnings read={read} />
        </div>
      )}
    </Dialog>
  )
}

export default PasteDialog
