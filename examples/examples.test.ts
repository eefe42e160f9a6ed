// Runs each example as its own process against one server in memory, and checks what it prints.
import { DeliveryServer } from "@delivery/server/testing"
import { ManagedRuntime, Redacted } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const runtime = ManagedRuntime.make(DeliveryServer.layerMemory())
let environment: Readonly<Record<string, string>>

beforeAll(async () => {
  const { apiKey, baseUrl } = await runtime.runPromise(DeliveryServer)
  environment = { DELIVERY_URL: baseUrl, DELIVERY_API_KEY: Redacted.value(apiKey) }
})
afterAll(() => runtime.dispose())

const run = (file: string, changes: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, file)], {
    env: { ...process.env, ...environment, ...changes }
  })

const outputOf = async (file: string): Promise<string> => {
  const { stderr, stdout } = await run(file)
  expect(stderr).toBe("")
  return stdout
}

describe("the examples", () => {
  it("publish a run and read it back", async () => {
    expect((await outputOf("publish-run.ts")).split("\n")).toEqual([
      expect.stringMatching(/^Started run \d+\.$/),
      expect.stringMatching(/^Run \d+ failed: 1 passed, 1 failed\.$/),
      "- failed: Checkout › pays by invoice (Expected 200, got 500)",
      "- passed: Checkout › pays by card",
      "checkout/pays-by-card/stdout.txt says: Card accepted.",
      ""
    ])
  })

  it("use the client as a service of Effect", async () => {
    expect((await outputOf("effect-client.ts")).split("\n")).toEqual([
      "Signed in as Owner.",
      "The product Toolbox was made once: true.",
      "A product that does not exist fails with NotFound.",
      ""
    ])
  })

  it("share accounts among tests", async () => {
    expect(await outputOf("with-semaphore.ts")).toBe("4 tests shared 2 accounts; at most 2 ran at once.\n")
  })

  it.for(["publish-run.ts", "effect-client.ts", "with-semaphore.ts"])("say what %s lacks in one line", async (file) => {
    const wrongKey = environment["DELIVERY_API_KEY"]!.replace("ctk_", "ctk_x")
    for (const [lacking, line] of [
      [{ DELIVERY_API_KEY: "" }, /^DELIVERY_API_KEY is missing\. .+\n$/],
      [{ DELIVERY_API_KEY: wrongKey }, /^The server at \S+ does not know the key in DELIVERY_API_KEY\. .+\n$/],
      [{ DELIVERY_URL: "http://127.0.0.1:1" }, /^No server answers at http:\/\/127\.0\.0\.1:1\. .*DELIVERY_URL.+\n$/]
    ] as const) {
      const failed = await run(file, lacking).then(
        () => undefined,
        (error: { readonly code: number; readonly stderr: string; readonly stdout: string }) => error
      )
      expect(failed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(line) })
      expect(failed!.stderr).not.toContain("ctk_")
    }
  })
})
