import { Link, useNavigate } from "@tanstack/react-router"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { memo } from "react"
import { formatDuration } from "../ui/duration.ts"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import type { FailureRow } from "./failureRows.ts"

/** The tests of a run: thousands of rows, of which those in view are drawn. */

const RowActions = later(() => import("./RowActions.tsx"))
const ErrorText = later(
  // Both at once: what the first needs would be asked for when it is there.
  async () => (await Promise.all([import("./ErrorText.tsx"), import("./failureLines.ts")]))[0],
  () => <span className="flex-1" />
)
// What failed is what is read first: it is there when the tests are.
void ErrorText.preload()
const TestPeek = later(() => import("./TestPeek.tsx"))

/** On narrow screens they stand at the end of the second line, so that the title has the first. */
const actionsClass = "max-sm:absolute max-sm:right-0 max-sm:bottom-0 max-sm:h-7"

interface RowProps {
  readonly row: FailureRow
  readonly isCurrent: boolean
  /** How wide what can be done stands: the same in all rows of a list. */
  readonly actions: string
  readonly slug: string
  readonly run: number
}

/** What is not the same of the test as of the group that it is in. */
const State = ({ at, state }: { readonly at: string; readonly state: string | undefined }) =>
  state && <span className={`${at} text-xs ${state === "new" ? "text-danger" : "text-muted"}`}>{state}</span>

const TestRow = ({ actions, isCurrent, row, run, slug }: RowProps) => {
  if (row.kind === "heading") {
    return (
      <h2 className="border-border bg-sunken text-muted flex h-(--row) items-center border-b px-4 font-medium">
        {row.text}
      </h2>
    )
  }
  if (row.kind === "error") {
    // What can be done with it comes with that of the tests below, so that all ask once for what is muted.
    return (
      <div className="border-border bg-sunken relative flex h-(--row) items-center gap-2 border-b pl-4 max-sm:flex-wrap max-sm:content-center max-sm:gap-y-0">
        <ErrorText error={row.error} />
        <div className={`${actionsClass} ${actions}`}>
          <RowActions error={row.error} isCurrent={false} run={run} slug={slug} />
        </div>
      </div>
    )
  }
  const { test } = row
  return (
    <div
      className={`group border-border hover:bg-hover relative flex h-(--row) border-b ${isCurrent ? "bg-selected" : ""}`}
    >
      <Link
        className="two-lines flex min-w-0 flex-1 items-center gap-3 pl-4 max-sm:pr-4"
        params={{ slug, run: String(run), case: test.caseId }}
        to="/w/$slug/test-runs/$run/tests/$case"
      >
        <StatusMark status={test.status} />
        <span className="flex min-w-0 flex-1 items-center gap-2">
          <span className="foreign truncate" title={test.title.slice(0, 1_000)}>
            {test.title}
          </span>
          <State at="max-sm:hidden" state={row.state} />
          {test.attempts.length > 1 && (
            <span className="text-muted tabular shrink-0 text-xs max-md:hidden">{test.attempts.length} attempts</span>
          )}
        </span>
        <span className="second-line">
          <State at="sm:hidden" state={row.state} />
          <span className="text-muted hidden w-[36%] md:flex">
            <Truncated text={test.file} />
          </span>
          <span className="text-muted tabular text-right sm:w-18">
            {test.status === "skipped" ? "" : formatDuration(test.durationMs)}
          </span>
        </span>
      </Link>
      <div className={`${actionsClass} ${actions}`}>
        <RowActions isCurrent={isCurrent} run={run} slug={slug} test={test} />
      </div>
    </div>
  )
}

interface Props {
  readonly rows: ReadonlyArray<FailureRow>
  readonly label: string
  readonly slug: string
  readonly run: number
}

/** Drawn again when there are other rows, not at each key in the field above them. */
export const TestRows = memo(({ label, rows, run, slug }: Props) => {
  const navigate = useNavigate()
  const hasFailed = rows.some((row) => row.kind === "test" && row.test.status === "failed")
  const actions = hasFailed ? "min-w-9 shrink-0 md:w-60 xl:w-68" : "w-9 shrink-0"
  return (
    <Rows
      count={rows.length}
      isTall
      isChoosable={(index) => rows[index]?.kind === "test"}
      keyOf={(index) => rows[index]!.key}
      label={label}
      noun="test"
      onOpen={(index) => {
        const row = rows[index]
        if (row?.kind !== "test") return
        void navigate({
          to: "/w/$slug/test-runs/$run/tests/$case",
          params: { slug, run: String(run), case: row.test.caseId }
        })
      }}
      peek={(index) => {
        const row = rows[index]
        return row?.kind === "test" ? <TestPeek run={run} slug={slug} test={row.test} /> : undefined
      }}
      row={(index, isCurrent) => (
        <TestRow actions={actions} isCurrent={isCurrent} row={rows[index]!} run={run} slug={slug} />
      )}
    />
  )
})

/** Tests without headings. */
export const rowsOf = (tests: ReadonlyArray<TestEntry>, muted: ReadonlySet<string>): ReadonlyArray<FailureRow> =>
  tests.map((test) => ({
    kind: "test",
    key: test.caseId,
    test,
    state: test.status === "failed" && muted.has(test.caseId) ? "muted" : undefined
  }))
