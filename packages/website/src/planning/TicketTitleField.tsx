import { useRef } from "react"
import { Button } from "../ui/Button.tsx"
import { mostTitle, titleIsFull } from "./titles.ts"

/** A title that is being written. */
export interface TitleDraft {
  readonly text: string
  /** What stood there when typing began. */
  readonly base: string
}

interface Props {
  readonly draft: TitleDraft
  /** As it is now. */
  readonly title: string
  /** Without one, it is edited no more. */
  readonly onDraft: (draft: TitleDraft | undefined) => void
  /** With the title that is replaced. */
  readonly onSave: (text: string, base: string) => Promise<void>
}

/** The field for the title. Over what somebody else made of it meanwhile, nothing is written before one press more decides. */
const TicketTitleField = ({ draft, onDraft, onSave, title }: Props) => {
  const changed = useRef<HTMLParagraphElement>(null)
  const next = draft.text.trim()
  const isFull = draft.text.length >= mostTitle
  const isChange = next !== "" && next !== draft.base && next !== title
  const isChangedMeanwhile = isChange && title !== draft.base
  const discard = () => onDraft(undefined)
  const end = () => (isChange ? void onSave(next, draft.base) : discard())
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-2">
      <input
        aria-label="Title"
        autoFocus
        className="border-border bg-surface -mx-2 rounded-md border px-2 text-xl font-semibold"
        aria-describedby={isFull ? "title-is-full" : undefined}
        maxLength={mostTitle}
        onBlur={isChangedMeanwhile ? undefined : end}
        onChange={(event) => onDraft({ ...draft, text: event.target.value })}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key !== "Enter" && event.key !== "Escape") return
          event.preventDefault()
          if (event.key === "Escape") discard()
          else if (isChangedMeanwhile) changed.current?.focus()
          else end()
        }}
        value={draft.text}
      />
      {isFull && (
        <p className="text-muted text-xs" id="title-is-full">
          {titleIsFull}
        </p>
      )}
      {isChangedMeanwhile && (
        <>
          <p className="bg-warning-soft text-warning rounded-md px-3 py-2" ref={changed} role="alert" tabIndex={-1}>
            Somebody renamed this after you began. It is now “<span className="foreign">{title}</span>”.
          </p>
          <div className="flex flex-wrap gap-2">
            <Button look="danger" onClick={() => void onSave(next, title)}>
              Replace theirs with mine
            </Button>
            <Button onClick={discard}>Discard</Button>
          </div>
        </>
      )}
    </div>
  )
}

export default TicketTitleField
