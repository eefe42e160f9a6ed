import type { TestEntry } from "./TestEntry.ts"
import type { Retry } from "./TestRun.ts"

/** Whether a test is flaky, and no retry that makes it so tested what the run did (docs/contract.md, Retries): for the gate it has failed. */
export const passedElsewhere = (
  { attempts, status }: Pick<TestEntry, "attempts" | "status">,
  retries: ReadonlyArray<Pick<Retry, "elsewhere" | "number" | "requiredPasses">>
): boolean =>
  status === "flaky" &&
  retries.some(({ elsewhere }) => elsewhere) &&
  !retries.some(({ elsewhere, number, requiredPasses }) => {
    const own = attempts.filter(({ retry }) => retry === number)
    return !elsewhere && own.length >= requiredPasses && own.every((one) => one.status === "passed")
  })
