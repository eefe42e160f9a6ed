import { describe, expect, it } from "vitest"
import type { RunError } from "@delivery/domain/runs/Case"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { gateText } from "../../src/runs/gate.ts"
import { statusOf } from "../../src/runs/status.ts"
import { failureRows, firstLine } from "../../src/runs/failureRows.ts"
import { filteredTests } from "../../src/runs/filteredTests.ts"
import { neighbour } from "../../src/runs/neighbour.ts"

const test = (caseId: string, status: TestEntry["status"]): TestEntry => ({
  caseId,
  title: `Title of ${caseId}`,
  file: `tests/${caseId}.spec.ts`,
  coverage: "acceptance",
  testKind: "journey",
  priority: null,
  status,
  durationMs: 1,
  errorMessage: null,
  files: [],
  attempts: []
})

const error = (id: string, ...caseIds: ReadonlyArray<string>): RunError => ({
  id,
  message: id,
  count: caseIds.length,
  state: "new",
  cases: caseIds.map((caseId) => ({ caseId, title: caseId, state: "new", ticket: null }))
})

const tests = [test("a", "failed"), test("b", "failed"), test("c", "failed"), test("d", "flaky"), test("e", "passed")]

describe("The failures of a run", () => {
  it("stand below what they say, and none is left out", () => {
    const rows = failureRows(tests, [error("timeout", "a", "b"), error("gone", "zzz")])
    expect(rows.map((row) => row.key)).toEqual(["timeout", "timeout a", "timeout b", "others", "c", "flaky", "d"])
  })

  it("stand alone where nothing is grouped yet", () => {
    expect(failureRows(tests, undefined).map((row) => row.key)).toEqual(["a", "b", "c", "flaky", "d"])
    expect(failureRows([test("e", "passed")], [])).toEqual([])
  })

  it("that were muted stand last, marked, and in no group", () => {
    const rows = failureRows(tests, [error("timeout", "a", "b")], new Set(["a", "d", "e"]))
    expect(rows.map((row) => row.key)).toEqual(["timeout", "timeout b", "others", "c", "flaky", "d", "muted", "a"])
    expect(rows[0]).toMatchObject({ error: { count: 1 } })
    expect(rows.at(-1)).toMatchObject({ state: "muted" })
  })

  it("are told apart from flaky tests where they passed on retry elsewhere alone", () => {
    const attempt = (retry: number): TestEntry["attempts"][number] => ({
      number: retry + 1,
      retry,
      status: "passed",
      durationMs: 1,
      startedAt: "2026-11-21T09:30:00.000Z",
      errorMessage: null,
      errorStack: null,
      files: []
    })
    const retry = (number: number, elsewhere: boolean) => ({ number, elsewhere, requiredPasses: 1 })
    const passed = (caseId: string, ...retries: ReadonlyArray<number>) => ({
      ...test(caseId, "flaky"),
      attempts: retries.map(attempt)
    })
    const both = [passed("here", 1, 2), passed("there", 1)]
    const rows = failureRows(both, [], new Set(), [retry(1, true), retry(2, false)])
    expect(rows.map((row) => row.key)).toEqual(["elsewhere", "there", "flaky", "here"])
    const run = {
      counts: { total: 2, passed: 0, flaky: 2, failed: 0, skipped: 0 },
      result: "passed",
      state: "finished"
    } as const
    expect(statusOf({ ...run, gateResult: "failed" })).toBe("gateFailed")
    expect(statusOf({ ...run, gateResult: "passed" })).toBe("flaky")
  })

  it("are told by the gate where it passes without those that were muted", () => {
    const mutes = ["a", "b", "e"].map((caseId) => ({ caseId, ticket: "ENG-1", until: "2026-12-21T09:30:00.000Z" }))
    const failed = { mutes, tests, result: "failed" as const }
    expect(gateText({ ...failed, gateResult: "passed" })).toBe("failed, 2 muted: gate passes")
    expect(gateText({ ...failed, gateResult: "failed" })).toBeUndefined()
    expect(gateText({ ...failed, result: "passed", gateResult: "failed" })).toBe(
      "failed for the gate: retried elsewhere"
    )
    expect(gateText({ ...failed, result: null, gateResult: null })).toBeUndefined()
  })

  it("are walked around their ends", () => {
    expect(neighbour(tests, "a", 1)?.caseId).toBe("b")
    expect(neighbour(tests, "d", 1)?.caseId).toBe("a")
    expect(neighbour(tests, "a", -1)?.caseId).toBe("d")
    expect(neighbour([test("e", "passed")], "e", 1)).toBeUndefined()
  })

  it("are found by words of title and file, and by status", () => {
    expect(filteredTests(tests, { q: "TITLE b.spec" }).map((one) => one.caseId)).toEqual(["b"])
    expect(filteredTests(tests, { status: "flaky" }).map((one) => one.caseId)).toEqual(["d"])
    expect(firstLine("\n  \n first\nsecond")).toBe(" first")
    expect(firstLine(null)).toBe("")
  })
})
