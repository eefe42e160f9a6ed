export { DeliveryReporter as default } from "./Reporter.ts"
export type { Cleanup, DeliveryReporterOptions } from "./Settings.ts"
