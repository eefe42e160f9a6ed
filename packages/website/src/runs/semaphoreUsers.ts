import type { Semaphore } from "@delivery/domain/runs/Semaphore"

/** What a run and its retries have of a semaphore: leases, then places in its queue with their numbers. Pure. */
export const usersOf = ({ holders, waiting }: Semaphore, run: number) => [
  ...holders.filter((one) => one.run === run).map((one) => ({ ...one, place: undefined, ends: one.expiresAt })),
  ...waiting.map((one, index) => ({ ...one, place: index + 1, ends: undefined })).filter((one) => one.run === run)
]
