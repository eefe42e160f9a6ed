import type { RunError } from "@delivery/domain/runs/Case"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { mayAct, useRole } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { visible } from "../ui/format.ts"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Time } from "../ui/Time.tsx"
import { runQuery } from "./queries.ts"
import { TraceLink } from "./TraceLink.tsx"

/** What can be done with a failure in the list of a run: its trace, and muting it, alone or with those that fail alike. */

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

const Muting = ({ error, isCurrent, run: number, slug, test }: Props) => {
  const { data: run } = useQuery(runQuery(slug, number))
  const mayMute = mayAct(useRole(slug), "member")
  const [isOpen, setOpen] = useState(false)
  useKeys(isCurrent && mayMute ? [{ keys: "m", label: "Mute the test", group: "List", run: () => setOpen(true) }] : [])
  const mute = run?.mutes.find(({ caseId }) => caseId === test?.caseId)
  const cases = test === undefined ? (error?.cases ?? []).filter(({ state }) => state !== "muted") : [test]
  if (mute !== undefined) {
    return (
      <span className="text-muted flex items-center gap-1 px-1.5 text-xs whitespace-nowrap max-sm:hidden">
        {mute.ticket !== null && (
          <Link className="hover:underline" params={{ slug, ticket: mute.ticket }} to="/w/$slug/tickets/$ticket">
            {mute.ticket}
          </Link>
        )}
        <span>
          until <Time at={mute.until} />
        </span>
      </span>
    )
  }
  if (!mayMute || run === undefined || cases.length === 0) return null
  const name = visible(test?.title.slice(0, 200) ?? "")
  return (
    <>
      <Button
        aria-label={test === undefined ? `Mute all ${cases.length} tests that fail so` : `Mute ${name}`}
        look="quiet"
        onClick={() => setOpen(true)}
      >
        {test === undefined ? "Mute all…" : "Mute…"}
      </Button>
      {isOpen && <MuteDialog cases={cases} onClose={() => setOpen(false)} product={run.product} slug={slug} />}
    </>
  )
}

const RowActions = (props: Props) => {
  const { error, test } = props
  return (
    <div className="flex h-full items-center justify-end">
      {(test?.status === "failed" || (error?.cases.length ?? 0) > 1) && <Muting {...props} />}
      {test === undefined ? <span className="w-9" /> : <TraceLink {...props} test={test} />}
    </div>
  )
}

export default RowActions
