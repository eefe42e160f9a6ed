/** What the command line publishes runs with: the same as the reporter. */
export { caseIds, fitId } from "./CaseIds.ts"
export { git, readGit, readMachine } from "./Origin.ts"
export { Publisher, withinLimits } from "./Publisher.ts"
export { coverages } from "./Settings.ts"
