import { Button } from "../ui/Button.tsx"
import { useFocusNext } from "../ui/useFocusNext.ts"

interface Props {
  /** Its test, where it is one of several. */
  readonly label?: string
  readonly isBusy?: boolean
  readonly look?: "quiet"
  readonly onClick: () => void
  readonly text?: string
}

/** Lets tests count again, and is gone then. */
export const UnmuteButton = ({ label, text = "Unmute", ...rest }: Props) => (
  <Button {...rest} aria-label={label} ref={useFocusNext<HTMLButtonElement>()}>
    {text}
  </Button>
)
