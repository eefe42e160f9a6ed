import { type ReactNode, useEffect, useRef, useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { ConfirmLink } from "./ConfirmLink.tsx"
import { type Failure, failureOf, isUnconfirmed } from "./failures.ts"
import { ProofNote, useUnproven } from "./ProofNote.tsx"

interface Props {
  readonly title: string
  readonly description?: ReactNode
  /** The verb on its button. */
  readonly action: string
  /** It ends something, and says so by its colour. */
  readonly isDangerous?: boolean
  /** What the button does: a mutation. */
  readonly doing: {
    readonly error: unknown
    readonly isPending: boolean
    readonly mutate: () => void
    /** When it was last done. */
    readonly submittedAt?: number
  }
  /** Whether it takes a proof of who one is that is new: where there is none, that is said before anything is typed. */
  readonly isProofNeeded?: boolean
  /** Whether enough is filled in. */
  readonly isReady?: boolean
  /** Whether something that it sends is still being read: what was asked meanwhile is done after that. Default: no. */
  readonly isWaiting?: boolean
  /** What is not filled in yet, such as "a title": it is said beside the button. Its field has `data-missing`. */
  readonly missing?: ReadonlyArray<string>
  /** The fields of the body that show their own issues. */
  readonly fields?: ReadonlyArray<string>
  readonly onClose: () => void
  /** What was typed is thrown away. */
  readonly onDiscard?: () => void
  readonly children?: ReactNode
}

/** What is not filled in yet, in a line of its own where the buttons take what there is. Once it was asked for all the same, it is an alert. */
export const Missing = ({
  isRefused,
  missing
}: {
  readonly isRefused: boolean
  readonly missing: ReadonlyArray<string>
}) => (
  <p
    className={`flex-1 basis-30 self-center max-sm:basis-full ${isRefused ? "text-danger" : "text-muted"}`}
    role={isRefused ? "alert" : undefined}
  >
    Still missing: {new Intl.ListFormat("en-GB").format(missing)}.
  </p>
)

const FailureLine = ({ failure }: { readonly failure: Failure }) => (
  <p className="text-danger foreign" role="alert">
    {failure._tag === "Unauthorized" ? "Your session is over." : failure.message}
    {failure.call?.requestId !== undefined && (
      <span className="text-faint block text-xs">
        Request <span className="font-mono">{failure.call.requestId}</span>
      </span>
    )}
  </p>
)

interface SaidProps {
  readonly failure: Failure | undefined
  /** It is said at a field. */
  readonly isAtField: boolean
  readonly isProven: boolean
}

/** Why it could not be done, until what was asked for is there. */
const Said = ({ failure, isAtField, isProven }: SaidProps) => {
  if (isProven) {
    return (
      <p className="text-success" role="status">
        You have confirmed that it is you. Now press the button again.
      </p>
    )
  }
  return failure === undefined || isAtField ? null : <FailureLine failure={failure} />
}

/** A dialog that does one thing, and says why it could not. Load it lazily: it brings Base UI. */
export const FormDialog = ({
  action,
  children,
  description,
  doing,
  fields = [],
  isDangerous = false,
  isProofNeeded = false,
  isReady: isValid = true,
  isWaiting = false,
  missing = [],
  onClose,
  onDiscard,
  title
}: Props) => {
  const failure = doing.error === null ? undefined : failureOf(doing.error)
  const unproven = useUnproven(isProofNeeded, failure !== undefined && isUnconfirmed(failure), doing.submittedAt ?? 0)
  const isAtField = failure?.issues?.some(({ path }) => fields.includes(path[0] ?? "")) === true
  const isReady = isValid && missing.length === 0
  const [isAsked, setAsked] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const [isRefused, setRefused] = useState(false)
  const submit = () => {
    setAsked(isReady && isWaiting)
    setRefused(!isReady)
    if (!isReady) form.current?.querySelector<HTMLElement>("[data-missing]")?.focus()
    if (isReady && !isWaiting && !doing.isPending) doing.mutate()
  }
  useEffect(() => {
    if (isAsked && !isWaiting) submit()
  }, [isAsked, isWaiting])
  return (
    <Dialog
      actions={
        <>
          {missing.length > 0 && <Missing isRefused={isRefused} missing={missing} />}
          <Cancel />
          <Button
            disabled={!isReady}
            isBusy={doing.isPending || isAsked}
            look={unproven.isRefused ? "plain" : isDangerous ? "danger" : "primary"}
            onClick={submit}
          >
            {action}
          </Button>
          {unproven.isRefused && <ConfirmLink look="primary" />}
        </>
      }
      description={description}
      isPersistent
      isSent={doing.isPending}
      onClose={onClose}
      onDiscard={onDiscard}
      title={title}
    >
      <form
        className="flex flex-col gap-3"
        ref={form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          submit()
        }}
      >
        {unproven.isToldBefore && <ProofNote />}
        {children}
        <Said failure={failure} isAtField={isAtField} isProven={unproven.isGiven} />
        {/* Enter in a field does what the button does. */}
        <button aria-hidden="true" className="hidden" tabIndex={-1} type="submit" />
      </form>
    </Dialog>
  )
}
