import { describe, expect, it } from "vitest"
import type { Readiness } from "@delivery/domain/flow/Readiness"
import { commitText, mutedIn, notCountedTexts, pendingTexts, testedText } from "@delivery/domain/flow/ReadinessRuns"
import { evidenceText, markOf, readyWords, told } from "../../src/flow/reasons.ts"

const reason = (
  kind: "ticket_blocks" | "drift" | "run_missing" | "mute_overdue" | "version_missing",
  severity: "block" | "warn"
) => ({
  kind,
  severity,
  subject: null,
  message: kind
})

const decided = (run: Partial<Readiness["runs"][number]>): Readiness["runs"][number] => ({
  coverage: "critical",
  run: 64,
  environment: "staging",
  result: "passed",
  gateResult: "passed",
  git: { branch: "main", sha: "9".repeat(40), dirty: false },
  counts: { total: 1, passed: 1, flaky: 0, failed: 0, skipped: 0 },
  mutedFailures: { count: 0, tests: [] },
  runningRetry: null,
  newer: null,
  finishedAt: "2026-11-21T09:31:05.000Z",
  ...run
})

it("The commit of what decided is named as far as git said it", () => {
  const git = { branch: "feature/z", sha: "9".repeat(40), dirty: true }
  expect(commitText(decided({ git }))).toBe("feature/z 9999999")
  expect(commitText(decided({ git: { ...git, branch: "" } }))).toBe("9999999")
  expect(commitText(decided({ git: { ...git, sha: "unknown" } }))).toBeUndefined()
})

it("The commit of the tests is told from the version that they tested, where it is another one", () => {
  const [sha, other] = ["0511".repeat(10), "1d4e".repeat(10)]
  const tested = (version: string | null, tested = sha) =>
    testedText(decided({ git: { branch: "main", sha: tested, dirty: false } }), version)
  expect(tested(other)).toBe("tests of main 0511051 against 1d4e1d4")
  expect(tested("v2.1.0")).toBe("tests of main 0511051 against v2.1.0")
  expect(tested("main")).toBe("tests of main 0511051 against main")
  for (const version of [sha, sha.toUpperCase(), sha.slice(0, 7), null]) expect(tested(version)).toBe("main 0511051")
  expect(tested(sha, "unknown")).toBeUndefined()
})

describe("What is ready", () => {
  it("is so by a run, or is said to be so without one, also where something warns", () => {
    const warned = [reason("drift", "warn")]
    expect(readyWords({ reasons: [], requires: ["critical"], runs: [] })).toBe("ready")
    expect(readyWords({ reasons: [], requires: [], runs: [] })).toBe("ready: no run is required")
    expect(readyWords({ reasons: warned, requires: ["critical"], runs: [] })).toBe("ready, with 1\u00a0warning")
    expect(readyWords({ reasons: warned, requires: [], runs: [] })).toBe(
      "ready, with 1\u00a0warning: no run is required"
    )
  })
})

