import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { seed } from "../support/Seed.ts"
import { assetOf, atRest, isLive, openScreen, type Site, startSite } from "../support/Site.ts"

/** The server is killed while somebody types, and comes back: what they typed is still there, and is stored once. */

let site: Site

beforeAll(async () => {
  site = await startSite({ WEBHOOK_PRIVATE: "true" })
  await seed(site.call)
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const valueOf = async (name: string) => {
  const { environments } = await site.call<{
    environments: ReadonlyArray<{ environment: { slug: string }; value: string; version: number }>
  }>("GET", `products/shop/secrets/${name}`)
  return environments.find(({ environment }) => environment.slug === "staging")?.value
}

/** A screen that is live, with all that it may need. */
const open = async (path: string) => {
  const page = await openScreen(site, path)
  await isLive(page)
  await atRest(page)
  return page
}

describe("A server that is killed", () => {
  it("is said not to answer, until it does, and what has changed meanwhile is shown", async () => {
    const page = await open("deployments")
    const state = page.getByRole("navigation", { name: "Workspace" }).getByRole("status")
    await site.kill()
    await state.getByText("No answer", { exact: true }).waitFor()
    await site.revive()
    await site.call("POST", "products", { slug: "made-meanwhile", name: "Made meanwhile", type: "api" })
    await isLive(page)
    await page.getByText("Made meanwhile").first().waitFor()
  })

  it("is said not to answer while it hangs, though its streams stay open", async () => {
    const page = await open("deployments")
    const state = page.getByRole("navigation", { name: "Workspace" }).getByRole("status")
    const goOn = site.hang()
    try {
      await state.getByText("No answer", { exact: true }).waitFor()
    } finally {
      goOn()
    }
    await isLive(page)
  })

  it("goes on to be followed after its stream was refused", async () => {
    const page = await site.signIn()
    let isRefused = false
    await page.route(/\/events\/stream/, (route) => {
      if (isRefused) return route.continue()
      isRefused = true
      return route.fulfill({ status: 502 })
    })
    await openScreen(site, "deployments", page)
    const state = page.getByRole("navigation", { name: "Workspace" }).getByRole("status")
    await state.getByText("Every 15 s", { exact: true }).waitFor()
    await isLive(page)
  })

  it("loses nothing of a value that is typed", async () => {
    const page = await open("vault")
    await page.getByRole("gridcell", { name: "DATABASE_URL in Staging has a value" }).nth(1).click()
    const field = page.getByRole("dialog").getByLabel("New value")
    await field.pressSequentially("postgres://shop:")
    await site.kill()
    await field.pressSequentially("typed@db/shop")
    await page.getByRole("button", { name: "Set value" }).click()
    await page
      .getByText(/does not answer/)
      .first()
      .waitFor()
    expect(await field.inputValue()).toBe("postgres://shop:typed@db/shop")
    await site.revive()
    await page.getByRole("button", { name: "Set value" }).click()
    await page.getByText("DATABASE_URL of Shop in Staging is written").first().waitFor()
    await isLive(page)
    expect(await valueOf("DATABASE_URL")).toBe("postgres://shop:typed@db/shop")
  })

  it("loses nothing of a file that is pasted, between what is typed, compared and written", async () => {
    const page = await open("vault?product=shop")
    await page.getByRole("button", { name: "Paste .env" }).click()
    await page.getByRole("combobox", { name: "Environment" }).click()
    await page.getByRole("option", { name: "Staging" }).click()
    const file = page.getByLabel("Contents of the file")
    await file.fill("PASTED_ONE=1\n")
    await site.kill()
    await file.press("End")
    await file.pressSequentially("PASTED_TWO=2")
    await site.revive()
    await page.getByRole("button", { name: "Show the difference" }).click()
    await page.getByRole("button", { name: "Write 2 secrets" }).waitFor()
    await site.kill()
    await page.getByRole("button", { name: "Write 2 secrets" }).click()
    await page.getByRole("alert").getByText("The server did not answer.").waitFor()
    await site.revive()
    expect(await file.inputValue()).toContain("PASTED_ONE=1")
    await page.getByRole("button", { name: "Show the difference" }).click()
    await page.getByRole("button", { name: "Write 2 secrets" }).click()
    await page.getByText("2 secrets written to Shop in Staging").first().waitFor()
    expect([await valueOf("PASTED_ONE"), await valueOf("PASTED_TWO")]).toEqual(["1", "2"])
  })

  it("leaves a page that lacks a part as it is", async () => {
    const page = await site.signIn()
    // One part is asked for, and not sent before the server is killed.
    const { promise: killed, resolve: go } = Promise.withResolvers<void>()
    await page.route(`**${assetOf("src/ui/Toasts.tsx")}`, async (route) => {
      await killed
      await route.continue()
    })
    await openScreen(site, "settings", page)
    await isLive(page)
    await page.getByLabel("Name").fill("Typed")
    await site.kill()
    go()
    await page.getByText("A part of this page could not be loaded").first().waitFor()
    expect(await page.getByLabel("Name").inputValue()).toBe("Typed")
    await site.revive()
  })

  it("loses nothing of a form, and makes one thing of it", async () => {
    const page = await open("webhooks")
    await page.getByRole("button", { name: "New webhook" }).click()
    await page.getByLabel("Address").fill("http://127.0.0.1:9/")
    await page.getByRole("button", { name: "Run finished" }).click()
    await site.kill()
    await page.getByLabel("Address").press("End")
    await page.getByLabel("Address").pressSequentially("hook")
    await page.getByRole("button", { name: "Create webhook" }).click()
    await page
      .getByRole("dialog")
      .getByText(/does not answer/)
      .waitFor()
    await site.revive()
    expect(await page.getByLabel("Address").inputValue()).toBe("http://127.0.0.1:9/hook")
    expect(await page.getByRole("list", { name: "Chosen kinds" }).innerText()).toBe("Run finished")
    await page.getByRole("button", { name: "Create webhook" }).click()
    await page.getByRole("dialog", { name: "The secret of your webhook" }).waitFor()
    const { webhooks } = await site.call<{ webhooks: ReadonlyArray<{ url: string }> }>("GET", "webhooks")
    expect(webhooks.map(({ url }) => url)).toEqual(["http://127.0.0.1:9/hook"])
  })
})
