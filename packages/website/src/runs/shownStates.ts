import type { Case, CaseState } from "@delivery/domain/runs/Case"

/** What is to be said of a test: that it passes only where nothing else is. */
export const shownStates = ({ states }: Pick<Case, "states">): ReadonlyArray<CaseState> =>
  states.length > 1 ? states.filter((state) => state !== "passing") : states
