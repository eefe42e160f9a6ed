import { describe, expect, it } from "vitest"
import { useScreens } from "../support/AuditScreens.ts"
import { settled } from "../support/Screens.ts"

/** What half a screen and a tablet show: columns go by how much they matter. */

const screens = useScreens()

describe("Between a phone and a wide screen", () => {
  it.each([720, 820, 900, 1024])("a run says its title, where it ran and what failed: %i px", async (width) => {
    const page = await screens().site.signIn({ width, height: 800 })
    await page.goto(`${screens().site.origin}/w/main/test-runs?result=failed`)
    await settled(page)
    const row = page.getByRole("list", { name: "Runs" }).getByRole("link").first()
    for (const text of [/^Shop \//, /failed of/]) {
      const fact = row.getByText(text)
      await fact.waitFor()
      expect(await fact.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true)
    }
    // Room for a dozen letters and more.
    expect((await row.locator(".font-medium").first().boundingBox())!.width).toBeGreaterThan(160)
  })

  it.each([640, 720, 800, 900, 1024])("a run has its number, its branch and its time: %i px", async (width) => {
    const page = await screens().site.signIn({ width, height: 800 })
    await page.goto(`${screens().site.origin}/w/main/test-runs`)
    await settled(page)
    const rows = page.getByRole("list", { name: "Runs" }).getByRole("link")
    const right = (await rows.first().boundingBox())!
    for (const row of (await rows.all()).slice(0, 5)) {
      const number = row.getByText(/^#\d+$/).filter({ visible: true })
      const branch = row
        .locator("[title]", { hasText: /^main$|^[a-z]+\// })
        .filter({ visible: true })
        .first()
      for (const fact of [number, branch, row.locator("time")]) {
        const box = (await fact.boundingBox())!
        expect(box.x + box.width).toBeLessThanOrEqual(right.x + right.width)
        expect(box.width).toBeGreaterThan(15)
      }
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  })

  it.each([900, 1024])("the titles of tests and tickets have the most room: %i px", async (width) => {
    const page = await screens().site.signIn({ width, height: 800 })
    for (const [path, list, title] of [
      ["tests?product=shop", "Tests", "Account › downloads an invoice"],
      ["tickets", "Tickets", ""]
    ] as const) {
      await page.goto(`${screens().site.origin}/w/main/${path}`)
      await settled(page)
      const shown = page.getByRole("list", { name: list }).locator("a .foreign").filter({ hasText: title }).first()
      expect((await shown.boundingBox())!.width).toBeGreaterThan(200)
    }
  })
})
