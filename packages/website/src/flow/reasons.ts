import type { Readiness, Reason } from "@delivery/domain/flow/Readiness"
import { mutedIn } from "@delivery/domain/flow/ReadinessRuns"
import type { Counts } from "@delivery/domain/runs/TestRun"
import { counted, formatCount, shortSha } from "../ui/format.ts"
import { momentOf } from "./mute.ts"

/** What the reasons of readiness come to, in words. Pure. */

/** How many reasons keep it back, and how many only warn. */
export const weigh = (reasons: ReadonlyArray<Reason>): { readonly blocks: number; readonly warnings: number } => {
  const blocks = reasons.filter(({ severity }) => severity === "block").length
  return { blocks, warnings: reasons.length - blocks }
}

/** The sentence of a reason with a short version, where that is the id of a commit, and times in the time of the reader. */
export const told = (message: string, version: string | null): string =>
  (version === null ? message : message.replaceAll(version, shortSha(version))).replaceAll(
    /\b(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC\b/g,
    (text, day: string, time: string) =>
      Number.isNaN(Date.parse(`${day}T${time}Z`)) ? text : momentOf(`${day}T${time}Z`)
  )

/** How many tests passed in a run, after what went wrong, and how many were skipped: `1 failed, 38 passed, 3 skipped`. */
export const evidenceText = (counts: Counts): string =>
  (["failed", "flaky", "passed", "skipped"] as const)
    .filter((status) => status === "passed" || counts[status] > 0)
    .map((status) => `${formatCount(counts[status])} ${status}`)
    .join(", ")

/** That a version may go out, and what is to be known of it: "ready" alone is said where a test says so. */
export const readyWords = ({ reasons, requires, runs }: Pick<Readiness, "reasons" | "requires" | "runs">): string => {
  const { warnings } = weigh(reasons)
  const muted = mutedIn(runs)
  const though = [
    ...(muted === 0 ? [] : [`${counted(muted, "failed test")} ${muted === 1 ? "is" : "are"} muted`]),
    ...runs.flatMap(({ newer }) => (newer?.state === "interrupted" ? [`run ${newer.run} was interrupted`] : []))
  ].join(" and ")
  const but = requires.length === 0 ? ": no run is required" : ""
  return `ready${though === "" ? "" : `, though ${though}`}${warnings === 0 ? "" : `, with ${counted(warnings, "warning")}`}${but}`
}

/** As the words of a line begin. */
export const startOf = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

interface Mark {
  readonly tone: "text-danger" | "text-warning"
  readonly icon: "cross" | "warning"
  readonly text: string
}

/**
 * That something keeps a version back from where `running` runs, or is to be known of it; undefined where nothing is. What runs there
 * already is not called "not ready" for a ticket, which every policy looks at unless told, nor because no other version is known.
 */
export const markOf = (
  { reasons, runs, version }: Pick<Readiness, "reasons" | "runs" | "version">,
  running: string | null
): Mark | undefined => {
  const { blocks, warnings } = weigh(reasons)
  const changed = reasons.filter(({ kind, severity }) => kind === "drift" && severity === "warn").length
  const muted = mutedIn(runs)
  const known = [
    ...(muted > 0 ? [counted(muted, "muted failure")] : []),
    ...runs.flatMap(({ newer }) => (newer?.state === "interrupted" ? [`run ${newer.run} interrupted`] : [])),
    ...(changed > 0 ? [`${counted(changed, "secret")} changed`] : []),
    ...(warnings > changed ? [counted(warnings - changed, "warning")] : [])
  ]
  if (blocks === 0) {
    return known.length === 0 ? undefined : { tone: "text-warning", icon: "warning", text: known.join(", ") }
  }
  const tickets = reasons.filter(({ kind, severity }) => severity === "block" && kind === "ticket_blocks").length
  const isWithout = reasons.some(({ kind }) => kind === "version_missing")
  return version === running && blocks === tickets + (isWithout ? 1 : 0)
    ? {
        tone: "text-warning",
        icon: "warning",
        text: [
          ...(isWithout ? ["no next version"] : []),
          ...(tickets > 0 ? [`${counted(tickets, "ticket")} ${tickets === 1 ? "blocks" : "block"}`] : []),
          ...known
        ].join(", ")
      }
    : {
        tone: "text-danger",
        icon: "cross",
        text: [`not ready: ${counted(blocks, "reason")}`, ...known].join(", ")
      }
}
