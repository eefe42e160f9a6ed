import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { seed } from "../support/Seed.ts"
import { type Site, startSite } from "../support/Site.ts"

/** The vault in a real browser, by keyboard: values show one at a time, and stay nowhere. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await seed(site.call)
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const open = async () => {
  const page = await site.signIn()
  await page.goto(`${site.origin}/w/main/vault`)
  await page.getByRole("grid", { name: "Secrets" }).waitFor()
  return page
}

const cell = (page: Page, name: string, state: string) => page.getByRole("gridcell", { name: `${name} ${state}` })

const canary = "hunter2"

/** Whether the page, its address, history or storage has the value. */
const holds = (page: Page, value: string) =>
  page.evaluate(async (value) => {
    const databases = JSON.stringify(await indexedDB.databases())
    const kept = [
      document.documentElement.outerHTML,
      location.href,
      JSON.stringify(history.state),
      JSON.stringify(localStorage),
      JSON.stringify(sessionStorage),
      databases
    ]
    return kept.some((text) => text.includes(value))
  }, value)

describe("The vault", () => {
  it("is walked by keyboard, reveals a value, and hides it on blur", async () => {
    const page = await open()
    await cell(page, "BANK_CERTIFICATE in Review apps", "has no value").focus()
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key)
    await page.locator(":focus", { hasText: "v2" }).waitFor()
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "DATABASE_URL" })
    await dialog.getByRole("button", { name: "Reveal for 30 s" }).waitFor()
    expect(await holds(page, canary)).toBe(false)
    await dialog.getByRole("button", { name: "Reveal for 30 s" }).press("Enter")
    await dialog.getByText(`postgres://shop:${canary}@db.staging/shop`).waitFor()
    await page.evaluate(() => dispatchEvent(new Event("blur")))
    await dialog.getByRole("button", { name: "Reveal for 30 s" }).waitFor()
    expect(await holds(page, canary)).toBe(false)
    await dialog.getByRole("button", { name: "Copy without showing" }).press("Enter")
    await dialog.getByRole("button", { name: "Copied" }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(canary)
    expect(await holds(page, canary)).toBe(false)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
  })

  it("hides a value after 30 seconds", async () => {
    const page = await open()
    await page.clock.install()
    await cell(page, "DATABASE_URL in Staging", "has a value").nth(1).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name: "Reveal for 30 s" }).click()
    await dialog.getByText(canary).waitFor()
    await page.clock.runFor(29_000)
    expect(await holds(page, canary)).toBe(true)
    await page.clock.runFor(2_000)
    expect(await holds(page, canary)).toBe(false)
  })

  it("never shows values of production", async () => {
    const page = await open()
    await cell(page, "DATABASE_URL in Production", "has a value").first().click()
    await page.getByText("Values of production are never shown to anybody.").waitFor()
    expect(await page.getByRole("button", { name: /Reveal|Copy without/ }).count()).toBe(0)
  })

  it("writes a value, and says where somebody else was first", async () => {
    const page = await open()
    await cell(page, "SMTP_PASSWORD in Production", "is missing").click()
    await page.getByLabel("New value").fill("first")
    await page.getByRole("button", { name: "Set value" }).click()
    await cell(page, "SMTP_PASSWORD in Production", "has a value").waitFor()
    await cell(page, "SENTRY_DSN in Staging", "has a value").click()
    await page.getByLabel("New value").fill("mine")
    await site.call("PATCH", "products/shop/secrets/SENTRY_DSN", { values: { staging: "theirs" } })
    await page.getByRole("button", { name: "Set value" }).click()
    await page.getByRole("alert").getByText("What you typed is still here.").waitFor()
    expect(await page.getByLabel("New value").inputValue()).toBe("mine")
    await page.getByRole("button", { name: "Write over it" }).click()
    await page.getByRole("dialog", { name: "SENTRY_DSN" }).waitFor({ state: "detached" })
    const { environments } = await site.call<{
      environments: ReadonlyArray<{ environment: { slug: string }; value: string; version: number }>
    }>("GET", "products/shop/secrets/SENTRY_DSN")
    expect(environments.find(({ environment }) => environment.slug === "staging")).toMatchObject({
      value: "mine",
      version: 3
    })
  })

  it("takes a pasted .env file, a difference first", async () => {
    const page = await open()
    await page.keyboard.press("v")
    const dialog = page.getByRole("dialog", { name: "Paste a .env file" })
    await dialog.getByRole("combobox", { name: "Product" }).click()
    await page.getByRole("option", { name: "Shop" }).click()
    await dialog.getByRole("combobox", { name: "Environment" }).click()
    await page.getByRole("option", { name: "Staging" }).click()
    await dialog
      .getByLabel("Contents of the file")
      .fill(
        "SESSION_SECRET=\"staging value of SESSION_SECRET\"\nSMTP_PASSWORD=changed\nexport NEW_NAME='new' # comment\n"
      )
    await dialog.getByRole("button", { name: "Show the difference" }).click()
    const lines = dialog.getByRole("list", { name: "What would change" }).getByRole("listitem")
    await lines.first().waitFor()
    expect(await lines.allInnerTexts().then((texts) => texts.map((text) => text.replaceAll(/\s+/g, " ")))).toEqual([
      expect.stringContaining("NEW_NAME"),
      expect.stringContaining("SMTP_PASSWORD"),
      expect.stringContaining("SESSION_SECRET")
    ])
    await dialog.getByText(/: 1 added, 1 changed, 1 the same/).waitFor()
    await dialog.getByRole("button", { name: "Write 2 secrets" }).click()
    await dialog.waitFor({ state: "detached" })
    await cell(page, "NEW_NAME in Staging", "has a value").waitFor()
  })
})
