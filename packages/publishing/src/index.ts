/** What reporters and the command line publish runs with. */
export { caseIds, fitId } from "./CaseIds.ts"
export { ciUrlOf, hasBuild } from "./Ci.ts"
export { onInterruption } from "./Interruption.ts"
export { mutedEntries, mutedLines, type MutedTest, mutedTests } from "./Muted.ts"
export { checkOptions } from "./Options.ts"
export { git, readGit, readMachine } from "./Origin.ts"
export { gateAddition, nothingToPublish, Publication, type PublicationContext } from "./Publication.ts"
export { cleanUp, Publisher, timeFor, withinLimits } from "./Publisher.ts"
export { isPassing, lineOf } from "./Retry.ts"
export { joined, messageText, stackText, testReport, titleOf } from "./Reports.ts"
export { type Attachment, type RunFile, runFiles } from "./RunFiles.ts"
export { announceRetry, type CurrentRun, currentRun } from "./RunVariables.ts"
export { TimeLimit } from "./TimeLimit.ts"
export { notUploaded } from "./Uploads.ts"
export {
  type Cleanup,
  coverages,
  type DeliveryReporterOptions,
  isRequired,
  readSettings,
  type Settings,
  type WrongSettings
} from "./Settings.ts"
