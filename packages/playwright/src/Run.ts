export { type CurrentRun, currentRun } from "@delivery/publishing"
