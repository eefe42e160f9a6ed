import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { freePort } from "../../../server/src/cli/FreePort.ts"
import { startChromium } from "../../../server/test/support/Chromium.ts"

it("pnpm dev serves the API and the website at one port, and waits for changes of the sources", async () => {
  const folder = mkdtempSync(join(tmpdir(), "delivery-dev-"))
  const port = await freePort()
  const dev = spawn(process.execPath, [join(import.meta.dirname, "../../dev/dev.ts")], {
    env: { PATH: process.env["PATH"], DATA_DIR: folder, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const browser = await startChromium()
  try {
    let output = ""
    // It is read to its end: whoever prints into a closed pipe ends.
    await new Promise<void>((resolve) => {
      dev.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text
        if (/#ltk_\w+\n/.test(output)) resolve()
      })
    })
    const link = /http:\/\/\S+#ltk_\w+/.exec(output)![0]
    expect(new URL(link).port).toBe(String(port))
    const page = await (await browser.newContext({ locale: "en-US" })).newPage()
    page.setDefaultTimeout(100_000)
    // Vite says so when it can tell the page what has changed.
    const connected = page.waitForEvent("console", (message) => message.text().includes("[vite] connected"))
    await page.goto(link)
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor()
    await connected
    expect((await fetch(`http://localhost:${port}/v1/me`)).status).toBe(401)
    // Whoever watches hears of it, though nothing is another: other suites start servers of the same sources.
    const source = join(import.meta.dirname, "../../../server/src/http/Logs.ts")
    chmodSync(source, statSync(source).mode)
    await expect.poll(() => output).toMatch(/Restarting .*Program\.ts/)
  } finally {
    await browser.close()
    dev.kill("SIGINT")
    await once(dev, "exit")
    rmSync(folder, { recursive: true, force: true })
  }
})
