import type { ReleaseReadiness } from "./ReleaseReadiness.ts"

/** Kinds of reasons in words: `run failed, ticket blocks (2)`. */
const kindsText = (kinds: ReleaseReadiness["reasons"]): string =>
  kinds.map(({ count, kind }) => `${kind.replaceAll("_", " ")}${count === 1 ? "" : ` (${count})`}`).join(", ")

/** What readiness said of a release: what kept it back, and that it was ready where no run was asked for. */
export const verdictText = ({ ready, reasons, requires }: ReleaseReadiness): string => {
  if (!ready) return `not ready: ${kindsText(reasons)}`
  return requires.length === 0 ? "ready, but nothing is required" : "ready"
}

/** What warned of a release; undefined where nothing did. */
export const warnedText = ({ warnings }: ReleaseReadiness): string | undefined =>
  warnings.length === 0 ? undefined : `warned of ${kindsText(warnings)}`
