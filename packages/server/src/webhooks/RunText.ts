import { shortened } from "@delivery/domain/catalog/ShortVersion"
import type { Change, Event } from "@delivery/domain/events/Event"
import { runRemarkTexts } from "@delivery/domain/runs/RunRemarks"

/** What is said of runs that have ended where a line is all that is read. Pure. */

export interface RunText {
  /** What was tested: ` of Shop in Staging, version a1b2c3d`. */
  readonly of: string
  readonly lines: ReadonlyArray<string>
  /** What else has changed. */
  readonly rest: ReadonlyArray<Change>
}

const kinds: ReadonlySet<string> = new Set(["run_finished", "run_interrupted", "retry_finished", "retry_interrupted"])
const remarked = ["nothingTested", "deploymentChanged", "partOfTests"] as const
const told: ReadonlySet<string> = new Set([
  "result",
  "gateResult",
  "counts",
  "flakyCount",
  "product",
  "environment",
  "version",
  "address",
  "uncommittedChanges",
  ...remarked
])

/** Undefined for other events, and for those of servers that did not tell what was tested. */
export const runTextOf = ({ changes, kind }: Event): RunText | undefined => {
  const change = (field: string) => changes.find((one) => one.field === field)
  const to = (field: string) => change(field)?.to ?? undefined
  const product = to("product")
  if (!kinds.has(kind) || product === undefined) return undefined
  const version = to("version")
  const counts = change("counts")
  const flaky = to("flakyCount")
  const address = to("address")
  return {
    of: ` of ${product} in ${to("environment") ?? "an environment"}${version === undefined ? "" : `, version ${shortened(version)}`}`,
    lines: [
      ...(kind === "run_interrupted" ? [] : [resultText(change("result"), to("gateResult"), counts?.to)]),
      ...(counts === undefined
        ? []
        : [`tests: ${counts.to}${counts.from === null ? "" : `, before the retry ${counts.from}`}`]),
      ...(flaky === undefined ? [] : [`flaky: ${flaky}`]),
      ...(address === undefined ? [] : [`tested ${address}, another address than the deployment's`]),
      ...(to("uncommittedChanges") === undefined ? [] : ["with uncommitted changes"]),
      ...remarked.flatMap((field) => (to(field) === undefined ? [] : [runRemarkTexts[field]]))
    ],
    rest: changes.filter(({ field }) => !told.has(field))
  }
}

/** A retry that has not changed the result says none: the run failed, and still does. */
const resultText = (
  change: Change | undefined,
  gate: string | undefined,
  counts: string | null | undefined
): string => {
  const failed = Number.parseInt(counts ?? "", 10)
  const result = change?.to ?? "failed"
  const elsewhere =
    "failed for the gate: what failed passed only on another release or address, or with uncommitted changes"
  if (change === undefined && gate !== undefined && failed === 0) {
    return gate === "failed" ? elsewhere : "what failed has passed now: the gate passes"
  }
  const text =
    change === undefined ? "the run still fails" : change.from === null ? result : `${change.from} → ${result}`
  if (gate === undefined && change?.from === null && result === "failed" && failed === 0) {
    return "failed outside of its tests"
  }
  if (gate === undefined) return change?.from == null || result !== "passed" ? text : `${text}: the run passes now`
  if (gate === "failed") return `${text}; ${elsewhere}`
  const failures = failed === 1 ? "1 muted failure does" : `${failed} muted failures do`
  return `${text}; ${failures} not count: the gate passed`
}
