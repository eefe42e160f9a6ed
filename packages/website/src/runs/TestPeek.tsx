import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { CodeBlock } from "../ui/Code.tsx"
import { formatDuration } from "../ui/duration.ts"
import { StatusMark } from "../ui/StatusMark.tsx"
import { AttemptFiles, PictureDiffs } from "./AttemptFiles.tsx"

interface Props {
  readonly run: number
  readonly slug: string
  readonly test: TestEntry
}

/** A test beside the list of tests: what its last failure says and shows. */
const TestPeek = ({ run, slug, test }: Props) => {
  const attempt = test.attempts.findLast(({ status }) => status === "failed") ?? test.attempts.at(-1)
  return (
    <div className="flex flex-col gap-3 p-4">
      <h2 className="foreign pr-8 font-semibold">{test.title.slice(0, 1_000)}</h2>
      <p className="text-muted flex items-center gap-4">
        <StatusMark isWordShown status={test.status} />
        {attempt !== undefined && <span className="tabular">{formatDuration(attempt.durationMs)}</span>}
      </p>
      {attempt !== undefined && <PictureDiffs files={attempt.files} key={test.caseId} run={run} slug={slug} />}
      {attempt?.errorMessage != null && <CodeBlock label="the error" text={attempt.errorMessage} tone="danger" />}
      {attempt !== undefined && (
        <AttemptFiles files={attempt.files} key={`files ${test.caseId}`} run={run} slug={slug} />
      )}
      {attempt === undefined && <p className="text-muted">This test was skipped.</p>}
    </div>
  )
}

export default TestPeek
