import { Link } from "@tanstack/react-router"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { useRef } from "react"
import { Icon } from "../ui/Icon.tsx"
import { useKeys } from "../ui/keys.ts"
import { tracedAttempt } from "./files.ts"

interface Props {
  readonly test: TestEntry
  readonly run: number
  readonly slug: string
  /** The row is the one that keys are for. */
  readonly isCurrent: boolean
}

/** The trace of a test in a list. It opens by the page of the test, which says what is wrong where it cannot be shown. */
export const TraceLink = ({ isCurrent, run, slug, test }: Props) => {
  const link = useRef<HTMLAnchorElement>(null)
  const attempt = tracedAttempt(test)
  const open = () => link.current?.click()
  const isOffered = isCurrent && attempt !== undefined
  useKeys(isOffered ? [{ keys: "t", label: "Open the trace of the test", group: "List", run: open }] : [])
  if (attempt === undefined) return null
  return (
    <Link
      aria-label={`Open the trace of ${test.title.slice(0, 200)}`}
      className="text-muted hover:text-text flex h-full w-9 shrink-0 items-center justify-center"
      params={{ slug, run: String(run), case: test.caseId }}
      preload={false}
      ref={link}
      rel="noopener"
      search={{ attempt: attempt.number, open: "trace" }}
      target="_blank"
      title="Open trace"
      to="/w/$slug/test-runs/$run/tests/$case"
    >
      <Icon name="external" />
    </Link>
  )
}
