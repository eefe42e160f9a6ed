import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from "react"
import { later } from "../ui/later.tsx"
import { AttachButton } from "./AttachButton.tsx"
import { choicesOf, type Mention, mentionAt, withMention } from "./mention.ts"
import { useOwners } from "./owners.ts"
import { UploadList } from "./UploadList.tsx"
import { useFieldUploads } from "./useFieldUploads.ts"

/** A field for Markdown: `@` mentions people and agents, files are pasted and dropped, and what it will look like is one press away. */

const Markdown = later(() => import("./TicketMarkdown.tsx"))

interface Props {
  readonly slug: string
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly rows?: number
  readonly hasFocus?: boolean
  readonly onChange: (text: string) => void
  /** Ctrl or ⌘ with Enter. */
  readonly onSubmit: () => void
  readonly onEscape?: () => void
}

const tab =
  "text-muted hover:text-text aria-pressed:bg-selected aria-pressed:text-text h-6 rounded-md px-2 text-xs font-medium"

/** The mention that is being typed, and whom it may mean. */
const useMentions = (slug: string, value: string, onChange: (text: string) => void) => {
  const owners = useOwners(slug)
  const field = useRef<HTMLTextAreaElement>(null)
  const caret = useRef<number>(undefined)
  const [mention, setMention] = useState<Mention>()
  const [current, setCurrent] = useState(0)
  const choices = mention === undefined ? [] : choicesOf(owners, mention.typed)
  useLayoutEffect(() => {
    if (caret.current === undefined) return
    field.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  }, [value])
  const choose = (index: number) => {
    if (mention === undefined || choices[index] === undefined) return
    const next = withMention(value, mention, choices[index].owner)
    caret.current = next.caret
    setMention(undefined)
    onChange(next.text)
    field.current?.focus()
  }
  /** Whether the key was one of the choices'. */
  const onKey = (key: string): boolean => {
    if (choices.length === 0) return false
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: choices.length - 1 }
    const step = steps[key]
    if (step !== undefined) setCurrent((current + step) % choices.length)
    else if (key === "Enter" || key === "Tab") choose(current)
    else if (key === "Escape") setMention(undefined)
    else return false
    return true
  }
  const onText = (text: string, at: number) => {
    onChange(text)
    setMention(mentionAt(text, at))
    setCurrent(0)
  }
  return { field, choices, current, choose, onKey, onText, close: () => setMention(undefined) }
}

interface ChoicesProps {
  readonly id: string
  readonly mentions: ReturnType<typeof useMentions>
}

const Choices = ({ id, mentions: { choices, choose, current } }: ChoicesProps) => (
  <ul
    aria-label="People and agents"
    className="bg-raised shadow-overlay absolute top-full left-2 z-40 mt-1 min-w-56 rounded-lg p-1"
    id={id}
    role="listbox"
  >
    {choices.map(({ hint, label, owner }, index) => (
      <li
        aria-selected={index === current}
        className={`flex min-h-7 items-center gap-2 rounded-sm px-2 ${index === current ? "bg-hover" : ""}`}
        id={`${id}-${index}`}
        key={owner.id}
        onMouseDown={(event) => {
          event.preventDefault()
          choose(index)
        }}
        role="option"
      >
        <span className="foreign flex-1 truncate">{label}</span>
        {hint !== undefined && <span className="text-muted text-xs">{hint}</span>}
      </li>
    ))}
  </ul>
)

const Preview = ({ text }: { readonly text: string }) => (
  <div className="min-h-20 px-3 py-2">
    {text.trim() === "" ? <p className="text-muted">Nothing to preview.</p> : <Markdown text={text} />}
  </div>
)

export const MarkdownField = (props: Props) => {
  const { hasFocus = false, label, onChange, onEscape, onSubmit, placeholder, rows = 5, slug, value } = props
  const id = useId()
  const mentions = useMentions(slug, value, onChange)
  const files = useFieldUploads(mentions.field, value, onChange)
  const [isPreview, setPreview] = useState(false)
  const hasChoices = mentions.choices.length > 0
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
      event.preventDefault()
      onSubmit()
    } else if (mentions.onKey(event.key)) event.preventDefault()
    else if (event.key === "Escape" && onEscape !== undefined) {
      event.preventDefault()
      onEscape()
    }
  }
  return (
    <div
      className="border-border focus-within:border-strong relative flex flex-col rounded-md border"
      onDragOver={files.onDragOver}
      onDrop={files.onDrop}
      onPaste={files.onPaste}
    >
      <div className="flex gap-1 px-1 pt-1">
        <button aria-pressed={!isPreview} className={tab} onClick={() => setPreview(false)} type="button">
          Write
        </button>
        <button aria-pressed={isPreview} className={tab} onClick={() => setPreview(true)} type="button">
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
      {isPreview ? (
        <Preview text={value} />
      ) : (
        <textarea
          aria-activedescendant={hasChoices ? `${id}-${mentions.current}` : undefined}
          aria-autocomplete="list"
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
          value={value}
        />
      )}
      <UploadList uploads={files.uploads} />
      {hasChoices && <Choices id={id} mentions={mentions} />}
    </div>
  )
}
