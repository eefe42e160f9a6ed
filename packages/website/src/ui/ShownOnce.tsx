import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Dialog } from "./Dialog.tsx"
import Command from "./Command.tsx"

interface Props {
  readonly title: string
  readonly secret: string
  /** What it is, and what is done with it. */
  readonly description?: string
  readonly onClose: () => void
  /** What to do with it. */
  readonly children?: ReactNode
  readonly isWide?: boolean
}

/** A secret that nobody can read again. Only its button closes it. Load it lazily: it brings Base UI. */
export const ShownOnce = ({
  children,
  description = "Copy it now: it is shown this once, and nobody can read it again.",
  isWide = false,
  onClose,
  secret,
  title
}: Props) => (
  <Dialog
    actions={
      <Button look="primary" onClick={onClose}>
        I have copied it
      </Button>
    }
    description={description}
    isKeptOpen
    isWide={isWide}
    onClose={onClose}
    title={title}
  >
    <div className="flex flex-col gap-3">
      <Command label="Copy the secret" text={secret} />
      {children}
    </div>
  </Dialog>
)
