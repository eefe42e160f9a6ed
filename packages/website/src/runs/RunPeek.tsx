import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Loaded } from "../api/Loaded.tsx"
import { counted } from "../ui/format.ts"
import { StatusMark } from "../ui/StatusMark.tsx"
import { failureLines } from "./failureLines.ts"
import { runQuery } from "./queries.ts"
import { RunSummary } from "./RunSummary.tsx"
import { statusOf } from "./status.ts"

/** How many failures are shown. */
const most = 12

/** A run beside the list of runs: what one wants to know of it first, and what failed. */
/** What was expected and came; where that is not said, what is said first. */
const lineOf = (message: string): string => {
  const { details, first } = failureLines(message)
  return details === "" ? first : details
}

const RunPeek = ({ run, slug }: { readonly run: number; readonly slug: string }) => (
  <Loaded query={useQuery(runQuery(slug, run))} rows={6}>
    {(found) => {
      const failed = found.tests.filter(({ status }) => status === "failed" || status === "flaky")
      return (
        <>
          <h2 className="flex items-center gap-2 px-4 pt-3 font-semibold">
            Run {run} <StatusMark isWordShown status={statusOf(found)} />
          </h2>
          <RunSummary run={found} slug={slug} />
          <ul aria-label="Failures of the run" className="border-border border-t">
            {failed.slice(0, most).map((test) => (
              <li className="border-border border-b" key={test.caseId}>
                <Link
                  className="hover:bg-hover block px-4 py-1.5"
                  params={{ slug, run: String(run), case: test.caseId }}
                  to="/w/$slug/test-runs/$run/tests/$case"
                >
                  <span className="foreign block truncate">{test.title.slice(0, 500)}</span>
                  <span className="text-danger foreign block truncate font-mono text-xs">
                    {lineOf(test.attempts.at(-1)?.errorMessage ?? "")}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          {failed.length > most && (
            <p className="text-muted px-4 py-2">and {counted(failed.length - most, "more failure")}</p>
          )}
        </>
      )
    }}
  </Loaded>
)

export default RunPeek
