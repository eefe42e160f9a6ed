import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort } from "../../../server/src/cli/FreePort.ts"
import { startChromium } from "../../../server/test/support/Chromium.ts"
import { axeFindings, colourRules } from "../support/Axe.ts"

const folder = mkdtempSync(join(tmpdir(), "delivery-dev-"))
let browser: Browser
let port: number
let dev: ChildProcess
let output = ""
/** Where the owner signs in. */
let link: string

beforeAll(async () => {
  port = await freePort()
  const started = spawn(process.execPath, [join(import.meta.dirname, "../../dev/dev.ts")], {
    env: { PATH: process.env["PATH"], DATA_DIR: folder, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"]
  })
  dev = started
  browser = await startChromium()
  // It is read to its end: whoever prints into a closed pipe ends.
  await new Promise<void>((resolve) => {
    started.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text
      if (/#ltk_\w+\n/.test(output)) resolve()
    })
  })
  link = /http:\/\/\S+#ltk_\w+/.exec(output)![0]
})

afterAll(async () => {
  await browser.close()
  dev.kill("SIGINT")
  await once(dev, "exit")
  rmSync(folder, { recursive: true, force: true })
})

const openPage = async () => {
  const page = await (await browser.newContext({ locale: "en-US" })).newPage()
  page.setDefaultTimeout(100_000)
  return page
}

describe("pnpm dev", () => {
  it("shows every part of the design, for everybody to use, in both schemes and widths", async () => {
    const page = await openPage()
    const problems: Array<string> = []
    page.on("pageerror", ({ message }) => problems.push(message))
    await page.goto(`http://localhost:${port}/design`)
    await page.getByRole("heading", { name: "Design", level: 1 }).waitFor()
    // What is drawn and what is loaded last is there.
    await page.getByRole("figure", { name: "Finished runs" }).locator("canvas").waitFor()
    await page.getByRole("region", { name: "Markdown" }).getByText("bold").waitFor()
    await page.getByRole("group", { name: "The description" }).getByText("card").waitFor()
    await page.getByRole("list", { name: "Rows" }).getByText("pays by card").waitFor()
    await page.getByRole("list", { name: "A list" }).getByText("of one line").waitFor()
    await page.getByRole("tab", { name: "Docker" }).waitFor()
    await page.getByRole("region", { name: "Marks of tickets and projects" }).getByText("unstarted").waitFor()
    await page
      .getByRole("region", { name: "Days" })
      .getByRole("row", { name: /^2026-11-21/ })
      .waitFor()
    const audit = async () => {
      const found = []
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        found.push(...(await axeFindings(page, colorScheme === "light" ? undefined : colourRules)))
      }
      return found
    }
    expect(await audit()).toEqual([])
    await page.getByRole("button", { name: "Status is Todo", exact: true }).click()
    await page.getByRole("menuitemradio", { name: "Done" }).waitFor()
    expect(await audit()).toEqual([])
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Peek", exact: true }).click()
    await page.getByRole("complementary", { name: "The current thing" }).waitFor()
    expect(await audit()).toEqual([])
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Make a key" }).click()
    await page.getByRole("dialog").getByText("ctk_4fGh9aZk").waitFor()
    expect(await audit()).toEqual([])
    await page.getByRole("button", { name: "I have copied it" }).click()
    await page.setViewportSize({ width: 320, height: 720 })
    expect(await audit()).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    expect(problems).toEqual([])
    await page.context().close()
  })

  it("serves the API and the website at one port, and waits for changes of the sources", async () => {
    expect(new URL(link).port).toBe(String(port))
    const page = await openPage()
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
  })
})
