import { errorGroupOf } from "@delivery/domain/runs/ErrorGroups"
import { Effect } from "effect"

/** How many failures are grouped before others have a turn: each may have said 4,000 characters. */
const atOnce = 25

/**
 * The failures with the groups that they are in (docs/contract.md, Tests over time). A run may have 5,000: the process serves
 * others meanwhile.
 */
export const grouped = Effect.fnUntraced(function* <A>(failures: ReadonlyArray<A>, textOf: (failure: A) => string) {
  const all: Array<A & { readonly errorGroup: string }> = []
  for (const failure of failures) {
    all.push({ ...failure, errorGroup: errorGroupOf(textOf(failure)) })
    if (all.length % atOnce === 0) yield* Effect.yieldNow
  }
  return all
})
