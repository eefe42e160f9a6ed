import { Problem } from "../ui/States.tsx"
import { adviceOf, failureOf } from "./failures.ts"

/** In place of content that could not be loaded. */
export const FailureView = ({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) => {
  const failure = failureOf(error)
  return (
    <Problem onRetry={onRetry} requestId={failure.call?.requestId} title={failure.message}>
      {adviceOf(failure)}
    </Problem>
  )
}
