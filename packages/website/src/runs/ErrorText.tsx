import type { RunError } from "@delivery/domain/runs/Case"
import { Badge } from "../ui/Badge.tsx"
import { counted } from "../ui/format.ts"
import { failureLines } from "./failureLines.ts"

/** What failures of a run have in common, in the row above them: what it says first, and what was expected and came. */

const tones = { new: "danger", known: "plain", muted: "plain" } as const
const meanings = {
  new: "It did not fail so on the base branch, nor in the 20 runs before",
  known: "It failed so on the base branch, or in one of the 20 runs before",
  muted: "It does not count"
}

const ErrorText = ({ error: { count, message, state } }: { readonly error: RunError }) => {
  const { details, first } = failureLines(message)
  return (
    <>
      <Badge title={meanings[state]} tone={tones[state]}>
        {state}
      </Badge>
      <h2
        className="foreign flex min-w-0 flex-1 gap-3 font-mono text-xs font-medium max-sm:order-first max-sm:basis-full max-sm:pr-4"
        title={message.slice(0, 1_000)}
      >
        <span className={details === "" ? "truncate" : "min-w-24 truncate max-sm:hidden"}>{first || "No message"}</span>
        {/* Numbers and quoted text may differ among failures that say the same. */}
        {details !== "" && (
          <span className="max-w-full shrink-0 truncate font-normal sm:max-w-[70%]">
            {count > 1 && <span className="text-muted">for example </span>}
            {details}
          </span>
        )}
      </h2>
      <span className="text-muted tabular sm:-mr-2">{counted(count, "test")}</span>
    </>
  )
}

export default ErrorText
