import { type KeyboardEvent, type ReactNode, use, useId, useState } from "react"
import { later } from "../ui/later.tsx"
import { AttachButton } from "./AttachButton.tsx"
import { MentionChoices } from "./MentionChoices.tsx"
import { AudienceContext } from "./audience.ts"
import type { SeenTeam } from "./owners.ts"
import { TicketContext } from "./queries.ts"
import { UploadList } from "./UploadList.tsx"
import { useFieldUploads } from "./useFieldUploads.ts"
import { useMentions } from "./useMentions.ts"

/** A field for Markdown: `@` mentions people and agents, files are pasted and dropped, and what it will look like is one press away. */

const Markdown = later(() => import("./TicketMarkdown.tsx"))

interface Props {
  readonly slug: string
  readonly label: string
  /** Markdown. Of its mentions, the names are shown. */
  readonly value: string
  readonly placeholder?: string
  readonly rows?: number
  readonly hasFocus?: boolean
  readonly onChange: (text: string) => void
  /** Whether its name stands above it, as in a form. */
  readonly isLabelShown?: boolean | undefined
  /** What the server has against the text. */
  readonly issue?: string | undefined
  /** Ctrl or ⌘ with Enter. In a form, that submits it. */
  readonly onSubmit?: () => void
  readonly onEscape?: () => void
  /** Of a ticket that is not there yet: the team, where only those who see it are offered. */
  readonly team?: SeenTeam | undefined
}

const tab =
  "text-muted hover:text-text aria-pressed:bg-selected aria-pressed:text-text h-6 rounded-md px-2 text-xs font-medium"

const Preview = ({ text }: { readonly text: string }) => (
  <div className="min-h-20 px-3 py-2">
    {text.trim() === "" ? <p className="text-muted">Nothing to preview.</p> : <Markdown text={text} />}
  </div>
)

interface FrameProps extends Pick<Props, "isLabelShown" | "issue" | "label"> {
  readonly id: string
  readonly children: ReactNode
}

/** The name above a field, and what is wrong below it. */
const Frame = ({ children, id, isLabelShown = false, issue, label }: FrameProps) =>
  isLabelShown || issue !== undefined ? (
    <div className="flex min-w-0 flex-col gap-1">
      {isLabelShown && (
        <label className="font-medium" htmlFor={`${id}-field`}>
          {label}
        </label>
      )}
      {children}
      {issue !== undefined && (
        <p className="text-danger" id={`${id}-issue`}>
          {issue}
        </p>
      )}
    </div>
  ) : (
    children
  )

interface BarProps extends Pick<Props, "label"> {
  readonly files: ReturnType<typeof useFieldUploads>
  readonly isPreview: boolean
  readonly onPreview: (isPreview: boolean) => void
}

/** Below the text, and reached after it: from the field before, the keyboard comes to where the text is written. */
const Bar = ({ files, isPreview, label, onPreview }: BarProps) => (
  <div className="flex gap-1 px-1 pb-1">
    <button aria-pressed={!isPreview} className={tab} onClick={() => onPreview(false)} type="button">
      Write
    </button>
    <button aria-pressed={isPreview} className={tab} onClick={() => onPreview(true)} type="button">
      Preview
    </button>
    {files.mayAttach && (
      <AttachButton
        className={`${tab} ml-auto`}
        label={`Attach files to the ${label.toLowerCase()}`}
        onFiles={files.attach}
      />
    )}
  </div>
)

export const MarkdownField = (props: Props) => {
  const {
    hasFocus = false,
    isLabelShown,
    issue,
    label,
    onChange,
    onEscape,
    onSubmit,
    placeholder,
    rows = 5,
    slug
  } = props
  // As fields have line breaks: places in what is shown are places in the text.
  const value = props.value.replaceAll(/\r\n?/g, "\n")
  const id = useId()
  const team = use(TicketContext)?.team ?? props.team
  const ofSubject = use(AudienceContext)
  const mentions = useMentions(slug, value, onChange, team === undefined ? ofSubject : { teams: [team] })
  const files = useFieldUploads(mentions.field, value, onChange)
  const [isPreview, setPreview] = useState(false)
  const hasChoices = mentions.choices.length > 0
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
      if (onSubmit === undefined) return
      event.preventDefault()
      onSubmit()
    } else if (mentions.onKey(event.key)) {
      event.preventDefault()
      // Escape closes the choices, and not the dialog around them.
      event.stopPropagation()
    } else if (event.key === "Escape" && onEscape !== undefined) {
      event.preventDefault()
      onEscape()
    }
  }
  return (
    <Frame id={id} isLabelShown={isLabelShown} issue={issue} label={label}>
      <div
        className="border-border focus-within:border-strong relative flex flex-col rounded-md border"
        onDragOver={files.onDragOver}
        onDrop={files.onDrop}
        onPaste={files.onPaste}
      >
        {isPreview ? (
          <Preview text={value} />
        ) : (
          <textarea
            aria-activedescendant={hasChoices ? `${id}-${mentions.current}` : undefined}
            aria-autocomplete="list"
            aria-describedby={issue === undefined ? undefined : `${id}-issue`}
            aria-invalid={issue === undefined ? undefined : true}
            id={`${id}-field`}
            aria-controls={hasChoices ? id : undefined}
            aria-label={label}
            autoFocus={hasFocus}
            className="field-sizing-content max-h-[60vh] w-full resize-none bg-transparent px-3 py-2 outline-none"
            onBlur={mentions.close}
            onChange={({ target }) => mentions.onText(target.value, target.selectionStart)}
            onKeyDown={onKeyDown}
            placeholder={placeholder}
            ref={mentions.field}
            rows={rows}
            value={mentions.shown}
          />
        )}
        <Bar files={files} isPreview={isPreview} label={label} onPreview={setPreview} />
        <UploadList uploads={files.uploads} />
        {hasChoices && <MentionChoices id={id} mentions={mentions} />}
      </div>
    </Frame>
  )
}
