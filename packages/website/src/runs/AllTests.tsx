import { useNavigate, useSearch } from "@tanstack/react-router"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { useDeferredValue, useEffect, useMemo, useState } from "react"
import { pressedClass } from "../ui/Filter.tsx"
import { formatCount } from "../ui/format.ts"
import { SearchField } from "../ui/SearchField.tsx"
import { Empty } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { filteredTests } from "./filteredTests.ts"
import { mutedIds } from "./gate.ts"
import type { TestsSearch } from "./search.ts"
import { rowsOf, TestRows } from "./TestRows.tsx"

/** All tests of a run, narrowed by status and words. */

/** How long nothing is typed before the address is changed. */
const restMillis = 150

const statuses = ["failed", "flaky", "passed", "skipped"] as const

export const AllTests = ({ run, slug }: { readonly run: TestRun; readonly slug: string }) => {
  const { q, status } = useSearch({ from: "/w/$slug/test-runs/$run" })
  const navigate = useNavigate({ from: "/w/$slug/test-runs/$run" })
  const [text, setText] = useState(q ?? "")
  const typed = useDeferredValue(text)
  const rows = useMemo(
    () => rowsOf(filteredTests(run.tests, { q: typed, ...(status === undefined ? {} : { status }) }), mutedIds(run)),
    [run, status, typed]
  )
  // Before the first key, which does not wait for it then.
  useEffect(() => {
    const timer = setTimeout(() => void filteredTests(run.tests, { q: "a" }), restMillis)
    return () => clearTimeout(timer)
  }, [run.tests])
  const set = (change: TestsSearch) => void navigate({ search: change, replace: true })
  const withText = (next: string) => ({ view: "tests" as const, ...(next === "" ? {} : { q: next }) })
  // The address follows when nothing more is typed: what that costs is not between a key and its letter.
  useEffect(() => {
    if (typed === (q ?? "")) return
    const timer = setTimeout(() => set({ ...withText(typed), ...(status === undefined ? {} : { status }) }), restMillis)
    return () => clearTimeout(timer)
    // What else changes the address says itself what is in it.
  }, [typed])
  return (
    <>
      <search aria-label="Tests" className="border-border flex flex-wrap items-center gap-1 border-b px-3 py-1.5">
        <SearchField label="Title or file" onChange={setText} value={text} />
        {statuses.map((one) => (
          <button
            aria-pressed={status === one}
            className={pressedClass}
            key={one}
            onClick={() => set({ ...withText(text), ...(status === one ? {} : { status: one }) })}
            type="button"
          >
            <StatusMark isWordShown size={14} status={one} />
            <span className="tabular">{formatCount(run.counts[one])}</span>
          </button>
        ))}
      </search>
      {rows.length === 0 ? (
        <Empty icon="filter" title="No test matches" />
      ) : (
        <TestRows label="Tests" rows={rows} run={run.number} slug={slug} />
      )}
    </>
  )
}
