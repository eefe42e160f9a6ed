import { run } from "./HostRun.ts"

/** `cases rebuild`: counts the results of tests again, and prints of how many products. */
export const rebuild = run((operations) => operations.rebuildCases())
