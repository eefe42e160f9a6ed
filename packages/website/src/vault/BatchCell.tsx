import { Icon } from "../ui/Icon.tsx"
import type { Draft } from "./drafts.ts"

/** A cell among several that are written together: what is typed into it, and what it will have. */

const DraftContent = ({ draft }: { readonly draft: Draft }) => (
  <span className={`inline-flex items-center gap-1.5 ${draft.conflict === undefined ? "text-accent" : "text-warning"}`}>
    <Icon name={draft.conflict === undefined ? "commit" : "warning"} size={14} />
    {draft.conflict !== undefined ? `now v${draft.conflict}` : draft.value === null ? "to be cleared" : "new value"}
  </span>
)

/** What a screen reader hears of a draft. */
const draftWords = ({ conflict, value }: Draft): string =>
  `${value === null ? "to be cleared" : "has a new value"}, not written yet${conflict === undefined ? "" : `, somebody else has written version ${conflict}`}`

interface CellInputProps {
  readonly label: string
  /** Undefined where it was given up. */
  readonly onDone: (value: string | undefined) => void
}

/** The field keeps its text to itself: no attribute of the page has it. */
const CellInput = ({ label, onDone }: CellInputProps) => (
  <input
    aria-label={label}
    autoComplete="off"
    autoFocus
    className="bg-surface border-strong h-6 w-full min-w-0 scroll-ml-[calc(var(--vault-name)+0.75rem)] rounded-sm border px-1 font-mono text-xs"
    onBlur={({ currentTarget }) => onDone(currentTarget.value === "" ? undefined : currentTarget.value)}
    onClick={(event) => event.stopPropagation()}
    onKeyDown={(event) => {
      event.stopPropagation()
      if (event.key !== "Enter" && event.key !== "Escape") return
      // The key would be one of the cell otherwise, which has the keyboard from now on: what leaves the field is done.
      event.preventDefault()
      if (event.key === "Escape") event.currentTarget.value = ""
      event.currentTarget.closest<HTMLElement>("[role=gridcell]")?.focus()
    }}
    // As wide as the cell: it would widen all columns by its own width.
    size={1}
    spellCheck={false}
  />
)

interface Props extends CellInputProps {
  readonly draft: Draft | undefined
  readonly isEditing: boolean
}

const BatchCell = ({ draft, isEditing, label, onDone }: Props) => (
  <>
    {draft !== undefined && <span className="sr-only">{draftWords(draft)}</span>}
    {isEditing ? (
      <CellInput label={label} onDone={onDone} />
    ) : (
      draft !== undefined && (
        <span aria-hidden="true" className="flex min-w-0 items-center gap-1.5">
          <DraftContent draft={draft} />
        </span>
      )
    )}
  </>
)

export default BatchCell
