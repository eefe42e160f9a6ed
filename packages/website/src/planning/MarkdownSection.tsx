import { use, useEffect, useRef, useState } from "react"
import { Button } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { TicketContext } from "./queries.ts"
import { useDraft } from "./useDraft.ts"

/** A text in Markdown that is edited in its place. What was typed stays until it is saved or discarded. */

const Markdown = later(
  () => import("./TicketMarkdown.tsx"),
  () => <p className="text-muted">…</p>
)
const MarkdownEditor = later(() => import("./MarkdownEditor.tsx"))

interface Props {
  readonly slug: string
  readonly title: string
  readonly text: string | null
  /** The draft is kept by this name. */
  readonly name: string
  readonly mayChange: boolean
  /** The key that edits it. */
  readonly shortcut: string
  readonly group: string
  /** What stands there while there is no text. */
  readonly empty: string
  /** What it is a text of, and the name of its field in events. */
  readonly subject: string
  readonly field: string
  /** With what stands there, as far as the person has seen. Answers whether it was saved. */
  readonly onSave: (text: string | null, from: string | null) => Promise<boolean>
}

export const MarkdownSection = (props: Props) => {
  const { empty, field, group, mayChange, name, onSave, shortcut, slug, subject, title } = props
  // An empty text is none.
  const text = props.text === "" ? null : props.text
  const { draft, setDraft } = useDraft(name, use(TicketContext)?.ticket)
  // What was kept of an earlier visit is shown, and leaves the keyboard where it is.
  const [begun, setBegun] = useState<string>()
  const section = useRef<HTMLElement>(null)
  const isEdited = draft !== undefined
  const wasEdited = useRef(isEdited)
  // The keyboard goes on where the text is.
  useEffect(() => {
    if (wasEdited.current && !isEdited) section.current?.querySelector("button")?.focus()
    wasEdited.current = isEdited
  }, [isEdited])
  const begin = () => {
    if (draft !== undefined) return section.current?.querySelector("textarea")?.focus()
    setBegun(name)
    setDraft({ base: text ?? "", text: text ?? "" })
  }
  useKeys(mayChange ? [{ keys: shortcut, label: `Edit the ${title.toLowerCase()}`, group, run: begin }] : [])
  return (
    <section aria-label={title} className="flex flex-col gap-2 px-4 pt-4" ref={section}>
      <div className="quiet-end flex min-h-7 items-center gap-2">
        <h2 className="text-muted flex-1 text-xs font-medium">{title}</h2>
        {mayChange && draft === undefined && text !== null && (
          <Button look="quiet" onClick={begin} shortcut={shortcut}>
            Edit<span className="sr-only"> the {title.toLowerCase()}</span>
          </Button>
        )}
      </div>
      {draft !== undefined ? (
        <MarkdownEditor
          draft={draft}
          field={field}
          hasFocus={begun === name}
          onDraft={setDraft}
          onSave={onSave}
          slug={slug}
          subject={subject}
          text={text}
          title={title}
        />
      ) : text === null ? (
        mayChange ? (
          <div className="-ml-2.5">
            <Button icon="plus" look="quiet" onClick={begin} shortcut={shortcut}>
              {empty}
            </Button>
          </div>
        ) : (
          <p className="text-muted">None.</p>
        )
      ) : (
        <Markdown onTick={mayChange ? (next) => void onSave(next, text) : undefined} text={text} />
      )}
    </section>
  )
}
