import { Problem } from "../ui/Problem.tsx"
import { type Failure, failureOf } from "./failures.ts"

/** Where the page says it in other words than the server. */
const titles: Readonly<Record<string, string>> = {
  NoAnswer: "The server does not answer",
  Unauthorized: "Your session is over"
}

/** What it means for the person, and what to do. */
const adviceOf = ({ _tag, reason }: Failure): string => {
  switch (_tag) {
    case "NoAnswer":
      return "Nothing is lost here: this page tries again when it does."
    case "NotFound":
      return "It does not exist, was deleted, or you cannot see it. Check the address, or ask who sent it to you."
    case "Forbidden":
      return reason === "sudo_required"
        ? "Your last sign-in is too long ago for this. Confirm that it is you, then do it again."
        : "Your role does not allow this. An admin of the workspace can change that."
    case "Unauthorized":
      return "Sign in again. Then load the page again."
    case "TooManyRequests":
      return "Wait a moment, then try again."
    case "Fault":
      return "Load the page again. If it comes back, report it."
    default:
      return "Try again. If it comes back, report it with the request id."
  }
}

export interface FailureProps {
  readonly error: unknown
  readonly onRetry?: () => void
}

/** Why content could not be loaded, and what to do. */
const FailureText = ({ error, onRetry }: FailureProps) => {
  const failure = failureOf(error)
  return (
    <Problem onRetry={onRetry} requestId={failure.call?.requestId} title={titles[failure._tag] ?? failure.message}>
      {adviceOf(failure)}
    </Problem>
  )
}

export default FailureText
