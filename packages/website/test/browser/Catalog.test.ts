import type { Locator } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Products, environments and deployments: added, changed, archived and compared. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

/** That the keyboard is in the field. */
const isIn = (field: Locator) =>
  field.evaluate(
    (one) =>
      new Promise<void>((resolve) => {
        if (one === document.activeElement) resolve()
        else one.addEventListener("focus", () => resolve(), { once: true })
      })
  )

describe("The catalog", () => {
  it("is filled by keyboard alone", async () => {
    const page = await openScreen(site, "deployments")
    await page.getByText("Which version runs where appears here").waitFor()
    // The key is there as soon as it is known that the person may add one.
    await page.getByRole("button", { name: "Add product" }).waitFor()
    await page.keyboard.press("c")
    const product = page.getByRole("dialog", { name: "Add a product" })
    await isIn(product.getByLabel("Name"))
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.type("Web shop")
    expect(await product.getByLabel("Slug").inputValue()).toBe("web-shop")
    await page.keyboard.press("Enter")
    await product.waitFor({ state: "detached" })
    await page.keyboard.press("e")
    const environment = page.getByRole("dialog", { name: "Add an environment" })
    await isIn(environment.getByLabel("Name"))
    await page.keyboard.type("Staging")
    await page.keyboard.press("Enter")
    await environment.waitFor({ state: "detached" })
    await pressEnter(page.getByRole("button", { name: "Web shop in Staging: not deployed, add it" }))
    const deployment = page.getByRole("dialog", { name: "Web shop in Staging" })
    await isIn(deployment.getByLabel("Address"))
    await page.keyboard.type("https://staging.shop.example.com")
    await page.keyboard.press("Tab")
    await page.keyboard.type("v1")
    await page.keyboard.press("Enter")
    await deployment.waitFor({ state: "detached" })
    await page.getByRole("link", { name: /v1/ }).waitFor()
    expect(await site.call("GET", "deployments/web-shop/staging")).toMatchObject({
      baseUrl: "https://staging.shop.example.com",
      version: "v1",
      product: { name: "Web shop", type: "website" }
    })
  })

  it("says at its field what is wrong, and keeps what is typed", async () => {
    const page = await openScreen(site, "deployments")
    await page.getByRole("button", { name: "Add product" }).click()
    const dialog = page.getByRole("dialog", { name: "Add a product" })
    await dialog.getByLabel("Name").fill("Other shop")
    await dialog.getByLabel("Slug").fill("web-shop")
    await dialog.getByRole("button", { name: "Add product" }).click()
    await dialog.getByText(/already in use/).waitFor()
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Other shop")
    await dialog.getByLabel("Slug").fill("Not a slug")
    await dialog.getByRole("button", { name: "Add product" }).click()
    await dialog.getByText(/lower-case letters/).waitFor()
  })

  it("changes, archives with a way back, and restores", async () => {
    const page = await openScreen(site, "deployments")
    const menu = page.getByRole("button", { name: "What to do with Web shop" })
    await menu.press("Enter")
    await page.getByRole("menuitem", { name: "Change" }).press("Enter")
    const dialog = page.getByRole("dialog", { name: "Change the product" })
    await dialog.getByLabel("Repository").fill("acme/shop")
    await pressEnter(dialog.getByRole("button", { name: "Save" }))
    await dialog.waitFor({ state: "detached" })
    expect(await site.call("GET", "products/web-shop")).toMatchObject({ repository: "acme/shop", slug: "web-shop" })
    const archive = async () => {
      await menu.press("Enter")
      await page.getByRole("menuitem", { name: "Archive" }).click()
      await menu.waitFor({ state: "detached" })
    }
    await archive()
    await page.getByRole("button", { name: "Undo" }).click()
    await menu.waitFor()
    await archive()
    await page.getByRole("button", { name: "More", exact: true }).click()
    await page.getByRole("menuitem", { name: /Archived/ }).click()
    await pressEnter(page.getByRole("button", { name: "Restore Web shop" }))
    await page.getByText("Nothing is archived.").waitFor()
    await page.keyboard.press("Escape")
    await menu.waitFor()
    await page.getByRole("link", { name: /v1/ }).waitFor()
  })

  it("is only looked at by who may not change it", async () => {
    const page = await joinAs(site, "vera@example.com", "Vera", "viewer")
    await openScreen(site, "deployments", page)
    await page.getByRole("link", { name: /v1/ }).waitFor()
    expect(await page.locator("#screen").getByRole("button").count()).toBe(0)
  })
})

describe("Two deployments of a product", () => {
  it("are compared: versions, the commits between them, and secrets that one lacks", async () => {
    await site.call("POST", "environments", { slug: "live", name: "Live", class: "production" })
    await site.call("POST", "deployments", {
      product: "web-shop",
      environment: "live",
      baseUrl: "https://shop.example.com",
      version: "v1"
    })
    await site.call("PATCH", "deployments/web-shop/staging", {
      version: "v2",
      commits: [{ sha: "a3f9c1d5e7b20486", subject: "Pay by card" }]
    })
    const page = await openScreen(site, "deployments/web-shop/staging")
    await page.getByRole("link", { name: "Compare", exact: true }).press("Enter")
    await page.getByRole("heading", { name: "Staging is 1 release ahead of Live" }).waitFor()
    await page.getByRole("list", { name: "Commits" }).getByText("Pay by card").waitFor()
    await page.getByText("Both have a value of the same secrets.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.goto(`${site.origin}/w/main/deployments/web-shop/live?view=compare&with=staging`)
    await page.getByRole("heading", { name: "Staging is 1 release ahead of Live" }).waitFor()
    await site.call("PATCH", "deployments/web-shop/live", { version: "v2" })
    await page.getByText("Both run the same version.").waitFor()
  })
})
