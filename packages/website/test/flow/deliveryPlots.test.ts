import { expect, it } from "vitest"
import { plotsOf } from "../../src/flow/deliveryPlots.ts"

it("draws the lead time of a commit on the day of its release, however old it is", () => {
  const today = new Date().toISOString()
  const day = 86_400_000
  const old = new Date(Date.parse(today) - 90 * day).toISOString()
  const release = { product: "shop", environment: "production", number: 1, version: "v1", at: today }
  const plots = plotsOf(
    {
      deploymentFrequency: { perDay: 1 / 30, count: 1, releases: [release] },
      leadTime: { medianMs: 90 * day, commits: [{ sha: "abcdef1", product: "shop", at: old, ms: 90 * day }] },
      changeFailureRate: { rate: 0, total: 1, failed: [] },
      timeToRestore: { medianMs: null, failures: [] }
    },
    30
  )
  const [releases, failures, lead] = plots.map(({ series }) => series[0]!.values)
  expect([releases!.at(-1), failures!.at(-1), lead!.at(-1)]).toEqual([1, 0, 90 * day])
  expect(lead!.slice(0, -1).every((value) => value === null)).toBe(true)
})
