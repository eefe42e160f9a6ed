import { Suspense, useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { shownKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { MarkdownField } from "./MarkdownField.tsx"

const Markdown = later(() => import("../ui/Markdown.tsx"))

interface Props {
  readonly slug: string
  readonly title: string
  readonly text: string | null
  readonly draft: { readonly text: string; readonly base: string }
  readonly onChange: (text: string) => void
  readonly onClose: () => void
  /** Whether it was saved. */
  readonly onSave: (text: string | null) => Promise<boolean>
}

/** A text that is being written, and what somebody else made of it meanwhile. */
const MarkdownEditor = ({ draft, onChange, onClose, onSave, slug, text, title }: Props) => {
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

export default MarkdownEditor
