import { currentRun } from "@delivery/vitest/run"
import { expect, test } from "vitest"

test("knows its run", () => {
  expect(currentRun()?.number).toBe(2)
})
