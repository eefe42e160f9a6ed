import { CopyButton } from "./Copy.tsx"

interface CommandProps {
  readonly text: string
  /** What its copy button says, where there are several. */
  readonly label?: string
}

/** A command or lines of a file, ready to paste. */
const Command = ({ label = "Copy the command", text }: CommandProps) => (
  <div className="border-border bg-sunken flex w-full items-start gap-2 rounded-md border py-1 pr-1 pl-3 text-left">
    <pre
      className="max-h-72 min-w-0 flex-1 overflow-auto py-1 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
      tabIndex={0}
    >
      {text}
    </pre>
    <CopyButton label={label} text={text} />
  </div>
)

export default Command
