import { useEffect, useRef, useState } from "react"
import { visible } from "../ui/format.ts"
import { Button } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import type { TitleDraft } from "./TicketTitleField.tsx"

const TicketTitleField = later(() => import("./TicketTitleField.tsx"))

interface Props {
  readonly title: string
  readonly mayChange: boolean
  /** With the title that it was made from. Answers whether it was done. */
  readonly onChange: (title: string, from: string) => Promise<boolean>
}

/** The title of a ticket, changed in its place. */
export const TicketTitle = ({ mayChange, onChange, title }: Props) => {
  const [draft, setDraft] = useState<TitleDraft>()
  const heading = useRef<HTMLDivElement>(null)
  const wasTyped = useRef(false)
  const isTyped = draft !== undefined
  useEffect(() => {
    if (wasTyped.current && !isTyped) heading.current?.querySelector("button")?.focus()
    wasTyped.current = isTyped
  }, [isTyped])
  const begin = () => setDraft({ text: title, base: title })
  useKeys(mayChange && !isTyped ? [{ keys: "r", label: "Rename", group: "Ticket", run: begin }] : [])
  const save = async (text: string, base: string) => {
    setDraft(undefined)
    // What was typed stays where it is refused.
    if (!(await onChange(text, base))) setDraft((newer) => newer ?? { text, base })
  }
  return (
    <div className="flex min-h-11 items-start gap-2 px-4 pt-4" ref={heading}>
      {draft !== undefined ? (
        <TicketTitleField draft={draft} onDraft={setDraft} onSave={save} title={title} />
      ) : (
        <>
          <p className="foreign min-w-0 flex-1 text-xl font-semibold">{visible(title)}</p>
          {mayChange && (
            <Button look="quiet" onClick={begin} shortcut="r">
              Rename
            </Button>
          )}
        </>
      )}
    </div>
  )
}
