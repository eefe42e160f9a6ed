import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Page } from "playwright-core"
import { seed, seedLargeRun } from "./support/Seed.ts"
import { seedSettings } from "./support/SeedSettings.ts"
import { startSite } from "./support/Site.ts"

/** Pictures of every screen, light and dark, wide and narrow: `pnpm screenshots [FOLDER] [SCREEN...]`. */

const [folder = "packages/website/dist/screenshots", ...only] = process.argv.slice(2)

const site = await startSite({ WEBHOOK_PRIVATE: "true" })
try {
  const { failed, passed, running } = await seed(site.call)
  const large = await seedLargeRun(site.call)
  const { close, webhook } = await seedSettings(site)
  const test = encodeURIComponent("tests/checkout/pays-by-card.spec.ts:Checkout › pays by card")
  const screens: Readonly<Record<string, string>> = {
    home: "/w/main",
    runs: "/w/main/test-runs",
    "runs-none": "/w/main/test-runs?q=nothing",
    run: `/w/main/test-runs/${failed}`,
    "run-passed": `/w/main/test-runs/${passed}`,
    "run-running": `/w/main/test-runs/${running}`,
    "run-large": `/w/main/test-runs/${large}`,
    "run-tests": `/w/main/test-runs/${failed}?view=tests`,
    "run-details": `/w/main/test-runs/${failed}?view=details`,
    test: `/w/main/test-runs/${failed}/tests/${test}`,
    compare: `/w/main/compare?run=${failed}`,
    tests: "/w/main/tests?product=shop",
    case: `/w/main/products/shop/cases/${test}`,
    trends: "/w/main/trends?product=shop",
    "trends-table": "/w/main/trends?product=shop&view=table",
    deployments: "/w/main/deployments",
    deployment: "/w/main/deployments/shop/production",
    vault: "/w/main/vault",
    "vault-compare": "/w/main/vault/compare?product=shop",
    secret: "/w/main/products/shop/secrets/DATABASE_URL",
    events: "/w/main/events",
    members: "/w/main/settings/members",
    keys: "/w/main/settings/api-keys",
    "keys-workspace": "/w/main/settings/api-keys?of=workspace",
    tokens: "/w/main/deployments/shop/production?view=tokens",
    "tokens-none": "/w/main/deployments/shop/staging?view=tokens",
    audit: "/w/main/audit",
    "audit-none": "/w/main/audit?action=agent_denied",
    webhooks: "/w/main/webhooks",
    webhook: `/w/main/webhooks/${webhook}`,
    semaphores: "/w/main/semaphores",
    workspace: "/w/main/settings",
    profile: "/w/main/settings/profile",
    credentials: "/w/main/settings/credentials",
    publishers: "/w/main/settings/trusted-publishers",
    facts: "/w/main/products/shop",
    missing: "/w/main/nothing/here"
  }
  const overlays: Readonly<Record<string, readonly [path: string, open: (page: Page) => Promise<unknown>]>> = {
    palette: [screens["home"]!, (page) => page.keyboard.press("Control+k")],
    keys: [screens["home"]!, (page) => page.keyboard.press("?")],
    filter: [screens["runs"]!, (page) => page.getByRole("button", { name: "result" }).click()],
    cell: [screens["vault"]!, (page) => page.getByRole("gridcell", { name: "SESSION_SECRET in Staging" }).click()],
    batch: [
      screens["vault"]!,
      async (page) => {
        await page.keyboard.press("b")
        await page.getByRole("gridcell", { name: "SESSION_SECRET in Staging" }).click()
        await page.getByRole("textbox", { name: "New value of SESSION_SECRET" }).fill("new")
        await page.keyboard.press("Enter")
      }
    ],
    "add-secret": [screens["vault"]!, (page) => page.keyboard.press("c")],
    paste: [
      screens["vault"]!,
      async (page) => {
        await page.keyboard.press("v")
        const dialog = page.getByRole("dialog")
        await dialog.getByRole("combobox", { name: "Product" }).click()
        await page.getByRole("option", { name: "Shop" }).click()
        await dialog.getByLabel("Contents").fill("DATABASE_URL=new\nSESSION_SECRET=new\nNEW_NAME=new\n")
        await dialog.getByRole("button", { name: "Show the difference" }).click()
      }
    ],
    invite: [screens["members"]!, (page) => page.getByRole("button", { name: "Invite" }).click()],
    "new-key": [screens["keys"]!, (page) => page.getByRole("button", { name: "New API key" }).click()],
    "new-token": [screens["tokens"]!, (page) => page.getByRole("button", { name: "New token" }).click()],
    "token-lines": [screens["tokens"]!, (page) => page.getByRole("button", { name: "Lines to paste" }).click()],
    "revoke-token": [
      screens["tokens"]!,
      (page) => page.getByRole("button", { name: "Revoke kubernetes", exact: true }).click()
    ],
    "rotate-token": [screens["tokens"]!, (page) => page.getByRole("button", { name: "Rotate kubernetes" }).click()],
    "new-publisher": [screens["publishers"]!, (page) => page.getByRole("button", { name: "Trust a workflow" }).click()],
    "new-webhook": [screens["webhooks"]!, (page) => page.getByRole("button", { name: "New webhook" }).click()],
    "audit-details": [
      screens["audit"]!,
      (page) =>
        page
          .getByRole("button", { name: /^Details of/ })
          .first()
          .click()
    ],
    "add-passkey": [screens["profile"]!, (page) => page.getByRole("button", { name: "Add a passkey" }).click()]
  }
  mkdirSync(folder, { recursive: true })
  for (const width of [1440, 320]) {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await site.signIn({ colorScheme, width, height: width === 320 ? 720 : 900 })
      const show = async (path: string) => {
        await page.goto(`${site.origin}${path}`)
        await page.locator("#screen h1").waitFor()
        await page.waitForFunction(() => document.querySelector("[aria-busy=true], .animate-pulse") === null)
        await page.evaluate(() => document.fonts.ready)
      }
      const picture = async (name: string) => {
        // What is loaded when it is asked for, and appears in 120 ms.
        await page.waitForLoadState("networkidle")
        await page.waitForTimeout(300)
        await page.screenshot({ path: join(resolve(folder), `${name}-${width}-${colorScheme}.png`) })
      }
      for (const [name, path] of Object.entries(screens)) {
        if (only.length > 0 && !only.includes(name)) continue
        await show(path)
        await picture(name)
      }
      for (const [name, [path, open]] of Object.entries(overlays)) {
        if (only.length > 0 && !only.includes(name)) continue
        await show(path)
        await open(page)
        await picture(name)
      }
      await page.context().close()
    }
  }
  close()
  if (site.problems.length > 0) process.stdout.write(`${site.problems.join("\n")}\n`)
} finally {
  await site.close()
}
