import { environmentFile } from "@delivery/domain/deploy/EnvironmentFile"
import type { DotEnv } from "@delivery/domain/vault/DotEnv"
import type { ReactNode } from "react"
import { type Failure, failureOf } from "../api/failures.ts"
import { isUnapproved } from "../catalog/unapproved.ts"
import { counted } from "../ui/format.ts"
import type { Outcome } from "./paste.ts"

/** What is to be known of a .env file that is pasted: what is wrong with it, and what was not written. */

/** The names of what is written, but makes that no .env file is written of the values any more. */
export const unfitOf = ({ values }: DotEnv): ReadonlyArray<string> => environmentFile(values).refused ?? []

const firstOf = (all: ReadonlyArray<number | string>): string =>
  `${all.slice(0, 10).join(", ")}${all.length > 10 ? ` and ${all.length - 10} more` : ""}`

/** What of the file is not written, and what is, but cannot be written into such a file again. */
const notesOf = ({ ignored, repeated }: DotEnv): ReadonlyArray<string> => [
  ...(ignored.length === 0 ? [] : [`Not understood, and left out: line ${firstOf(ignored)}.`]),
  ...(repeated.length === 0 ? [] : [`There more than once, of which the last counts: ${firstOf(repeated)}.`])
]

interface UnfitProps {
  readonly unfit: ReadonlyArray<string>
  readonly isLeftOut: boolean
  /** Whether what would be written is shown, and would be written next. */
  readonly isCompared: boolean
  readonly onLeaveOut: (isLeftOut: boolean) => void
}

const Unfit = ({ isCompared, isLeftOut, onLeaveOut, unfit }: UnfitProps) => {
  const isOne = unfit.length === 1
  const names = <span className="font-mono text-xs">{firstOf(unfit)}</span>
  return (
    <div className="bg-warning-soft text-warning foreign rounded-md px-3 py-2" role="alert">
      {isLeftOut ? (
        <>
          Left out, since no .env file of a deployment can have {isOne ? "it" : "them"}: {names}.
        </>
      ) : (
        <>
          No .env file of a deployment can have {names}. If {isOne ? "it is" : "they are"} written, the deployment gets
          no .env file at all, not even with the other names.
        </>
      )}{" "}
      <button
        // Of the two ways on, the one that breaks nothing.
        autoFocus={isCompared && !isLeftOut}
        className="whitespace-nowrap underline"
        key={String(isCompared)}
        onClick={() => onLeaveOut(!isLeftOut)}
        type="button"
      >
        {isLeftOut ? `Write ${isOne ? "it" : "them"} all the same` : `Leave ${isOne ? "it" : "them"} out`}
      </button>
    </div>
  )
}

interface WarningsProps extends Omit<UnfitProps, "unfit"> {
  readonly read: DotEnv
}

/** What is wrong with the file, the gravest first. */
export const Warnings = ({ read, ...rest }: WarningsProps) => {
  const unfit = unfitOf(read)
  const notes = notesOf(read)
  return (
    <>
      {unfit.length > 0 && <Unfit {...rest} unfit={unfit} />}
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

interface NamesProps {
  readonly children: ReactNode
  readonly names: ReadonlyArray<string>
}

const Names = ({ children, names }: NamesProps) => (
  <p className="foreign">
    {children} <span className="font-mono text-xs">{names.join(", ")}</span>
  </p>
)

/** What came of a writing in which not all was written. */
export interface Failed {
  readonly refused: ReadonlyArray<Outcome>
  readonly written: number
  readonly place: string
  readonly environment: string
}

export const isForApproval = ({ refused }: Failed): boolean =>
  refused.some(({ error }) => isUnapproved(failureOf(error)))

/** How many were written, which were not, and of which nobody knows. */
export const Refused = ({ place, refused, written }: Failed) => {
  const all = refused.map(({ error, name }): readonly [string, Failure] => [name, failureOf(error)])
  const namesOf = (is: (failure: Failure) => boolean) => all.flatMap(([name, failure]) => (is(failure) ? [name] : []))
  const isUnknown = ({ _tag }: Failure) => _tag === "NoAnswer"
  const [unknown, unapproved] = [namesOf(isUnknown), namesOf(isUnapproved)]
  return (
    <div className="bg-danger-soft text-danger flex flex-col gap-1 rounded-md px-3 py-2" role="alert">
      <p className="font-medium">
        {written > 0
          ? `${counted(written, "secret")} written to ${place}, and not all.`
          : unknown.length > 0
            ? `Not all is known to be written to ${place}.`
            : `Nothing was written to ${place}.`}
      </p>
      {unapproved.length > 0 && <Names names={unapproved}>Not written, for want of an approval:</Names>}
      {unknown.length > 0 && (
        <Names names={unknown}>
          The server did not answer. Show the difference again to see which of these it has written:
        </Names>
      )}
      <ul className="empty:hidden">
        {all
          .filter(([, failure]) => !isUnapproved(failure) && !isUnknown(failure))
          .map(([name, { message }]) => (
            <li className="foreign" key={name}>
              <span className="font-mono text-xs">{name}</span> was not written: {message}
            </li>
          ))}
      </ul>
    </div>
  )
}
