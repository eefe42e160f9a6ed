// Shares two accounts among many tests: each test holds a lease while it uses one, and the others wait for their turn.
// Runs against a server: examples/README.md says how.
import { createSemaphores } from "@delivery/client"
import { setTimeout } from "node:timers/promises"
import { connectToShop, shopRun } from "./shop.ts"

const client = await connectToShop()

const run = await client.testRuns.start({
  params: { slug: "main" },
  payload: {
    ...shopRun,
    selection: { coverage: null, folders: [], caseIds: [] }
  }
})

// The run token comes with the run. It takes leases, and works until the run ends.
const { withSemaphore } = createSemaphores(run.semaphores)

const accounts = ["alice@example.com", "bob@example.com"]
const inUse = new Set<string>()
let most = 0

const testWithAccount = (test: string) =>
  withSemaphore("payment-sandbox", { capacity: accounts.length, test }, async ({ slot }) => {
    // `slot` is 1 to capacity, and no other test of any run has it.
    const account = accounts[slot - 1]!
    if (inUse.has(account)) throw new Error(`Two tests use ${account} at once.`)
    inUse.add(account)
    most = Math.max(most, inUse.size)
    await setTimeout(50)
    inUse.delete(account)
  })

await Promise.all(["pays by card", "pays by invoice", "pays later", "gets money back"].map(testWithAccount))
console.log(`4 tests shared ${accounts.length} accounts; at most ${most} ran at once.`)

await client.testRuns.finish({
  params: { slug: "main", run: run.number },
  payload: { interrupted: true, durationMs: 0, tests: [] }
})
