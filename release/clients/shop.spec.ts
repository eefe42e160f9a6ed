import { expect, test } from "@delivery/playwright/fixtures"
import { currentRun } from "@delivery/playwright/run"

test.use({ semaphore: { name: "sandbox", capacity: 1 } })

test("knows its run and holds a lease", ({ lease }) => {
  expect(currentRun()?.number).toBe(1)
  expect(lease?.slot).toBe(1)
})
