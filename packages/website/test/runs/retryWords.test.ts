import { retryOutcome } from "@delivery/domain/runs/RetryOutcome"
import { expect, it } from "vitest"
import { retryText } from "../../src/runs/retryWords.ts"

it("A retry is told by what it came to, not by having ended", () => {
  const told = (state: "running" | "finished" | "interrupted", testCount: number, flakyCount: number) => {
    const retry = { state, testCount, flakyCount }
    return [retryOutcome(retry), retryText(retry)]
  }
  expect(told("finished", 3, 3)).toEqual(["passed", "3 of 3\u00a0tests passed"])
  expect(told("finished", 3, 1)).toEqual(["failed", "1 of 3\u00a0tests passed"])
  expect(told("finished", 1, 0)).toEqual(["failed", "0 of 1\u00a0test passed"])
  expect(told("running", 3, 0)).toEqual(["running", "3\u00a0tests"])
  expect(told("interrupted", 3, 1)).toEqual(["interrupted", "1 of 3\u00a0tests passed"])
})
