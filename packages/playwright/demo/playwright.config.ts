import { defineConfig } from "@playwright/test"
import type { DeliveryReporterOptions } from "../src/index.ts"

const output = process.env["DEMO_OUTPUT"] ?? `${import.meta.dirname}/test-results`

/** Where it publishes to comes from DELIVERY_URL, DELIVERY_API_KEY and so on; without them it only tests. */
const delivery: DeliveryReporterOptions = { coverage: "acceptance", cleanup: "cleanup.ts" }

export default defineConfig({
  testDir: import.meta.dirname,
  testIgnore: "shop/**",
  outputDir: `${output}/artifacts`,
  workers: 2,
  retries: 1,
  timeout: 20_000,
  // Elsewhere it is "@delivery/playwright".
  reporter: [["dot"], ["json", { outputFile: `${output}/report.json` }], ["../src/index.ts", delivery]],
  use: { baseURL: process.env["DELIVERY_URL"] ?? "http://localhost:4000" }
})
