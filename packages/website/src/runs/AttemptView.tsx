import type { Attempt } from "@delivery/domain/runs/TestEntry"
import { CodeBlock } from "../ui/Code.tsx"
import { formatDuration } from "../ui/duration.ts"
import { Stack } from "../ui/Stack.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { AttemptFiles, PictureDiffs } from "./AttemptFiles.tsx"

/** What the message does not say already. */
const stackOf = ({ errorMessage, errorStack }: Attempt): string | undefined => {
  if (errorStack === null || errorStack.trim() === "") return undefined
  const message = (errorMessage ?? "").trim()
  const at = errorStack.indexOf(message)
  const rest =
    message !== "" && at >= 0 && at < 40 ? errorStack.slice(at + message.length).replace(/^\n+/, "") : errorStack
  return rest.trim() === "" ? undefined : rest
}

interface Props {
  readonly attempt: Attempt
  readonly run: number
  readonly slug: string
}

/** What an attempt came to, what it says and what it left. */
export const AttemptView = ({ attempt, run, slug }: Props) => {
  const stack = stackOf(attempt)
  return (
    <div className="flex flex-col gap-4 p-4">
      <p className="text-muted flex flex-wrap items-center gap-x-4 gap-y-1">
        <StatusMark isWordShown status={attempt.status} />
        <span className="tabular">{formatDuration(attempt.durationMs)}</span>
        <Time at={attempt.startedAt} />
      </p>
      <PictureDiffs files={attempt.files} run={run} slug={slug} />
      {attempt.errorMessage !== null && (
        <section aria-label="Error" className="flex flex-col gap-1">
          <h2 className="font-medium">Error</h2>
          <CodeBlock label="the error" text={attempt.errorMessage} tone="danger" />
        </section>
      )}
      {stack !== undefined && (
        <section aria-label="Stack" className="flex flex-col gap-1">
          <h2 className="font-medium">Stack</h2>
          <Stack text={stack} />
        </section>
      )}
      <AttemptFiles files={attempt.files} run={run} slug={slug} />
      {attempt.errorMessage === null && stack === undefined && attempt.files.length === 0 && (
        <p className="text-muted">This attempt passed and left no files.</p>
      )}
    </div>
  )
}
