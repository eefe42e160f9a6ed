import type { ReactNode } from "react"
import { FormDialog } from "./FormDialog.tsx"

export interface SureProps {
  readonly title: string
  /** The verb on its button. */
  readonly action: string
  /** What it takes with it, and whether there is a way back. */
  readonly children: ReactNode
  readonly doing: { readonly error: unknown; readonly isPending: boolean; readonly mutate: () => void }
  readonly onClose: () => void
}

/** Asks before what others notice. */
const SureDialog = ({ children, ...rest }: SureProps) => (
  <FormDialog {...rest} isDangerous>
    <div className="flex flex-col gap-2">{children}</div>
  </FormDialog>
)

export default SureDialog
