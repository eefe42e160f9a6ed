import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium, type Locator, type Page } from "playwright-core"
import { axeFindings } from "../support/Axe.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { chromiumOptions } from "../../../server/test/support/Chromium.ts"
import { seed } from "../support/Seed.ts"
import { pressEnter, type Site, startSite } from "../support/Site.ts"

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
  // With it come the keys of whoever may write.
  await page.getByRole("button", { name: "Add secret" }).waitFor()
  return page
}

const cell = (page: Page, name: string, state: string) => page.getByRole("gridcell", { name: `${name} ${state}` })

/** Goes on with Tab until the keyboard is on what has this name. */
const tabTo = async (page: Page, name: string, key: "Tab" | "Shift+Tab" = "Tab") => {
  const current = () =>
    page.evaluate(() => {
      const { activeElement: element } = document
      // A page and a dialog have the text of all that is in them.
      if (element === null || element.matches("body,[role=dialog]")) return ""
      const labels = (element?.getAttribute("aria-labelledby") ?? "").split(" ")
      const named = labels.map((id) => document.getElementById(id)?.textContent ?? "").join(" ")
      return `${named} ${element?.getAttribute("aria-label") ?? ""} ${element?.textContent ?? ""}`
    })
  do await page.keyboard.press(key)
  while (!(await current()).toLowerCase().includes(name.toLowerCase()))
}

/** Types the name of a choice in a list that has just opened, until it is chosen: a list takes keys once it is placed. */
const typeTo = async (page: Page, choice: Locator, name: string) => {
  await choice.waitFor()
  const isChosen = () => choice.evaluate((element) => element.matches("[data-highlighted]"))
  while (!(await isChosen())) await page.keyboard.type(name)
}

const canary = "hunter2"