describe("What decided", () => {
  const plain = (text: string | undefined) => text?.replaceAll("\u00a0", " ")

  it("is told with its counts, the newer run, and what is ready by its mutes alone", () => {
    const run = decided({})
    expect(evidenceText(run.counts)).toBe("1 passed")
    expect(evidenceText({ total: 8, passed: 0, flaky: 1, failed: 4, skipped: 3 })).toBe(
      "4 failed, 1 flaky, 0 passed, 3 skipped"
    )
    expect(pendingTexts(run)).toEqual([])
    const elsewhere = {
      coverage: "critical",
      run: 65,
      environment: "staging",
      result: "passed",
      reason: "other_address",
      baseUrl: "http://localhost:3000"
    } as const
    const changed = { ...elsewhere, run: 66, result: "failed", reason: "deployment_changed" } as const
    const part = { ...changed, run: 67, reason: "part_of_tests", coverage: null } as const
    const unnamed = { ...part, run: 68, reason: "no_coverage" } as const
    expect(notCountedTexts({ notCounted: [elsewhere, changed, part, unnamed] })).toEqual([
      "Run 65 passed, but does not count: it tested http://localhost:3000, not the address that the deployment had then and has now.",
      "Run 66 failed, but does not count: the deployment changed while it ran.",
      "Run 67 failed, but does not count: it ran a part of the tests.",
      "Run 68 failed, but does not count: it names no coverage."
    ])
    expect(pendingTexts(decided({ newer: { run: 65, state: "interrupted" } }))).toEqual([
      "Run 65 is newer and was interrupted: run 64 decides for the coverage critical."
    ])
    expect(pendingTexts(decided({ newer: { run: 65, state: "running" }, runningRetry: 2 }))).toEqual([
      "Retry 2 of run 64 is running.",
      "Run 65 is still running: until it ends, run 64 decides for the coverage critical."
    ])
    const muted = decided({ result: "failed", mutedFailures: { count: 1, tests: [] } })
    // Of a run that fails all the same, what is muted says nothing.
    const failed = { ...muted, gateResult: "failed" } as const
    expect(mutedIn([run, muted, failed])).toBe(1)
    const words = (runs: ReadonlyArray<typeof run>) => plain(readyWords({ reasons: [], requires: ["critical"], runs }))
    expect(words([run])).toBe("ready")
    expect(words([muted])).toBe("ready, though 1 failed test is muted")
    expect(words([muted, muted])).toBe("ready, though 2 failed tests are muted")
    const interrupted = decided({ newer: { run: 65, state: "interrupted" } })
    expect(words([muted, interrupted])).toBe("ready, though 1 failed test is muted and run 65 was interrupted")
  })

  it("marks the deployment where it is not to be relied on alone", () => {
    const markOfRun = (run: Parameters<typeof decided>[0]) => {
      const mark = markOf({ reasons: [], runs: [decided(run)], version: "v1" }, "v0")
      return [mark?.tone, plain(mark?.text)]
    }
    expect(markOfRun({})).toEqual([undefined, undefined])
    expect(markOfRun({ newer: { run: 65, state: "running" } })).toEqual([undefined, undefined])
    expect(markOfRun({ newer: { run: 65, state: "interrupted" } })).toEqual(["text-warning", "run 65 interrupted"])
    expect(markOfRun({ result: "failed", mutedFailures: { count: 2, tests: [] } })).toEqual([
      "text-warning",
      "2 muted failures"
    ])
  })
})

describe("The mark of a deployment", () => {
  it("says drift and warnings beside what blocks", () => {
    const reasons = [reason("run_missing", "block"), reason("mute_overdue", "warn"), reason("drift", "warn")]
    const texts = [reasons, reasons.slice(1), reasons.slice(0, 1), []].map((some) =>
      markOf({ reasons: some, runs: [], version: "v1" }, "v0")?.text.replaceAll("\u00a0", " ")
    )
    expect(texts).toEqual([
      "not ready: 1 reason, 1 secret changed, 1 warning",
      "1 secret changed, 1 warning",
      "not ready: 1 reason",
      undefined
    ])
  })

  it("does not call what runs there already not ready for tickets alone", () => {
    const tickets = [reason("ticket_blocks", "block"), reason("drift", "warn")]
    const mark = markOf({ reasons: tickets, runs: [], version: "v1" }, "v1")
    expect([mark?.tone, mark?.text.replaceAll("\u00a0", " ")]).toEqual([
      "text-warning",
      "1 ticket blocks, 1 secret changed"
    ])
    expect(markOf({ reasons: tickets, runs: [], version: "v2" }, "v1")?.tone).toBe("text-danger")
    const untested = [...tickets, reason("run_missing", "block")]
    expect(markOf({ reasons: untested, runs: [], version: "v1" }, "v1")?.tone).toBe("text-danger")
  })
})

describe("The mark of a deployment whose source has no version", () => {
  it("says so, and does not call what runs there not ready for that", () => {
    const without = reason("version_missing", "block")
    const more = [without, reason("ticket_blocks", "block"), reason("drift", "warn")]
    const marks = [[without], more, [without, reason("run_missing", "block")]].map((reasons) =>
      markOf({ reasons, runs: [], version: "v1" }, "v1")
    )
    expect(marks.map((mark) => [mark?.tone, mark?.text.replaceAll("\u00a0", " ")])).toEqual([
      ["text-warning", "no next version"],
      ["text-warning", "no next version, 1 ticket blocks, 1 secret changed"],
      ["text-danger", "not ready: 2 reasons"]
    ])
  })
})

describe("The sentence of a reason", () => {
  it("has times as the reader has them, and a short version", () => {
    const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" })
    const end = moment.format(new Date("2027-01-02T00:00Z"))
    const sha = "9fceb02d0ae598e95dc970b74767f19372d61af8"
    expect(told(`Nothing goes out before 2027-01-02 00:00 UTC: ${sha}`, sha)).toBe(
      `Nothing goes out before ${end}: 9fceb02`
    )
    expect(told("2027-99-02 00:00 UTC", null)).toBe("2027-99-02 00:00 UTC")
  })
})
