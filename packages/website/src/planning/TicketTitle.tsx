import { useEffect, useRef, useState } from "react"
import { visible } from "../ui/format.ts"
import { Button } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"

const TicketTitleField = later(() => import("./TicketTitleField.tsx"))

interface Props {
  readonly title: string
  readonly mayChange: boolean
  readonly onChange: (title: string) => void
}

/** The title of a ticket, changed in its place. */
export const TicketTitle = ({ mayChange, onChange, title }: Props) => {
  const [typed, setTyped] = useState<string>()
  const heading = useRef<HTMLDivElement>(null)
  const wasTyped = useRef(false)
  const isTyped = typed !== undefined
  useEffect(() => {
    if (wasTyped.current && !isTyped) heading.current?.querySelector("button")?.focus()
    wasTyped.current = isTyped
  }, [isTyped])
  const begin = () => setTyped(title)
  useKeys(mayChange && !isTyped ? [{ keys: "r", label: "Rename", group: "Ticket", run: begin }] : [])
  const end = () => {
    const next = typed?.trim() ?? ""
    if (next !== "" && next !== title) onChange(next)
    setTyped(undefined)
  }
  return (
    <div className="flex min-h-11 items-start gap-2 px-4 pt-4" ref={heading}>
      {isTyped ? (
        <TicketTitleField onEnd={end} onTyped={setTyped} typed={typed} />
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
