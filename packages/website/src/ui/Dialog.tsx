import { Dialog as Base } from "@base-ui/react/dialog"
import {
  createContext,
  type FormEvent,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useRef,
  useState
} from "react"
import { Button, IconButton } from "./Button.tsx"
import { Discard } from "./Discard.tsx"
import { useLeaving } from "./useLeaving.ts"

interface Props {
  readonly title: string
  /** What it is about, in a sentence. */
  readonly description?: ReactNode
  readonly isWide?: boolean
  /** What its content is called that is only read: the keyboard is there, and scrolls it where it is longer than the screen. */
  readonly read?: string
  /** Only an answer closes it, not a click beside it. */
  readonly isPersistent?: boolean
  /** Only one of its actions closes it: what it shows does not come back. */
  readonly isKeptOpen?: boolean
  readonly onClose: () => void
  /** What was typed is thrown away; it is closed then, too. With it, what was typed is kept where the page is left. */
  readonly onDiscard?: (() => void) | undefined
  /** What was typed is on its way: whoever leaves loses nothing. */
  readonly isSent?: boolean
  readonly children: ReactNode
  /** What can be done, the primary action last. */
  readonly actions?: ReactNode
}

interface Opened {
  /** What had the keyboard before. */
  opener: Element | null
}

/** The dialogs on the page. */
const opened = new Set<Opened>()

const isThere = (opener: Element | null): opener is HTMLElement =>
  opener instanceof HTMLElement && opener.isConnected && opener !== document.body

/** Opened by a key, with the keyboard nowhere: it goes on in the screen, whose first button that key has not asked for. */
const openerNow = (): Element | null => {
  const { activeElement, body } = document
  return activeElement === body ? (document.querySelector("#screen") ?? body) : activeElement
}

/**
 * Gives the keyboard back to what opened the dialog. A dialog that has come in its place keeps it, and gives it back instead: what
 * opened that one was in this one. Base UI would take it from that dialog, and gives it to the first button of what is no button
 * itself: a key that is meant for the list would press that. So it does so only where what opened this one is gone.
 */
export const useFocusBack = (popup: RefObject<HTMLElement | null>) => {
  const [own] = useState<Opened>(() => ({ opener: openerNow() }))
  useEffect(() => {
    opened.add(own)
    return () => {
      opened.delete(own)
      // The parts of the dialog are gone then, and Base UI has had its turn.
      setTimeout(() => {
        const { opener } = own
        if (opened.has(own) || !isThere(opener)) return
        const next = [...opened].find((one) => !isThere(one.opener))
        const typed = document.activeElement?.closest("[role=dialog]")
        if (next !== undefined) next.opener = opener
        // One that was opened without what was in this one may have the keyboard already.
        else if (typed?.contains(opener) !== false) opener.focus()
      })
    }
  }, [own])
  return () => {
    const { activeElement, body } = document
    return !isThere(own.opener) && (activeElement === body || popup.current?.contains(activeElement) === true)
  }
}

const CloseContext = createContext<() => void>(() => undefined)

/** Closes the dialog that it is in, as Escape does. */
export const Cancel = () => <Button onClick={useContext(CloseContext)}>Cancel</Button>

const fields = "textarea, input:not([type=checkbox], [type=radio], [aria-hidden])"

/** Asks before what was typed is lost. */
const useClosing = (onClose: () => void, isKept: boolean) => {
  const popup = useRef<HTMLDivElement>(null)
  // What was typed into last.
  const [field, setField] = useState<HTMLElement>()
  const [isAsking, setAsking] = useState(false)
  const { isAsking: isLeaving, leave, stay } = useLeaving(field !== undefined && !isKept, true)
  const keepTyping = () => {
    stay()
    setAsking(false)
    ;(field?.isConnected === true ? field : popup.current)?.focus()
  }
  return {
    close: () => (field === undefined ? onClose() : isAsking || isLeaving ? keepTyping() : setAsking(true)),
    discard: () => {
      leave()
      onClose()
    },
    isAsking: isAsking || isLeaving,
    keepTyping,
    popup,
    onInput: ({ currentTarget, target }: FormEvent<HTMLElement>) => {
      // A dialog above this one is among its parts for React, but not on the page.
      if (!(target instanceof HTMLElement) || !currentTarget.contains(target) || !target.matches(fields)) return
      setField(target)
      stay()
      setAsking(false)
    }
  }
}

const doubleClickMillis = 500

/**
 * A dialog over the page. Shown for as long as it is rendered. Once something was typed into it, it asks before it is closed. Load
 * it lazily: it brings Base UI.
 */
export const Dialog = ({
  actions,
  children,
  description,
  isKeptOpen = false,
  isPersistent = false,
  isSent = false,
  isWide = false,
  onClose,
  onDiscard,
  read,
  title
}: Props) => {
  const [openedAt] = useState(() => performance.now())
  const { close, discard, isAsking, keepTyping, onInput, popup } = useClosing(
    onClose,
    isSent || onDiscard !== undefined
  )
  const finalFocus = useFocusBack(popup)
  const discardAll = () => {
    onDiscard?.()
    discard()
  }
  const footer = isAsking ? <Discard onDiscard={discardAll} onKeep={keepTyping} /> : actions
  return (
    <Base.Root
      disablePointerDismissal={isPersistent || isKeptOpen}
      onOpenChange={(isOpen, { event, reason }) => {
        // The second half of a double click on what has opened it.
        const isDouble = reason === "outside-press" && event.timeStamp - openedAt < doubleClickMillis
        if (!isOpen && !isKeptOpen && !isDouble) close()
      }}
      open
    >
      <Base.Portal>
        <Base.Backdrop className="animate-appear fixed inset-0 z-30 bg-[oklch(0_0_0/0.45)]" />
        <Base.Popup
          className={`bg-raised shadow-overlay animate-appear fixed top-[12vh] left-1/2 z-30 flex max-h-[80vh] w-[calc(100vw-1.5rem)] -translate-x-1/2 flex-col rounded-lg outline-none ${isWide ? "max-w-180" : "max-w-112"}`}
          finalFocus={finalFocus}
          onInput={onInput}
          ref={popup}
        >
          <header className="py-3 pr-12 pl-4">
            <Base.Title className="text-md foreign font-semibold">{title}</Base.Title>
            {description !== undefined && (
              <Base.Description className="text-muted mt-0.5">{description}</Base.Description>
            )}
          </header>
          <div
            {...(read === undefined ? {} : { "aria-label": read, role: "region", tabIndex: 0 })}
            className="min-h-0 flex-1 overflow-y-auto rounded-b-lg px-4 pb-4 -outline-offset-2"
          >
            {children}
          </div>
          {footer !== undefined && (
            <footer className="border-border flex flex-wrap justify-end gap-2 border-t px-4 py-3">
              <CloseContext value={close}>{footer}</CloseContext>
            </footer>
          )}
          {/* Behind all else, so that the keyboard begins with what the dialog is for. */}
          {!isKeptOpen && (
            <div className="absolute top-3 right-3">
              <IconButton icon="cross" isSmall label="Close" onClick={close} />
            </div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
