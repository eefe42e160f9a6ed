import { Suspense, useEffect, useRef, useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { shownKeys, useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { MarkdownField } from "./MarkdownField.tsx"
import { useDraft } from "./useDraft.ts"

/** A text in Markdown that is edited in its place. What was typed stays until it is saved or discarded. */

const Markdown = later(() => import("../ui/Markdown.tsx"))

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
  readonly onSave: (text: string | null) => Promise<boolean>
}

interface EditorProps extends Pick<Props, "onSave" | "slug" | "text" | "title"> {
  readonly draft: { readonly text: string; readonly base: string }
  readonly onChange: (text: string) => void
  readonly onClose: () => void
}

const Editor = ({ draft, onChange, onClose, onSave, slug, text, title }: EditorProps) => {
  const [isBusy, setBusy] = useState(false)
  const isChangedMeanwhile = (text ?? "") !== draft.base
  const save = async () => {
    if (isBusy) return
    setBusy(true)
    const isDone = await onSave(draft.text.trim() === "" ? null : draft.text)
    setBusy(false)
    if (isDone) onClose()
  }
  return (
    <div className="flex flex-col gap-2">
      <MarkdownField
        hasFocus
        label={title}
        onChange={onChange}
        onEscape={draft.text === draft.base ? onClose : () => undefined}
        onSubmit={() => void save()}
        slug={slug}
        value={draft.text}
      />
      {isChangedMeanwhile && (
        <div className="bg-warning-soft rounded-md px-3 py-2" role="alert">
          <p className="text-warning pb-2">Somebody changed it since you began. This is what it says now:</p>
          {text === null ? (
            <p className="text-muted">Nothing.</p>
          ) : (
            <Suspense fallback={null}>
              <Markdown text={text} />
            </Suspense>
          )}
        </div>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button isBusy={isBusy} look="primary" onClick={() => void save()}>
          {isChangedMeanwhile ? "Replace with mine" : "Save"}
        </Button>
        <Button onClick={onClose}>{draft.text === draft.base ? "Cancel" : "Discard"}</Button>
        <Kbd keys={shownKeys("Mod+Enter")} />
      </div>
    </div>
  )
}

export const MarkdownSection = ({ empty, group, mayChange, name, onSave, shortcut, slug, text, title }: Props) => {
  const { draft, setDraft } = useDraft(name)
  const section = useRef<HTMLElement>(null)
  const isEdited = draft !== undefined
  const wasEdited = useRef(isEdited)
  // The keyboard goes on where the text is.
  useEffect(() => {
    if (wasEdited.current && !isEdited) section.current?.querySelector("button")?.focus()
    wasEdited.current = isEdited
  }, [isEdited])
  const begin = () => draft === undefined && setDraft({ base: text ?? "", text: text ?? "" })
  useKeys(
    mayChange && draft === undefined
      ? [{ keys: shortcut, label: `Edit the ${title.toLowerCase()}`, group, run: begin }]
      : []
  )
  return (
    <section aria-label={title} className="flex flex-col gap-2 px-4 pt-4" ref={section}>
      <div className="flex min-h-7 items-center gap-2">
        <h2 className="text-muted flex-1 text-xs font-medium">{title}</h2>
        {mayChange && draft === undefined && text !== null && (
          <Button look="quiet" onClick={begin} shortcut={shortcut}>
            Edit<span className="sr-only"> the {title.toLowerCase()}</span>
          </Button>
        )}
      </div>
      {draft !== undefined ? (
        <Editor
          draft={draft}
          onChange={(next) => setDraft({ ...draft, text: next })}
          onClose={() => setDraft(undefined)}
          onSave={onSave}
          slug={slug}
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
        <Suspense fallback={<p className="text-muted">…</p>}>
          <Markdown text={text} />
        </Suspense>
      )}
    </section>
  )
}
