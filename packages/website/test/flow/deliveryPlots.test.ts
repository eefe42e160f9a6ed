import { DeploymentId } from "@delivery/domain/Ids"
import { expect, it } from "vitest"
import { plotsOf } from "../../src/flow/deliveryPlots.ts"

const deployment = DeploymentId.make("0197a1b2-0000-7000-8000-000000000006")

it("draws the lead time of a commit on the day of its release, however old it is", () => {
  const today = new Date().toISOString()
  const day = 86_400_000
  const old = new Date(Date.parse(today) - 90 * day).toISOString()
  const release = { product: "shop", environment: "production", deployment, number: 1, version: "v1", at: today }
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

it("draws the time to restore on the day on which a release was rolled back", () => {
  const at = new Date(Date.now() - 2 * 86_400_000).toISOString()
  const restoredAt = new Date(Date.now() - 86_400_000).toISOString()
  const release = { product: "shop", environment: "production", deployment, number: 1, version: "v1", at }
  const failures = [600_000, 1_200_000, 1_800_000].map((ms) => ({ ...release, restoredBy: 2, restoredAt, ms }))
  const plots = plotsOf(
    {
      deploymentFrequency: { perDay: 1 / 30, count: 1, releases: [release] },
      leadTime: { medianMs: null, commits: [] },
      changeFailureRate: { rate: 1, total: 1, failed: [release] },
      timeToRestore: { medianMs: 1_200_000, failures }
    },
    3
  )
  const { series, title } = plots.at(-1)!
  expect([title, series[0]!.values]).toEqual([
    "Time to restore of the releases rolled back on a day",
    [null, 1_200_000, null]
  ])
})
