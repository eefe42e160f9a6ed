import { createSemaphores, type Lease, type SemaphoreOptions } from "@delivery/client"
import { firstCharacters } from "@delivery/domain/Text"
import { currentRun } from "@delivery/publishing"
import { test as base } from "@playwright/test"
import { refuseOldPlaywright } from "./InstalledPlaywright.ts"

// Older versions start workers before the run is known: their tests would run without a lease, beside those that have one.
refuseOldPlaywright("The fixtures of @delivery/playwright need")

/** The semaphore that the tests of a file or group need. */
export interface SemaphoreUse extends Omit<SemaphoreOptions, "test"> {
  readonly name: string
}

/** The lease that a test holds. Its signal aborts when the lease is lost. */
export interface HeldLease extends Lease {
  readonly signal: AbortSignal
}

/** Options for `test.use`. */
export interface SemaphoreTestOptions {
  /** The semaphore that the test needs. Default: none. */
  readonly semaphore: SemaphoreUse | undefined
}

/** Fixtures of tests. */
export interface SemaphoreFixtures {
  /**
   * The lease of the test's `semaphore`, held from before the hooks of the test until after them. Undefined without a
   * `semaphore`, and if nothing is published: then nobody shares the resource.
   */
  readonly lease: HeldLease | undefined
  /**
   * Runs `use` while it holds a lease of the semaphore. The waiting is added to the time of the test. If the test runs out
   * of time in `use`, the signal of its lease aborts and the lease is released. If nothing is published, `use` runs
   * without a lease.
   */
  readonly withSemaphore: <A>(
    name: string,
    options: Omit<SemaphoreOptions, "test">,
    use: (lease: HeldLease | undefined) => Promise<A>
  ) => Promise<A>
}

/**
 * Playwright's `test` with leases of semaphores.
 *
 * ```ts
 * import { test } from "@delivery/playwright/fixtures"
 * test.use({ semaphore: { name: "payment-sandbox", capacity: 2 } })
 * test("pays by card", async ({ lease, page }) => pay(page, accounts[lease?.slot ?? 1]))
 * ```
 *
 * Waiting for a lease does not count as time of the test. A test whose lease is lost fails with `LeaseLost`.
 */
export const test = base.extend<SemaphoreTestOptions & SemaphoreFixtures>({
  semaphore: [undefined, { option: true }],

  lease: [
    async ({ semaphore }, use, testInfo) => {
      const run = currentRun()
      if (semaphore === undefined || run === undefined) return use(undefined)
      const { name, ...options } = semaphore
      await createSemaphores(run.semaphores).withSemaphore(
        name,
        { ...options, test: titleOf(testInfo.titlePath) },
        (lease, signal) => use({ ...lease, signal })
      )
    },
    // A timeout of its own, without end: the time of the test begins when it has the lease.
    { auto: true, timeout: 0 }
  ],

  withSemaphore: [
    // oxlint-disable-next-line eslint/no-empty-pattern -- Playwright requires a pattern, even without fixtures
    async ({}, use, testInfo) => {
      const test = new AbortController()
      const leases = new Set<Promise<unknown>>()
      await use(async (name, options, work) => {
        const run = currentRun()
        if (run === undefined) return work(undefined)
        const timeout = testInfo.timeout
        const started = Date.now()
        testInfo.setTimeout(0)
        const begin = () => testInfo.setTimeout(timeout === 0 ? 0 : timeout + Date.now() - started)
        let isWaiting = true
        const working = createSemaphores(run.semaphores).withSemaphore(
          name,
          { ...options, test: titleOf(testInfo.titlePath), signal: test.signal },
          (lease, signal) => {
            isWaiting = false
            begin()
            return work({ ...lease, signal })
          }
        )
        leases.add(working)
        try {
          return await working
        } finally {
          leases.delete(working)
          if (isWaiting) begin()
        }
      })
      // Playwright does not wait for a test that ran out of time, so its leases are released here.
      test.abort(new Error("The test is over."))
      await Promise.allSettled(leases)
    },
    { timeout: 0 }
  ]
})

export { expect } from "@playwright/test"

/** How others see the test: its file and titles. */
const titleOf = (titlePath: ReadonlyArray<string>): string =>
  firstCharacters(titlePath.filter(Boolean).join(" › "), 1_000)
