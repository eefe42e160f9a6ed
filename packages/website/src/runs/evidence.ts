import type { Case, CaseState } from "@delivery/domain/runs/Case"
import { formatDuration } from "../ui/duration.ts"
import { formatRelative } from "../ui/format.ts"
import { formatRate } from "../ui/rate.ts"

/** Why a test is called what it is called, in a few words. Pure. */
export const evidenceOf = (
  { durationP50Ms, durationP95Ms, failingSince, flakeRate, muted, passRate }: Case,
  state: CaseState
): string => {
  switch (state) {
    case "failing":
      return failingSince === null ? "in its newest result" : `since run ${failingSince.run}`
    case "flaky":
      return flakeRate === null ? "in 30 days" : `${formatRate(flakeRate)} of its results of 30 days`
    case "slow":
      return `95th percentile ${formatDuration(durationP95Ms)}, median ${formatDuration(durationP50Ms)}`
    case "muted":
      return muted === null
        ? ""
        : `by ${muted.ticket ?? "a ticket of a private team"}, ends ${formatRelative(new Date(muted.until), new Date())}`
    case "passing":
      return passRate === null ? "" : `${formatRate(passRate)} of its results of 30 days`
  }
}
