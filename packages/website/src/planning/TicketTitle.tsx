import { type Dispatch, type SetStateAction, useEffect, useRef } from "react"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import type { TitleDraft } from "./TicketTitleField.tsx"

const TicketTitleField = later(() => import("./TicketTitleField.tsx"))

interface Props {
  readonly title: string
  readonly mayChange: boolean
  /** What is typed in its place. */
  readonly draft: TitleDraft | undefined
  readonly onDraft: Dispatch<SetStateAction<TitleDraft | undefined>>
  /** With the title that it was made from. Answers whether it was done. */
  readonly onChange: (title: string, from: string) => Promise<boolean>
}

/** The title of a ticket, changed in its place. */
export const TicketTitle = ({ draft, mayChange, onChange, onDraft, title }: Props) => {
  const wasTyped = useRef(false)
  const isTyped = draft !== undefined
  useEffect(() => {
    if (wasTyped.current && !isTyped) document.querySelector<HTMLElement>("#screen")?.focus()
    wasTyped.current = isTyped
  }, [isTyped])
  useKeys(
    mayChange && !isTyped
      ? [{ keys: "r", label: "Rename", group: "Ticket", run: () => onDraft({ text: title, base: title }) }]
      : []
  )
  const save = async (text: string, base: string) => {
    onDraft(undefined)
    // What was typed stays where it is refused.
    if (!(await onChange(text, base))) onDraft((newer) => newer ?? { text, base })
  }
  return (
    <div className="flex min-h-11 items-start px-4 pt-4">
      {draft !== undefined ? (
        <TicketTitleField draft={draft} onDraft={onDraft} onSave={save} title={title} />
      ) : (
        <p className="foreign min-w-0 flex-1 text-xl font-semibold">{title}</p>
      )}
    </div>
  )
}
