import { useState } from "react"
import { Button } from "./Button.tsx"
import { CopyButton } from "./Copy.tsx"
import { withoutColours } from "./colours.ts"
import { counted } from "./format.ts"

/** Text of programs. Whatever it holds, it stays text. */

/** More is shown when asked for: a message may have 100,000 characters. */
const shownLength = 4_000

interface BlockProps {
  readonly text: string
  /** What it is, for screen readers and its copy button. */
  readonly label: string
  readonly tone?: "plain" | "danger"
}

export const CodeBlock = ({ label, text, tone = "plain" }: BlockProps) => {
  const [isWhole, setWhole] = useState(false)
  const clean = withoutColours(text)
  const shown = isWhole ? clean : clean.slice(0, shownLength)
  return (
    <div className={`border-border relative rounded-md border ${tone === "danger" ? "bg-danger-soft" : "bg-sunken"}`}>
      <div className="absolute top-1 right-1">
        <CopyButton label={`Copy ${label}`} text={clean} />
      </div>
      <pre
        aria-label={label}
        className="foreign max-h-112 overflow-auto p-3 pr-9 font-mono text-xs whitespace-pre-wrap"
        role="region"
        tabIndex={0}
      >
        {shown}
      </pre>
      {shown.length < clean.length && (
        <div className="p-2">
          <Button onClick={() => setWhole(true)}>Show all {counted(clean.length, "character")}</Button>
        </div>
      )}
    </div>
  )
}
