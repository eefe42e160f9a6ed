import type { Cleanup, RunState } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"

/** Rules of a run's state that hold in every storage. Pure. */

interface Stateful {
  readonly state: RunState
  readonly expiresAt: Timestamp
}

/** Whether the run or retry runs at `now`: one that is overdue does not, though nothing may have ended it yet. */
export const isRunning = (run: Stateful, now: Timestamp): boolean => run.state === "running" && run.expiresAt > now

/** The row of a run or retry that is interrupted: when its time is up, unless it is earlier. */
export const interrupted = <
  Row extends Stateful & { readonly cleanupStatus: Cleanup["status"] | null; readonly finishedAt: Timestamp | null }
>(
  row: Row,
  at: Timestamp = row.expiresAt
): Row => ({
  ...row,
  state: "interrupted",
  finishedAt: at < row.expiresAt ? at : row.expiresAt,
  cleanupStatus: row.cleanupStatus === null ? null : "incomplete"
})

/** The run or retry as it is at `now`: interrupted once its time is up, though nothing may have ended it yet. */
export const asOf = <
  Run extends Stateful & { readonly cleanup: Cleanup | null; readonly finishedAt: Timestamp | null }
>(
  run: Run,
  now: Timestamp
): Run =>
  run.state !== "running" || isRunning(run, now)
    ? run
    : {
        ...run,
        state: "interrupted",
        finishedAt: run.expiresAt,
        cleanup: run.cleanup === null ? null : { ...run.cleanup, status: "incomplete" }
      }

/** The label of a run in events, to be followed by its number. */
export const runLabel = "Run "

/** The label of a retry in events, in parts. */
export const retryLabel = { retry: "Retry ", ofRun: " of run " }

export const labelOfRetry = (run: number, retry: number): string =>
  `${retryLabel.retry}${retry}${retryLabel.ofRun}${run}`

/** The page of a run, below that of its workspace, to be followed by the run's number. */
export const runPath = "test-runs/"

/** A commit SHA for comparison: ASCII letters in lower case, which every database does alike. */
export const foldSha = (sha: string): string => sha.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Whether it can be the id of a commit: publishers say `unknown` where there is none, and names of branches move. */
export const isKnownCommit = (sha: string): boolean => isId(foldSha(sha)) && !/^0+$/.test(sha)

const isId = (sha: string): boolean => /^[0-9a-f]{7,64}$/.test(sha)

/** Whether two publishers mean one commit: the beginning of a SHA stands for it, and what is no digit of it says nothing. */
export const isSameCommit = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((sha) => foldSha(sha.normalize("NFKC")).replaceAll(/[^0-9a-z]/g, ""))
  return a === b || ([a!, b!].every(isId) && (a!.startsWith(b!) || b!.startsWith(a!)))
}