/** Whether the page, its address, history or storage has the value. */
const holds = (page: Page, value: string) =>
  page.evaluate(async (value) => {
    const databases = JSON.stringify(await indexedDB.databases())
    const cached = await caches.keys()
    const kept = [
      ...cached,
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
    await pressEnter(dialog.getByRole("button", { name: "Reveal for 30 s" }))
    await dialog.getByText(`postgres://shop:${canary}@db.staging/shop`).waitFor()
    await page.evaluate(() => dispatchEvent(new Event("blur")))
    await dialog.getByRole("button", { name: "Reveal for 30 s" }).waitFor()
    expect(await holds(page, canary)).toBe(false)
    await pressEnter(dialog.getByRole("button", { name: "Copy without showing" }))
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

  it("asks before what was typed is lost, however its dialogs are closed", async () => {
    const page = await open()
    const question = page.getByRole("alert").getByText("Discard what you typed?")
    for (const [key, title, label] of [
      ["c", "Add a secret", "Value"],
      ["v", "Paste a .env file", "Contents of the file"]
    ] as const) {
      await page.keyboard.press(key)
      const dialog = page.getByRole("dialog", { name: title })
      const field = dialog.getByLabel(label, { exact: true })
      await field.fill("A=long")
      await page.keyboard.press("Escape")
      await question.waitFor()
      await pressEnter(dialog.getByRole("button", { name: "Keep typing" }).and(page.locator(":focus")))
      await field.and(page.locator(":focus")).waitFor()
      for (const name of ["Cancel", "Close"]) {
        await pressEnter(dialog.getByRole("button", { name }))
        await question.waitFor()
        await page.keyboard.press("Escape")
        await question.waitFor({ state: "detached" })
        await field.and(page.locator(":focus")).waitFor()
      }
      expect(await field.inputValue()).toBe("A=long")
      await page.keyboard.press("Escape")
      await pressEnter(dialog.getByRole("button", { name: "Discard" }))
      await dialog.waitFor({ state: "detached" })
    }
    await cell(page, "DATABASE_URL in Staging", "has a value").first().click()
    const dialog = page.getByRole("dialog", { name: "DATABASE_URL", exact: true })
    await dialog.getByLabel("New value").fill("typed")
    await page.keyboard.press("Escape")
    await question.waitFor()
    await pressEnter(dialog.getByRole("button", { name: "Discard" }))
    await dialog.waitFor({ state: "detached" })
    // Whoever has typed nothing is not asked.
    await cell(page, "DATABASE_URL in Staging", "has a value").first().click()
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
  })

  it("offers an environment that is not of production first", async () => {
    const page = await open()
    const isOffered = async (environment: string, product?: string) => {
      for (const key of ["c", "v"]) {
        await page.keyboard.press(key)
        const dialog = page.getByRole("dialog")
        if (key === "v" && product !== undefined) {
          await dialog.getByRole("combobox", { name: "Product" }).click()
          await page.getByRole("option", { name: product }).click()
        }
        await dialog.getByRole("combobox", { name: "Environment" }).getByText(environment, { exact: true }).waitFor()
        await page.keyboard.press("Escape")
        await dialog.waitFor({ state: "detached" })
      }
    }
    // Billing, the first product, runs in no review apps. A file is pasted into none until somebody chooses it.
    await isOffered("Staging", "Billing")
    await page.goto(`${site.origin}/w/main/vault?product=shop`)
    await page.getByRole("button", { name: "Add secret" }).waitFor()
    await isOffered("Review apps")
  })

  it("shows a cell as it is now when somebody writes it meanwhile", async () => {
    const write = (value: string) => site.call("PATCH", "products/shop/secrets/WATCHED", { values: { staging: value } })
    await site.call("POST", "products/shop/secrets", { name: "WATCHED", values: { staging: "0wner-wr0te" } })
    const page = await open()
    await cell(page, "WATCHED in Staging", "has a value").click()
    const dialog = page.getByRole("dialog", { name: "WATCHED", exact: true })
    await dialog.getByText("version 1 by").waitFor()
    await dialog.getByRole("button", { name: "Reveal for 30 s" }).click()
    await dialog.getByText("0wner-wr0te", { exact: true }).waitFor()
    await write("4nn-wr0te")
    await dialog.getByText("version 2 by").waitFor()
    await dialog.getByRole("button", { name: "Reveal for 30 s" }).waitFor()
    expect(await holds(page, "0wner-wr0te")).toBe(false)
    await dialog.getByRole("button", { name: "Restore version 1" }).waitFor()
    expect(await dialog.getByRole("button", { name: "Restore version 2" }).count()).toBe(0)
    await dialog.getByRole("button", { name: "Reveal for 30 s" }).click()
    await dialog.getByText("4nn-wr0te", { exact: true }).waitFor()
  })

  it("takes a pasted .env file, a difference first", async () => {
    const page = await open()
    await page.keyboard.press("v")
    const dialog = page.getByRole("dialog", { name: "Paste a .env file" })
    // There are several products: none of them is chosen for anybody.
    await dialog.getByRole("combobox", { name: "Product" }).waitFor()
    await dialog.getByText("Still missing: a product, an environment and a line NAME=value.").waitFor()
    await dialog.getByLabel("Contents of the file").fill("MY-KEY=1\nNAME=2\n")
    expect(await dialog.getByRole("combobox", { name: "Product" }).innerText()).toBe("Choose a product")
    await page.keyboard.press("Control+Enter")
    await dialog.getByRole("alert").getByText("Still missing: a product and an environment.").waitFor()
    await dialog.getByRole("combobox", { name: "Product" }).and(page.locator(":focus")).waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(await dialog.getByRole("button", { name: "Show the difference" }).isEnabled()).toBe(false)
    await dialog.getByRole("combobox", { name: "Product" }).click()
    await page.getByRole("option", { name: "Shop" }).click()
    await dialog.getByRole("combobox", { name: "Environment" }).click()
    await page.getByRole("option", { name: "Staging" }).click()
    await dialog.getByText("Still missing").waitFor({ state: "detached" })
    await dialog.getByRole("alert").getByText("No .env file of a deployment can have MY-KEY.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole("button", { name: "Show the difference" }).click()
    await dialog.getByRole("alert").getByText("MY-KEY").waitFor()
    await dialog
      .getByRole("listitem")
      .filter({ hasText: "written, with a warning: MY-KEY (a deployment then gets no .env file)" })
      .waitFor()
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole("button", { name: "Write 2 secrets all the same" }).waitFor()
    // Enter takes the way that leaves the deployment its file.
    await dialog.getByRole("button", { name: "Leave it out" }).and(page.locator(":focus")).waitFor()
    await page.keyboard.press("Enter")
    await dialog.getByRole("button", { name: "Write 1 secret" }).waitFor()
    await dialog
      .getByRole("alert")
      .getByText("Left out, since no .env file of a deployment can have it: MY-KEY.")
      .waitFor()
    expect(await dialog.getByRole("listitem").filter({ hasText: "MY-KEY" }).count()).toBe(0)
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole("button", { name: "Write it all the same" }).click()
    await dialog.getByRole("button", { name: "Write 2 secrets" }).waitFor()
    await dialog.getByRole("button", { name: "Back" }).click()
    await dialog
      .getByLabel("Contents of the file")
      .fill(
        "SESSION_SECRET=\"staging value of SESSION_SECRET\"\nSMTP_PASSWORD=changed\nexport NEW_NAME='new' # comment\nNODE_OPTIONS=--inspect\nbroken line\nNEW_NAME=newer\n"
      )
    await dialog.getByRole("button", { name: "Show the difference" }).click()
    const lines = dialog.getByRole("list", { name: "What would change" }).getByRole("listitem")
    await lines.first().waitFor()
    expect(await lines.allInnerTexts().then((texts) => texts.map((text) => text.replaceAll(/\s+/g, " ")))).toEqual([
      expect.stringMatching(/NODE_OPTIONS .*changes which code/),
      expect.stringContaining("NEW_NAME"),
      expect.stringContaining("SMTP_PASSWORD"),
      expect.stringContaining("SESSION_SECRET")
    ])
    await dialog.getByText(/: 1 added, 1 changed, 1 the same, 1 left out$/).waitFor()
    await dialog.getByRole("status").getByText("Not understood, and left out: line 5.").waitFor()
    await dialog.getByText("There more than once, of which the last counts: NEW_NAME.").waitFor()
    await dialog.getByRole("button", { name: "Write 2 secrets" }).click()
    await dialog.waitFor({ state: "detached" })
    await cell(page, "NEW_NAME in Staging", "has a value").waitFor()
    // The difference read what it was compared with. Writing read nothing.
    const { entries } = (await site.call("GET", "audit?action=secret_read")) as {
      readonly entries: ReadonlyArray<{
        readonly subject: { readonly label: string }
        readonly environments: ReadonlyArray<string>
        readonly credential: { readonly kind: string }
      }>
    }
    const reads = entries
      .filter(({ credential }) => credential.kind === "session")
      .map(({ environments, subject }) => `${subject.label}: ${environments.join(", ")}`)
    expect(reads.filter((read) => /^(?:NEW_NAME|SMTP_PASSWORD) of Shop/.test(read))).toEqual([
      "SMTP_PASSWORD of Shop: staging"
    ])
  })

  it("takes a .env file into staging and compares it with production, by keyboard alone", async () => {
    const page = await open()
    await page.keyboard.press("/")
    await tabTo(page, "Product")
    await page.keyboard.press("Enter")
    await typeTo(page, page.getByRole("menuitemradio", { name: "Shop" }), "Shop")
    await page.keyboard.press("Enter")
    await page.waitForURL(/product=shop/)
    await page.getByRole("menu").waitFor({ state: "detached" })
    await page.keyboard.press("v")
    const dialog = page.getByRole("dialog", { name: "Paste a .env file" })
    await dialog.getByLabel("Contents of the file").and(page.locator(":focus")).waitFor()
    await page.keyboard.insertText("PASTED_NAME=pasted\nCDN_PURGE_KEY=other\n")
    await tabTo(page, "Environment", "Shift+Tab")
    await page.keyboard.press("Enter")
    await typeTo(page, page.getByRole("option", { name: "Staging" }), "Staging")
    await page.keyboard.press("Enter")
    await page.getByRole("listbox").waitFor({ state: "detached" })
    await tabTo(page, "Show the difference")
    await page.keyboard.press("Enter")
    await dialog.getByText("Shop in Staging: 1 added, 1 changed, 0 the same").waitFor()
    await tabTo(page, "Write 2")
    await page.keyboard.press("Enter")
    await dialog.waitFor({ state: "detached" })
    await cell(page, "PASTED_NAME in Staging", "has a value").waitFor()
    await page.keyboard.press("e")
    await page.waitForURL(/\/vault\/compare\?product=shop/)
    const names = page.getByRole("list", { name: "Secrets" })
    await names.getByRole("link", { name: "PASTED_NAME only in Staging" }).waitFor()
    await page.keyboard.press("d")
    await page.waitForURL(/only=different/)
    await names.getByText("DATABASE_URL").waitFor({ state: "detached" })
    await names.getByRole("link", { name: "PASTED_NAME only in Staging" }).waitFor()
  })

  it("says whose values are the same, and shows none", async () => {
    await site.call("POST", "products/shop/secrets", { name: "ALIKE", values: { staging: canary, review: canary } })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/vault/compare?product=shop&left=staging&right=review`)
    const names = page.getByRole("list", { name: "Secrets" })
    await names.getByRole("link", { name: "ALIKE both have a value" }).waitFor()
    // The key is there as soon as it is known that the person may compare them.
    await page.getByRole("button", { name: "Compare the values" }).waitFor()
    await page.keyboard.press("c")
    await names.getByRole("link", { name: "ALIKE the same value" }).waitFor()
    await names.getByRole("link", { name: "STRIPE_API_KEY another value" }).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current secret" })
    await peek.getByRole("heading", { name: "ALIKE" }).waitFor()
    await peek
      .getByRole("listitem")
      .filter({ hasText: /Staging.*has a value v1/ })
      .waitFor()
    await page.keyboard.press("j")
    await peek.getByRole("heading", { name: "ALIKE" }).waitFor({ state: "detached" })
    expect(await axeFindings(page)).toEqual([])
    expect(await holds(page, canary)).toBe(false)
    await page.keyboard.press("Escape")
    await peek.waitFor({ state: "detached" })
  })

  it("writes several cells at once, and says where somebody else was first", async () => {
    for (const name of ["BATCH_A", "BATCH_B"]) {
      await site.call("POST", "products/shop/secrets", { name, values: { staging: "1" } })
    }
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/vault?product=shop&q=BATCH`)
    await cell(page, "BATCH_B in Staging", "has a value").waitFor()
    // The key is there as soon as it is known that the person may write.
    await page.getByRole("button", { name: "Add secret" }).waitFor()
    await page.keyboard.press("b")
    await cell(page, "BATCH_A in Review apps", "").focus()
    await page.keyboard.press("ArrowRight")
    await page.locator(":focus", { hasText: "BATCH_A in Staging" }).waitFor()
    const fill = async (name: string, value: string) => {
      await page.keyboard.press("Enter")
      await page
        .getByRole("textbox", { name: `New value of ${name} in Staging` })
        .and(page.locator(":focus"))
        .waitFor()
      await page.keyboard.type(value)
      await page.keyboard.press("Enter")
      const changed = "has a value, version 1 has a new value, not written yet"
      await cell(page, `${name} in Staging`, changed).waitFor()
    }
    await fill("BATCH_A", canary)
    const bar = page.getByRole("region", { name: "Changed cells" })
    const loss = bar.getByText("Discard the new value of 1 cell?")
    const keep = bar.getByRole("button", { name: "Keep editing" }).and(page.locator(":focus"))
    const leave = page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name: "Runs" })
    // Neither is lost without a question: not by the button, and not by going elsewhere.
    for (const press of [
      () => bar.getByRole("button", { name: "Discard" }).press("Enter"),
      () => leave.press("Enter")
    ]) {
      await press()
      await loss.waitFor()
      expect(await axeFindings(page)).toEqual([])
      await keep.press("Enter")
      await loss.waitFor({ state: "detached" })
      await bar.getByText("1 cell changed").waitFor()
      expect(new URL(page.url()).pathname).toBe("/w/main/vault")
    }
    await cell(page, "BATCH_A in Staging", "has a value, version 1 has a new value, not written yet").focus()
    await page.keyboard.press("ArrowDown")
    await page.locator(":focus", { hasText: "BATCH_B in Staging" }).waitFor()
    await fill("BATCH_B", canary)
    expect(await holds(page, canary)).toBe(false)
    await site.call("PATCH", "products/shop/secrets/BATCH_B", { values: { staging: "theirs" } })
    await pressEnter(bar.getByRole("button", { name: "Write 2" }))
    await bar.getByRole("alert").getByText("BATCH_B in Staging is at version 2").waitFor()
    await bar.getByText("1 cell changed").waitFor()
    await cell(page, "BATCH_A in Staging", "has a value, version 2").waitFor()
    await pressEnter(bar.getByRole("button", { name: "Write over them" }))
    await cell(page, "BATCH_B in Staging", "has a value, version 3").waitFor()
    await bar.getByText("Nothing is sent before you say so").waitFor()
    await pressEnter(bar.getByRole("button", { name: "Done" }))
    await bar.waitFor({ state: "detached" })
  })

  it.each([
    { by: "mouse", looks: { width: 1440 } },
    { by: "mouse", looks: { width: 320, height: 720 } },
    { by: "finger", looks: { width: 320, height: 720, isTouch: true } },
    { by: "keyboard", looks: { width: 1440 } },
    { by: "keyboard", looks: { width: 320, height: 720 } }
  ])("keeps what is typed into one of several cells in its field: $by, $looks.width px", async ({ by, looks }) => {
    const page = await site.signIn(looks)
    await page.goto(`${site.origin}/w/main/vault?product=shop`)
    await page.getByRole("button", { name: "Add secret" }).waitFor()
    await page.keyboard.press("b")
    await page.getByRole("region", { name: "Changed cells" }).waitFor()
    const place = cell(page, "SESSION_SECRET in Staging", "has a value")
    const field = page.getByRole("textbox", { name: "New value of SESSION_SECRET in Staging" })
    // Each letter is a key of the page: a ticket, a secret, a file, the list of keys, and the runs.
    const value = "ncvbe?gr"
    if (by === "mouse") await place.click()
    else if (by === "finger") await place.tap()
    else {
      await page.getByRole("gridcell").first().focus()
      while (!(await place.evaluate((element) => element === document.activeElement))) {
        const { x, y } = (await place.boundingBox())!
        const now = (await page.locator(":focus").boundingBox())!
        await page.keyboard.press(now.y < y ? "ArrowDown" : now.x < x ? "ArrowRight" : "ArrowLeft")
        await page.locator("[role=gridcell]:focus").and(page.locator("[data-active]")).waitFor()
      }
    }
    if (by !== "keyboard") await field.and(page.locator(":focus")).waitFor()
    // Two frames later it is where it was: what follows a cell that was chosen has been done by then.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    await page.keyboard.type(value)
    expect(await field.inputValue()).toBe(value)
    expect(await page.getByRole("dialog").count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe("/w/main/vault")
    // The field is not below the names.
    const names = (await page.getByRole("rowheader").first().boundingBox())!
    expect((await field.boundingBox())!.x).toBeGreaterThanOrEqual(names.x + names.width)
    await page.keyboard.press("Enter")
    await page.getByText("1 cell changed").waitFor()
    // The table has not moved below it either.
    expect((await place.boundingBox())!.x).toBeGreaterThanOrEqual(names.x + names.width - 1)
    // And what is typed at the cell then is its value, too.
    await page.keyboard.type(value)
    expect(await field.inputValue()).toBe(value)
    expect(await page.getByRole("dialog").count()).toBe(0)
    // Whoever comes back to it sees the whole of it beside the names.
    await page.keyboard.press("Enter")
    for (const key of ["ArrowRight", "ArrowLeft"]) {
      await page.keyboard.press(key)
      await page.locator("[role=gridcell]:focus").and(page.locator("[data-active]")).waitFor()
    }
    await place.and(page.locator(":focus")).waitFor()
    await expect.poll(async () => (await place.boundingBox())!.x).toBeGreaterThanOrEqual(names.x + names.width - 1)
  })

  it("restores a version that nobody may read, generates a value, and says who did what", async () => {
    await site.call("POST", "products/shop/secrets", { name: "RESTORED", values: { production: "first" } })
    await site.call("PATCH", "products/shop/secrets/RESTORED", { values: { production: "second" } })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/products/shop/secrets/RESTORED`)
    const production = page.getByRole("button", { name: /^Production/ })
    await production.press("Enter")
    // What is said of it has the name, too.
    const dialog = page.getByRole("dialog", { name: "RESTORED", exact: true })
    await pressEnter(dialog.getByRole("button", { name: "Restore version 1" }))
    await dialog.waitFor({ state: "detached" })
    await production.getByText("v3").waitFor()
    await production.press("Enter")
    await pressEnter(dialog.getByRole("button", { name: "Generate" }))
    await page.getByRole("menuitem", { name: "UUID" }).press("Enter")
    await dialog.waitFor({ state: "detached" })
    await production.getByText("v4").waitFor()
    const audit = page.getByRole("region", { name: "Who read and wrote it" })
    await audit.getByText("wrote").nth(2).waitFor()
  })

  it("clears a value when that is confirmed, and restores it", async () => {
    await site.call("POST", "products/shop/secrets", { name: "CLEARED", values: { staging: "kept" } })
    const page = await open()
    await cell(page, "CLEARED in Staging", "has a value").click()
    await page
      .getByRole("dialog", { name: "CLEARED", exact: true })
      .getByRole("button", { name: "Clear value" })
      .click()
    const sure = page.getByRole("dialog", { name: "Clear CLEARED in Staging?" })
    await sure.getByText("you can restore this one at any time").waitFor()
    await page.keyboard.press("Escape")
    await sure.waitFor({ state: "detached" })
    await page
      .getByRole("dialog", { name: "CLEARED", exact: true })
      .getByRole("button", { name: "Clear value" })
      .click()
    await pressEnter(sure.getByRole("button", { name: "Clear value" }))
    await cell(page, "CLEARED in Staging", "was cleared").click()
    await page.getByRole("button", { name: "Restore version 1" }).click()
    await cell(page, "CLEARED in Staging", "has a value").waitFor()
  })

  it("leaves no value in the profile of the browser: shown, copied, compared, pasted or typed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "delivery-profile-"))
    const secretCanary = "c4n4ry-9f3b1e7d5a2c"
    const control = "c0ntr0l-1d7e4a9c6b3f"
    const values = { staging: secretCanary, review: secretCanary }
    for (const name of ["CANARY", "PASTED_CANARY", "TYPED_CANARY"])
      await site.call("DELETE", `products/shop/secrets/${name}`).catch(() => undefined)
    await site.call("POST", "products/shop/secrets", { name: "CANARY", values })
    const context = await chromium.launchPersistentContext(folder, {
      ...(await chromiumOptions()),
      locale: "en-US",
      permissions: ["clipboard-read", "clipboard-write"]
    })
    try {
      await context.addCookies(await (await site.signIn()).context().cookies())
      const page = await context.newPage()
      await page.goto(`${site.origin}/w/main/vault?q=${control}`)
      await page.goto(`${site.origin}/w/main/products/shop/secrets/CANARY`)
      await pressEnter(page.getByRole("button", { name: /^.*Staging/ }))
      const dialog = page.getByRole("dialog", { name: "CANARY" })
      await pressEnter(dialog.getByRole("button", { name: "Reveal for 30 s" }))
      await dialog.getByText(secretCanary).waitFor()
      await pressEnter(dialog.getByRole("button", { name: "Hide" }))
      await dialog.getByRole("button", { name: "Reveal for 30 s" }).waitFor()
      await pressEnter(dialog.getByRole("button", { name: "Copy without showing" }))
      await dialog.getByRole("button", { name: "Copied" }).waitFor()
      expect(await holds(page, secretCanary)).toBe(false)
      await page.keyboard.press("Escape")
      await page.goto(`${site.origin}/w/main/vault/compare?product=shop&left=staging&right=review`)
      await pressEnter(page.getByRole("button", { name: "Compare the values" }))
      await page.getByRole("link", { name: "CANARY the same value" }).waitFor()
      expect(await holds(page, secretCanary)).toBe(false)
      await page.goto(`${site.origin}/w/main/vault?product=shop`)
      await pressEnter(page.getByRole("button", { name: "Paste .env" }))
      const pasting = page.getByRole("dialog", { name: "Paste a .env file" })
      await pasting.getByLabel("Contents of the file").fill(`PASTED_CANARY=${secretCanary}-pasted`)
      await pressEnter(pasting.getByRole("button", { name: "Show the difference" }))
      await pressEnter(pasting.getByRole("button", { name: "Write 1 secret" }))
      await pasting.waitFor({ state: "detached" })
      await pressEnter(page.getByRole("button", { name: "Add secret" }))
      const adding = page.getByRole("dialog", { name: "Add a secret" })
      await adding.getByLabel("Name").fill("TYPED_CANARY")
      await adding
        .getByLabel(/^Value/)
        .first()
        .fill(`${secretCanary}-typed`)
      await pressEnter(adding.getByRole("button", { name: "Add secret" }))
      await adding.waitFor({ state: "detached" })
      await page.getByRole("rowheader", { name: "TYPED_CANARY" }).waitFor()
      expect(await holds(page, secretCanary)).toBe(false)
      await page.goBack()
      await page.goBack()
      await page.getByRole("heading", { name: "CANARY" }).waitFor()
    } finally {
      await context.close()
    }
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const found = (text: string) => {
      const forms = [Buffer.from(text), Buffer.from(text, "utf16le")]
      return files
        .filter((entry) => forms.some((form) => readFileSync(join(entry.parentPath, entry.name)).includes(form)))
        .map(({ name }) => name)
    }
    // What is searched for is found where it is kept: the address of a page is.
    expect(found(control)).not.toEqual([])
    expect(found(secretCanary)).toEqual([])
    rmSync(folder, { recursive: true, force: true })
  })
})
