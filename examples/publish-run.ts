// Publishes a test run with the promise client: starts it, uploads a file, finishes it, and reads it back.
// Runs against a server: examples/README.md says how.
import { connectToShop, shopRun } from "./shop.ts"

const client = await connectToShop()

const run = await client.testRuns.start({
  params: { slug: "main" },
  payload: {
    ...shopRun,
    selection: { coverage: "acceptance", folders: [], caseIds: [] }
  }
})
console.log(`Started run ${run.number}.`)

const at = { slug: "main", run: run.number }
const path = "checkout/pays-by-card/stdout.txt"
await client.files.upload({ ...at, path, body: "Card accepted.\n", contentType: "text/plain" })

const test = { file: "checkout.spec.ts", coverage: "acceptance", testKind: "journey" } as const
const startedAt = new Date().toISOString()
await client.testRuns.finish({
  params: at,
  payload: {
    interrupted: false,
    durationMs: 4_250,
    tests: [
      {
        ...test,
        caseId: "checkout.spec.ts:pays-by-card",
        title: "Checkout › pays by card",
        files: [path],
        attempt: { status: "passed", durationMs: 3_120, startedAt }
      },
      {
        ...test,
        caseId: "checkout.spec.ts:pays-by-invoice",
        title: "Checkout › pays by invoice",
        attempt: { status: "failed", durationMs: 1_130, startedAt, errorMessage: "Expected 200, got 500" }
      }
    ]
  }
})

const finished = await client.testRuns.get({ params: at })
console.log(
  `Run ${finished.number} ${finished.result}: ${finished.counts.passed} passed, ${finished.counts.failed} failed.`
)
for (const { errorMessage, status, title } of finished.tests) {
  console.log(`- ${status}: ${title}${errorMessage === null ? "" : ` (${errorMessage})`}`)
}
const file = await client.files.download({ ...at, path })
console.log(`${path} says: ${(await file.text()).trim()}`)
