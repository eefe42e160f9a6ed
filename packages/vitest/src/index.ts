export type { Cleanup, DeliveryReporterOptions } from "@delivery/publishing"
export { DeliveryReporter as default } from "./Reporter.ts"
