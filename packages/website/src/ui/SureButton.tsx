import { useState } from "react"
import { Button } from "./Button.tsx"

interface Props {
  /** The verb: "Revoke". */
  readonly verb: string
  /** What it is done to, for screen readers: "laptop". */
  readonly subject: string
  readonly isBusy: boolean
  readonly onSure: () => void
}

/** Does what has no way back when it is pressed twice. Leaving it forgets the first time. */
export const SureButton = ({ isBusy, onSure, subject, verb }: Props) => {
  const [isSure, setSure] = useState(false)
  return (
    <Button
      aria-label={isSure ? `Really ${verb.toLowerCase()} ${subject}?` : `${verb} ${subject}`}
      isBusy={isBusy}
      look={isSure ? "danger" : "quiet"}
      onBlur={() => setSure(false)}
      onClick={() => (isSure ? onSure() : setSure(true))}
    >
      {isSure ? `Really ${verb.toLowerCase()}?` : verb}
    </Button>
  )
}
