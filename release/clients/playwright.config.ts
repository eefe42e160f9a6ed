import type { DeliveryReporterOptions } from "@delivery/playwright"
import { defineConfig } from "@playwright/test"

const delivery: DeliveryReporterOptions = {
  workspace: "main",
  product: "shop",
  environment: "staging",
  required: true,
  git: {
    branch: "main",
    sha: "9fceb02d0ae598e95dc970b74767f19372d61af8",
    dirty: false,
    subject: "Add the basket"
  }
}

export default defineConfig({
  testMatch: "*.spec.ts",
  testIgnore: "out/**",
  reporter: [["line"], ["@delivery/playwright", delivery]]
})
