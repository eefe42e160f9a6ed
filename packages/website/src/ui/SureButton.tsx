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

/** Does what has no way back when it is pressed twice, one after the other. Leaving it, or Escape, forgets the first time. */
export const SureButton = ({ isBusy, onSure, subject, verb }: Props) => {
  const [isSure, setSure] = useState(false)
  return (
    <Button
      aria-label={isSure ? `Really ${verb.toLowerCase()} ${subject}?` : `${verb} ${subject}`}
      isBusy={isBusy}
      look={isSure ? "danger" : "quiet"}
      onBlur={() => setSure(false)}
      onClick={({ detail }) => {
        // The second click of a double click confirms nothing.
        if (detail > 1) return
        if (isSure) onSure()
        setSure(!isSure)
      }}
      onKeyDown={({ key }) => key === "Escape" && setSure(false)}
    >
      {isSure ? `Really ${verb.toLowerCase()}?` : verb}
    </Button>
  )
}
