import { expect, test } from "@playwright/test"
import { createClient, Unauthorized } from "@delivery/client"
import { currentRun } from "../src/Run.ts"

const url = process.env["DELIVERY_URL"] ?? "http://localhost:4000"
const apiKey = process.env["DELIVERY_API_KEY"] ?? ""
const slug = process.env["DELIVERY_WORKSPACE"] ?? "main"

test.describe("Workspace Delivery Service", () => {
  test("answers that it is up", { tag: "@critical" }, async ({ request }) => {
    expect(await (await request.get("/health")).json()).toEqual({ status: "ok" })
    expect(await (await request.get("/ready")).json()).toEqual({ status: "ok" })
  })

  test("describes itself", { tag: "@acceptance" }, async ({ request }, testInfo) => {
    const answer = await request.get("/openapi.json")
    await testInfo.attach("openapi", { body: await answer.body(), contentType: "application/json" })
    expect(await answer.json()).toMatchObject({ info: { title: "Workspace Delivery Service" } })
  })

  test("refuses a caller without a key", async ({ request }) => {
    const answer = await request.get("/v1/me")
    expect(answer.status()).toBe(401)
    expect(await answer.json()).toMatchObject({ _tag: "Unauthorized" })
    await expect(createClient({ baseUrl: url, apiKey: "ctk_no" }).me.get()).rejects.toBeInstanceOf(Unauthorized)
  })

  test(
    "knows the run that this test belongs to",
    {
      annotation: [
        { type: "caseId", description: "RUN-1" },
        { type: "testKind", description: "journey" },
        { type: "priority", description: "high" }
      ]
    },
    async () => {
      const current = currentRun()
      test.skip(current === undefined, "nothing is published")
      const run = await createClient({ baseUrl: url, apiKey }).testRuns.get({
        params: { slug, run: current?.number ?? 0 }
      })
      expect(run).toMatchObject({ state: "running", url: current?.url, coverage: "acceptance" })
    }
  )

  test("makes test data under the scope of the run", { tag: "@case:RUN-2" }, async ({ request }) => {
    const fixture = currentRun()?.fixture ?? null
    test.skip(fixture === null, "the deployment has no Fixture API")
    const answer = await request.post(`${fixture?.url}/${fixture?.scope}`, {
      headers: { authorization: `Bearer ${fixture?.token}` },
      data: { customer: "Ana" }
    })
    expect(answer.status()).toBe(201)
  })
})
