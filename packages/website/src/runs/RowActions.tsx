import type { RunError } from "@delivery/domain/runs/Case"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { mayAct, useRole } from "../api/session.ts"
import { momentOf, muteOf } from "../flow/mute.ts"
import { MuteEnd } from "../flow/MuteEnd.tsx"
import { mutesQuery } from "../flow/queries.ts"
import { Button } from "../ui/Button.tsx"
import { counted } from "../ui/format.ts"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { tracedAttempt } from "./files.ts"
import { OpenTicket } from "./OpenTicket.tsx"
import { runQuery } from "./queries.ts"
import { TraceLink } from "./TraceLink.tsx"

/** What can be done with a failure in the list of a run: its trace, what mutes it now, and muting it, alone or with those that fail alike. */

const MuteDialog = later(() => import("../flow/MuteDialog.tsx"))

interface Props {
  readonly run: number
  readonly slug: string
  /** The row is the one that keys are for. */
  readonly isCurrent: boolean
  /** The row is of one test, */
  readonly test?: TestEntry
  /** or of those that fail alike. */
  readonly error?: RunError
}

const mutedClass = "text-muted mr-auto flex min-w-0 items-center gap-1 pr-1.5 pl-3 text-xs whitespace-nowrap"

/** The same word in each of 200 rows is seen where the pointer or the keyboard is; fingers have neither. */
const quietClass =
  "pointer-fine:opacity-0 group-hover:opacity-100 group-focus-within:opacity-100 has-[[aria-expanded=true]]:opacity-100"

/** For so long, a row that comes later does not ask again. What is changed meanwhile is told by events. */
const sharedMillis = 5_000

interface ByProps {
  readonly slug: string
  readonly ticket: string
}

const By = ({ slug, ticket }: ByProps) => (
  <Link className="hover:underline" params={{ slug, ticket }} to="/w/$slug/tickets/$ticket">
    {ticket}
  </Link>
)

/** The test of a row, or those that fail alike, as far as they can be muted; and what mutes the test now. */
const useMutes = ({ error, run: number, slug, test }: Props) => {
  const { data: run } = useQuery(runQuery(slug, number))
  const product = run?.product
  // All rows share what is read once.
  const { data, isPending } = useQuery({
    ...mutesQuery(slug, product?.slug),
    enabled: product !== undefined,
    staleTime: sharedMillis
  })
  const nowOf = (caseId: string) => muteOf(data?.mutes ?? [], caseId, Date.now())
  const all = (error?.cases ?? []).filter(({ state }) => state !== "muted")
  const rest = all.filter(({ caseId }) => nowOf(caseId) === undefined)
  return {
    product,
    isKnown: product !== undefined && !isPending,
    /** Its failure did not count in this run. */
    ofRun: test?.status === "failed" ? run?.mutes.find(({ caseId }) => caseId === test.caseId) : undefined,
    now: test === undefined ? undefined : nowOf(test.caseId),
    cases: test === undefined ? rest : [test],
    areAll: rest.length === all.length
  }
}

const Muting = (props: Props) => {
  const { isCurrent, slug, test } = props
  const { areAll, cases, isKnown, now, ofRun, product } = useMutes(props)
  const hasCounted = test?.status === "failed"
  const mayMute = mayAct(useRole(slug), "member") && (test === undefined || test.status === "failed")
  const [isOpen, setOpen] = useState(false)
  useKeys(isCurrent && mayMute ? [{ keys: "m", label: "Mute the test", group: "List", run: () => setOpen(true) }] : [])
  if (ofRun !== undefined) {
    return (
      <span className={mutedClass}>
        {ofRun.ticket !== null && <By slug={slug} ticket={ofRun.ticket} />}
        <MuteEnd until={ofRun.until} />
      </span>
    )
  }
  if (product === undefined || !isKnown) return null
  const name = test?.title.slice(0, 200) ?? ""
  const label =
    test !== undefined
      ? `${now === undefined ? "Mute" : "Mute again"} ${name}`
      : areAll
        ? `Mute all ${cases.length} tests that fail so`
        : `Mute the rest of those that fail so: ${counted(cases.length, "test")}`
  const text = test !== undefined ? "Mute…" : areAll ? "Mute all…" : "Mute the rest…"
  return (
    <>
      {now === undefined && test?.status === "failed" && (
        <OpenTicket caseId={test.caseId} run={props.run} slug={slug} />
      )}
      {now !== undefined && (
        <span
          className={mutedClass}
          title={`${hasCounted ? "Its failure counted in this run. Muted until" : "Until"} ${momentOf(now.until)}, in runs that start now`}
        >
          {hasCounted ? "muted since" : "muted"}{" "}
          {now.ticket !== null && (
            <>
              by <By slug={slug} ticket={now.ticket.identifier} />
            </>
          )}
        </span>
      )}
      {mayMute && cases.length > 0 && (
        <span className={test === undefined || isCurrent ? undefined : quietClass}>
          <Button aria-label={label} look="quiet" onClick={() => setOpen(true)}>
            {text}
          </Button>
        </span>
      )}
      {isOpen && cases.length > 0 && (
        <MuteDialog cases={cases} onClose={() => setOpen(false)} product={product} slug={slug} />
      )}
    </>
  )
}

const RowActions = (props: Props) => {
  const { error, test } = props
  const hasTrace = test !== undefined && tracedAttempt(test) !== undefined
  return (
    <div className="flex h-full items-center justify-end">
      {(test !== undefined || (error?.cases.length ?? 0) > 1) && <Muting {...props} />}
      {hasTrace ? <TraceLink {...props} test={test} /> : <span className="w-9 shrink-0 max-sm:hidden" />}
    </div>
  )
}

export default RowActions
