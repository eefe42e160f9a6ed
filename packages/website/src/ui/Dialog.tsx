import { Dialog as Base } from "@base-ui/react/dialog"
import { type ReactNode, useEffect, useState } from "react"
import { IconButton } from "./Button.tsx"

interface Props {
  readonly title: string
  /** What it is about, in a sentence. */
  readonly description?: ReactNode
  readonly isWide?: boolean
  /** Only an answer closes it, not a click beside it. */
  readonly isPersistent?: boolean
  /** Only one of its actions closes it: what it shows does not come back. */
  readonly isKeptOpen?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  /** What can be done, the primary action last. */
  readonly actions?: ReactNode
}

/** Gives the keyboard back to what opened the dialog, unless something else has it by then. */
const useFocusBack = () => {
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      // The parts of the dialog are gone then, and Base UI has had its turn.
      setTimeout(() => {
        if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
      })
    },
    [opener]
  )
}

/** A dialog over the page. Shown for as long as it is rendered. Load it lazily: it brings Base UI. */
export const Dialog = ({
  actions,
  children,
  description,
  isKeptOpen = false,
  isPersistent = false,
  isWide = false,
  onClose,
  title
}: Props) => {
  useFocusBack()
  return (
    <Base.Root
      disablePointerDismissal={isPersistent || isKeptOpen}
      onOpenChange={(isOpen) => isOpen || isKeptOpen || onClose()}
      open
    >
      <Base.Portal>
        <Base.Backdrop className="animate-appear fixed inset-0 z-30 bg-[oklch(0_0_0/0.45)]" />
        <Base.Popup
          className={`bg-raised shadow-overlay animate-appear fixed top-[12vh] left-1/2 z-30 flex max-h-[80vh] w-[calc(100vw-1.5rem)] -translate-x-1/2 flex-col rounded-lg outline-none ${isWide ? "max-w-180" : "max-w-112"}`}
        >
          <header className="py-3 pr-12 pl-4">
            <Base.Title className="text-md foreign font-semibold">{title}</Base.Title>
            {description !== undefined && (
              <Base.Description className="text-muted mt-0.5">{description}</Base.Description>
            )}
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 pb-4">{children}</div>
          {actions !== undefined && (
            <footer className="border-border flex flex-wrap justify-end gap-2 border-t px-4 py-3">{actions}</footer>
          )}
          {/* Behind all else, so that the keyboard begins with what the dialog is for. */}
          {!isKeptOpen && (
            <div className="absolute top-3 right-3">
              <IconButton icon="cross" isSmall label="Close" onClick={onClose} />
            </div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
