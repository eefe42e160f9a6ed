import type { DeliveryReporterOptions } from "@delivery/publishing"
import type { Reporter } from "@playwright/test/reporter"
import { DeliveryReporter } from "./Reporter.ts"
import { RetryReporter } from "./RetryReporter.ts"
import { retryRequest } from "./RetryRequest.ts"

export type { Cleanup, DeliveryReporterOptions } from "@delivery/publishing"

/** The reporter that Playwright creates: it publishes a run or, under `delivery-playwright retry`, a retry. */
const Delivery = function (options: DeliveryReporterOptions = {}): Reporter {
  const request = retryRequest(process.env)
  return request === undefined ? new DeliveryReporter(options) : new RetryReporter(options, request)
} as unknown as new (options?: DeliveryReporterOptions) => Reporter

export default Delivery
