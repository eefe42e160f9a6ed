import { defineConfig } from "@playwright/test"
import type { DeliveryReporterOptions } from "../../src/index.ts"

/** What the demo says of the run: see `runnerOf` in `../serve.ts`. */
const { baseURL, chromium, git, output, updateSnapshots } = JSON.parse(process.env["DEMO_RUN"] ?? "{}")

const delivery: DeliveryReporterOptions = { coverage: "acceptance", git, required: true }

export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: `${output}/artifacts`,
  snapshotPathTemplate: `${output}/../snapshots/{arg}{ext}`,
  updateSnapshots,
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["dot"], ["../../src/index.ts", delivery]],
  use: {
    baseURL,
    launchOptions: chromium,
    viewport: { width: 800, height: 450 },
    screenshot: "only-on-failure",
    trace: "retain-on-failure"
  }
})
