import { type Failure, failureOf } from "../api/failures.ts"

/** Whether it was refused since it needs the approval of a second person. */
export const isUnapproved = (failure: Failure | undefined): boolean => failure?.reason === "approval_required"

/** What was thrown, with other words where it is for want of an approval: those of the server are for the command line. */
export const inWordsOf = (thrown: unknown, message: string): unknown => {
  const failure = failureOf(thrown)
  return isUnapproved(failure) ? { ...failure, message } : thrown
}
