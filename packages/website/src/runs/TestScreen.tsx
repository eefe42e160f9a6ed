import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { CopyButton } from "../ui/Copy.tsx"
import { oneLine } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import { AttemptView } from "./AttemptView.tsx"
import { neighbour } from "./neighbour.ts"
import { descriptionOf, titleOf } from "./failureTicket.ts"
import { runQuery } from "./queries.ts"

/** A test of a run: its attempts with what they say and show, and its history over runs. */

const CaseHistory = later(() => import("./CaseHistory.tsx"))
const MuteCase = later(() => import("../flow/MuteCase.tsx"))
const ManyAttempts = later(
  () => import("./ManyAttempts.tsx"),
  () => <SkeletonRows rows={8} />
)
const NewTicketDialog = later(() => import("../planning/NewTicketDialog.tsx"))

interface Props {
  readonly run: TestRun
  readonly test: TestEntry
  readonly slug: string
}

const Attempts = ({ run, slug, test }: Props) => {
  const [only, ...others] = test.attempts
  if (only === undefined) return <Empty icon="dash" title="This test was skipped" />
  return others.length === 0 ? (
    <AttemptView attempt={only} run={run.number} slug={slug} />
  ) : (
    <ManyAttempts attempts={test.attempts} run={run.number} slug={slug} />
  )
}

/** Makes a ticket of the failure. */
const TicketOfFailure = ({ run, slug, test }: Props) => {
  const [isOpen, setIsOpen] = useState(false)
  const open = () => setIsOpen(true)
  useKeys([{ keys: "c", label: "Create a ticket of this failure", group: "Test", run: open }])
  const failure = { run, test, url: location.href }
  return (
    <>
      <Button icon="plus" onClick={open} shortcut="c">
        Create ticket
      </Button>
      {isOpen && (
        <NewTicketDialog
          about={run.product.name}
          cases={{ product: run.product.slug, caseIds: [test.caseId] }}
          description={descriptionOf(failure)}
          onClose={() => setIsOpen(false)}
          slug={slug}
          title={titleOf(failure)}
        />
      )}
    </>
  )
}

const Loaded = ({ run, slug, test }: Props) => {
  const mayCreate = mayAct(useRole(slug), "member")
  const navigate = useNavigate()
  const go = (step: 1 | -1) => {
    const next = neighbour(run.tests, test.caseId, step)
    if (next === undefined) return
    void navigate({
      to: "/w/$slug/test-runs/$run/tests/$case",
      params: { slug, run: String(run.number), case: next.caseId },
      replace: true
    })
  }
  useKeys([
    { keys: "n", label: "Next failure", group: "Test", run: () => go(1) },
    { keys: "p", label: "Previous failure", group: "Test", run: () => go(-1) },
    {
      keys: "u",
      label: "Up to the run",
      group: "Test",
      run: () => void navigate({ to: "/w/$slug/test-runs/$run", params: { slug, run: String(run.number) } })
    }
  ])
  return (
    <>
      <section aria-label="Summary" className="flex flex-col gap-1.5 px-4 py-3">
        <p className={test.title.length > oneLine ? "foreign" : "foreign md:hidden"}>{test.title.slice(0, 1_000)}</p>
        <div className="flex flex-wrap items-start gap-2">
          <p className="text-muted flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-1 max-md:basis-full">
            <span className="inline-flex max-w-full min-w-0">
              <Truncated text={test.file} />
            </span>
            <span>{test.coverage}</span>
            <span className="foreign">{test.testKind}</span>
            {test.priority !== null && <Badge>{test.priority}</Badge>}
            <CopyButton label="Copy the id of the test" text={test.caseId} />
          </p>
          <MuteCase caseId={test.caseId} product={run.product.slug} slug={slug} title={test.title} />
          {test.status === "failed" && mayCreate && <TicketOfFailure run={run} slug={slug} test={test} />}
          <IconButton icon="chevronLeft" label="Previous failure" onClick={() => go(-1)} shortcut="p" />
          <IconButton icon="chevronRight" label="Next failure" onClick={() => go(1)} shortcut="n" />
        </div>
      </section>
      <div className="border-border flex flex-col border-t lg:flex-row">
        <div className="min-w-0 flex-1">
          <Attempts run={run} slug={slug} test={test} />
        </div>
        <aside aria-label="History" className="border-border shrink-0 max-lg:border-t lg:w-80 lg:border-l">
          <CaseHistory caseId={test.caseId} product={run.product.slug} run={run.number} slug={slug} />
        </aside>
      </div>
    </>
  )
}

const TestScreen = () => {
  const { case: caseId, run: number, slug } = useParams({ from: "/w/$slug/test-runs/$run/tests/$case" })
  const { data: run, error, refetch } = useQuery(runQuery(slug, Number(number)))
  const test = run?.tests.find((one) => one.caseId === caseId)
  return (
    <>
      <Header
        crumbs={[
          { label: "Runs", link: { to: "/w/$slug/test-runs", params: { slug } } },
          { label: `Run ${number}`, link: { to: "/w/$slug/test-runs/$run", params: { slug, run: number } } }
        ]}
        state={test !== undefined && <StatusMark isWordShown status={test.status} />}
        title={
          // On narrow screens it stands below, in full.
          <span className="max-sm:sr-only">{test === undefined ? "Test" : test.title.slice(0, 1_000)}</span>
        }
      />
      {run !== undefined && test !== undefined ? (
        <Loaded key={caseId} run={run} slug={slug} test={test} />
      ) : run !== undefined ? (
        <Empty icon="search" title="This run has no such test" />
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </>
  )
}

export default TestScreen
