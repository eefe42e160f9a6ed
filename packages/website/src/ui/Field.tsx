import { type InputHTMLAttributes, type ReactNode, type Ref, type TextareaHTMLAttributes, useId } from "react"

/** Native fields, with their name above and what is wrong below. */

const box =
  "w-full min-w-0 rounded-md border border-border bg-surface px-2 text-text hover:border-strong aria-invalid:border-danger disabled:opacity-50"

interface Around {
  readonly label: string
  readonly hint?: ReactNode
  /** What the server, or the page, has against the value. */
  readonly issue?: string | undefined
  /** The name is for screen readers alone. */
  readonly isLabelHidden?: boolean
}

const useParts = ({ hint, issue }: Around) => {
  const id = useId()
  const [hintId, issueId] = [`${id}hint`, `${id}issue`]
  const described = [...(issue === undefined ? [] : [issueId]), ...(hint === undefined ? [] : [hintId])].join(" ")
  return {
    hintId,
    issueId,
    attributes: {
      id,
      "aria-describedby": described === "" ? undefined : described,
      "aria-invalid": issue === undefined ? undefined : true
    }
  }
}

interface FrameProps extends Around {
  readonly parts: ReturnType<typeof useParts>
  readonly children: ReactNode
}

const Frame = ({ children, hint, isLabelHidden = false, issue, label, parts }: FrameProps) => (
  <div className="flex min-w-0 flex-col gap-1">
    <label className={isLabelHidden ? "sr-only" : "font-medium"} htmlFor={parts.attributes.id}>
      {label}
    </label>
    {children}
    {issue !== undefined && (
      <p className="text-danger" id={parts.issueId}>
        {issue}
      </p>
    )}
    {hint !== undefined && (
      <p className="text-muted text-xs" id={parts.hintId}>
        {hint}
      </p>
    )}
  </div>
)

interface InputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "className">, Around {
  readonly isMono?: boolean
  readonly ref?: Ref<HTMLInputElement>
}

export const Input = ({ hint, isLabelHidden, isMono = false, issue, label, ...rest }: InputProps) => {
  const around = { label, hint, issue, ...(isLabelHidden === undefined ? {} : { isLabelHidden }) }
  const parts = useParts(around)
  return (
    <Frame {...around} parts={parts}>
      <input
        {...rest}
        {...parts.attributes}
        className={`${box} h-7 ${isMono ? "font-mono" : ""} ${rest.value === "" ? "is-empty" : ""}`}
      />
    </Frame>
  )
}

interface TextAreaProps extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "className">, Around {
  readonly isMono?: boolean
  readonly ref?: Ref<HTMLTextAreaElement>
}

export const TextArea = ({ hint, isLabelHidden, isMono = false, issue, label, ...rest }: TextAreaProps) => {
  const around = { label, hint, issue, ...(isLabelHidden === undefined ? {} : { isLabelHidden }) }
  const parts = useParts(around)
  return (
    <Frame {...around} parts={parts}>
      <textarea {...rest} {...parts.attributes} className={`${box} py-1.5 ${isMono ? "font-mono text-xs" : ""}`} />
    </Frame>
  )
}
