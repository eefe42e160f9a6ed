import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { seed } from "../support/Seed.ts"
import { accept, assetOf, isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** How the website is served, its frame, and what happens around its screens. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await seed(site.call)
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

describe("The website", () => {
  it("is served with the strictest policy, its files for ever, compressed", async () => {
    const page = await fetch(`${site.origin}/w/main/test-runs`, { headers: { "accept-encoding": "br" } })
    expect(page.headers.get("cache-control")).toBe("no-cache")
    expect(page.headers.get("content-encoding")).toBe("br")
    const policy = page.headers.get("content-security-policy")!
    expect(policy).not.toContain("unsafe")
    for (const part of [
      "script-src 'self'",
      "style-src 'self'",
      "require-trusted-types-for 'script'",
      "frame-ancestors 'none'",
      "object-src 'none'",
      "base-uri 'none'"
    ]) {
      expect(policy).toContain(part)
    }
    for (const [header, value] of [
      ["cross-origin-opener-policy", "same-origin"],
      ["referrer-policy", "no-referrer"],
      ["permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"]
    ] as const) {
      expect([header, page.headers.get(header)]).toEqual([header, value])
    }
    const html = await page.text()
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=/)
    // The files of the list of runs are asked for at once.
    expect(html).toContain(`rel="modulepreload" crossorigin href="${assetOf("src/runs/RunsScreen.tsx")}"`)
    for (const [path, module] of [
      ["products/shop", "src/catalog/ProductScreen.tsx"],
      ["environments/staging", "src/catalog/EnvironmentScreen.tsx"],
      ["muted-tests", "src/flow/MutedScreen.tsx"],
      ["products/shop/muted-tests", "src/flow/MutedScreen.tsx"],
      ["test-rules", "src/flow/TestRulesScreen.tsx"],
      ["delivery", "src/flow/DeliveryScreen.tsx"],
      ["products/shop/delivery", "src/flow/DeliveryScreen.tsx"],
      ["messages/0197a1b2-0000-7000-8000-000000000f01", "src/agents/MessageScreen.tsx"]
    ]) {
      const other = await (await fetch(`${site.origin}/w/main/${path}`)).text()
      for (const each of ["src/app/OtherScreen.tsx", module!]) {
        expect([path, other]).toEqual([path, expect.stringContaining(`crossorigin href="${assetOf(each)}"`)])
      }
    }
    const etag = page.headers.get("etag")!
    const again = await fetch(`${site.origin}/w/main/test-runs`, { headers: { "if-none-match": etag } })
    expect(again.status).toBe(304)
    for (const [, path] of html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
      for (const encoding of ["br", "gzip", "identity"]) {
        const file = await fetch(`${site.origin}${path}`, { headers: { "accept-encoding": encoding } })
        expect([path, file.status, file.headers.get("content-encoding"), file.headers.get("cache-control")]).toEqual([
          path,
          200,
          encoding === "identity" ? null : encoding,
          "public, max-age=31536000, immutable"
        ])
        expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(0)
      }
    }
    for (const path of [
      "/assets/none.js",
      "/assets/../package.json",
      "/assets/%2e%2e/pages.json",
      "/assets/.vite/manifest.json"
    ]) {
      expect([path, (await fetch(`${site.origin}${path}`)).status]).toEqual([path, 404])
    }
    expect((await fetch(`${site.origin}/w/main`, { method: "HEAD" })).status).toBe(200)
  })

  it("keeps each first screen within its size", async () => {
    const script = join(import.meta.dirname, "../../build/build.ts")
    const { stdout } = await promisify(execFile)(process.execPath, [script, "--sizes"])
    expect(stdout).toContain("src/runs/RunsScreen.tsx")
    expect(stdout).toContain("src/flow/DeliveryScreen.tsx")
  })

  it("asks who one is, and comes back to the same place", async () => {
    const page = await site.visit()
    await page.goto(`${site.origin}/w/main/test-runs?result=failed`)
    await page.waitForURL(/\/sign-in/)
    await page.getByText("Sign in to go on where you were.").waitFor()
    const other = await site.signIn()
    await other.goto(`${site.origin}/sign-in?returnTo=${encodeURIComponent("/w/main/deployments")}`)
    await other.waitForURL(/\/w\/main\/deployments$/)
    await other.goto(`${site.origin}/`)
    await other.waitForURL(/\/w\/main\/?$/)
  })

  it("says that the session is over, and keeps what was typed", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/vault`)
    await page.getByRole("button", { name: "Add secret" }).click()
    await page.getByRole("dialog").getByLabel("Name").fill("TYPED")
    const add = page.getByRole("dialog").getByRole("button", { name: "Add secret", includeHidden: true })
    await expect.poll(() => add.isEnabled()).toBe(true)
    await page.context().clearCookies()
    // Whether or not the page has noticed by then, and says so over the form.
    await add.dispatchEvent("click")
    await page.getByRole("dialog", { name: "Your session is over" }).waitFor()
    const link = page.getByRole("link", { name: "Sign in in a new tab", exact: true })
    expect(await link.getAttribute("href")).toBe(`/sign-in?returnTo=${encodeURIComponent("/w/main/vault")}`)
    expect(
      await page.locator("input").evaluateAll((inputs) => inputs.map((one) => (one as HTMLInputElement).value))
    ).toContain("TYPED")
  })

  it("says of nobody who was signed in that a key is missing, nor that the page is live, and goes on after a sign-in elsewhere", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/vault`)
    await isLive(page)
    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    await page.getByRole("link", { name: "Runs" }).click()
    const over = page.getByRole("dialog", { name: "Your session is over" })
    await over.waitFor()
    await page.locator("a:focus", { hasText: "Sign in in a new tab" }).waitFor()
    const text = await page.locator("body").innerText()
    expect(text).toContain("Signed out")
    expect(text).not.toContain("Live")
    expect(text).not.toContain("API key is required")
    await page.context().addCookies(cookies)
    await page.evaluate(() => dispatchEvent(new Event("focus")))
    await over.waitFor({ state: "detached" })
    await isLive(page)
  })

  it("writes nothing as another person who has signed in in another tab, and keeps what was typed", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/vault`)
    await page.getByRole("button", { name: "Add secret" }).click()
    const form = page.getByRole("dialog", { includeHidden: true }).filter({ has: page.getByLabel("Name") })
    await form.getByLabel("Name").fill("TYPED_BEFORE")
    const ownersCookies = await page.context().cookies()
    const ann = await joinAs(site, `ann-${randomUUID()}@example.com`, "Ann", "admin")
    await page.context().addCookies(await ann.context().cookies())
    const other = await page.context().newPage()
    await other.goto(`${site.origin}/w/main`)
    await other.getByRole("button", { name: "Ann" }).waitFor()
    const secrets = () => site.call<{ secrets: ReadonlyArray<{ name: string }> }>("GET", "vault")
    const before = await secrets()

    const over = page.getByRole("dialog", { name: "Your session is over" })
    // Whether or not the page has noticed by then, and says so over the form.
    const add = () => form.getByRole("button", { name: "Add secret", includeHidden: true }).dispatchEvent("click")
    await add()
    await over.getByText(/somebody else has signed in/).waitFor()
    // Who closes it is asked again: the page does not go on as Ann. Whatever else it has asked for may open it once more.
    const open = page.locator("[role=dialog][data-open]").filter({ hasText: "Your session is over" })
    const close = () =>
      expect
        .poll(async () => {
          if ((await open.count()) === 0) return over.count()
          await open.locator(":focus").waitFor()
          await page.keyboard.press("Escape")
          return over.count()
        })
        .toBe(0)
    await close()
    await add()
    await over.waitFor()
    expect(await secrets()).toEqual(before)

    await page.context().addCookies(ownersCookies)
    await close()
    await add()
    await form.waitFor({ state: "detached" })
    expect((await secrets()).secrets.map(({ name }) => name)).toContain("TYPED_BEFORE")
  })

  it("notices another person when its tab is shown again", async () => {
    const bea = await joinAs(site, "bea@example.com", "Bea", "viewer")
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main`)
    await isLive(page)
    await page.context().addCookies(await bea.context().cookies())
    await page.evaluate(() => dispatchEvent(new Event("visibilitychange")))
    await page.getByRole("dialog", { name: "Your session is over" }).waitFor()
  })

  it("goes anywhere by keyboard: palette, sequences, list of keys", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main`)
    await page.getByRole("heading", { name: "Home" }).waitFor()
    await page.keyboard.press("g")
    await page.keyboard.press("d")
    await page.waitForURL(/\/deployments$/)
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search and do" }).waitFor()
    await page.keyboard.type("stripe api")
    await page.getByRole("option", { name: /STRIPE_API_KEY/ }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/products\/shop\/secrets\/STRIPE_API_KEY$/)
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).getByText("Go to Vault").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
  })

  it("makes from anywhere what is made on a screen of its own, and presses the keys of the screen, in the palette", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main`)
    await page.getByRole("heading", { name: "Home" }).waitFor()
    const command = async (typed: string, name: RegExp) => {
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "Search and do" }).fill(typed)
      await page.getByRole("option", { name }).first().waitFor()
      await page.keyboard.press("Enter")
    }
    await command("add secret", /^Add a secret/)
    await page.getByRole("dialog", { name: "Add a secret" }).waitFor()
    expect(new URL(page.url()).pathname).toBe("/w/main/vault")
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    // Of the screen that is shown its own key is offered, once.
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search and do" }).fill("add secret")
    await page.getByRole("option", { name: /^Add a secret vault/ }).waitFor()
    expect(await page.getByRole("option", { name: /^Add a secret/ }).count()).toBe(1)
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    for (const [typed, name, path] of [
      ["new webhook", "New webhook", "webhooks"],
      ["connect agent", "Connect an agent", "agents"],
      ["invite", "Invite somebody", "settings/members"],
      ["new test rule", "New test rule", "test-rules"]
    ] as const) {
      await command(typed, new RegExp(`^${name}`))
      await page
        .getByRole("dialog")
        .filter({ hasNot: page.getByRole("combobox", { name: "Search and do" }) })
        .waitFor()
      expect(new URL(page.url()).pathname).toBe(`/w/main/${path}`)
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").waitFor({ state: "detached" })
    }
    await page.context().close()
  })

  it("opens its menu on narrow screens, and gives the keyboard back when it closes", async () => {
    const page = await site.signIn()
    await page.setViewportSize({ width: 320, height: 800 })
    await page.goto(`${site.origin}/w/main/test-runs`)
    const menu = page.getByRole("button", { name: "Open the menu" })
    await menu.focus()
    await page.keyboard.press("Enter")
    await page.getByRole("navigation", { name: "Workspace" }).locator(":focus").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("navigation", { name: "Workspace" }).waitFor({ state: "hidden" })
    expect(await menu.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  it("gives the palette what is typed before it is there, and nothing of it to the screen", async () => {
    const page = await site.signIn()
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    await page.route(`**${assetOf("src/app/Palette.tsx")}`, async (route) => {
      await gate
      await route.continue()
    })
    await page.goto(`${site.origin}/w/main/vault`)
    await page.getByRole("button", { name: "Add secret" }).waitFor()
    await page.keyboard.press("Control+k")
    // Each of them does something on this screen.
    await page.keyboard.type("pacgb")
    open()
    const field = page.getByRole("combobox", { name: "Search and do" })
    await expect.poll(() => field.inputValue()).toBe("pacgb")
    await page.keyboard.type("x")
    expect(await field.inputValue()).toBe("pacgbx")
    expect(await page.getByRole("dialog").count()).toBe(1)
    expect(new URL(page.url()).pathname).toBe("/w/main/vault")
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.waitForURL(/\/test-runs$/)
  })

  it("keeps theme and sidebar in the browser", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main`)
    await page.getByRole("button", { name: "Owner" }).click()
    await page.getByRole("menuitemradio", { name: "Dark" }).click()
    await page.getByRole("button", { name: "Collapse the sidebar" }).click()
    await page.reload()
    await page.getByRole("button", { name: "Widen the sidebar" }).waitFor()
    expect(
      await page.evaluate(() => [
        document.documentElement.dataset["theme"],
        getComputedStyle(document.body).colorScheme
      ])
    ).toEqual(["dark", "dark"])
    // The plain pages of the service look as was chosen, too.
    for (const path of ["/sign-in", "/no-such-page"]) {
      await page.goto(`${site.origin}${path}`)
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark")
    }
  })

  it("collapses the sidebar by itself on a tight window, until somebody chooses", async () => {
    const page = await openScreen(site, "test-runs", await site.signIn({ width: 900 }))
    const buttonOf = (name: string) => page.getByRole("button", { name })
    await buttonOf("Widen the sidebar").waitFor()
    await page.setViewportSize({ width: 1200, height: 800 })
    await buttonOf("Collapse the sidebar").waitFor()
    await page.setViewportSize({ width: 900, height: 800 })
    await buttonOf("Widen the sidebar").click()
    await buttonOf("Collapse the sidebar").waitFor()
    await page.reload()
    await buttonOf("Collapse the sidebar").waitFor()
    await page.context().close()
  })

  it("opens what the API gives as the address of a thing", async () => {
    const { events } = await site.call<{
      events: ReadonlyArray<{ subject: { url: string; label: string; type: string } }>
    }>("GET", "events?limit=200")
    const urls = new Map(events.map(({ subject }) => [subject.type, subject.url]))
    const page = await site.signIn()
    for (const [type, url] of urls) {
      await page.goto(url)
      await page.locator("#screen h1").waitFor()
      expect([type, await page.getByText("There is no page at this address").count()]).toEqual([type, 0])
    }
    expect([...urls.keys()]).toEqual(expect.arrayContaining(["run", "deployment", "secret", "product", "environment"]))
  })

  it("invites, changes a role, and undoes it", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/members`)
    await page.getByRole("button", { name: "Invite" }).click()
    await page.getByLabel("Email address").fill("sam@example.com")
    await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click()
    const link = await page.getByRole("dialog", { name: "Invited" }).locator("pre").innerText()
    await page.getByRole("button", { name: "I have copied it" }).click()
    await page.getByRole("region", { name: "Pending invites" }).getByText("sam@example.com").waitFor()
    await accept(site.origin, link.split("#")[1]!, "Sam")
    const role = page.getByRole("button", { name: /change the role of Sam/ })
    await role.click()
    await page.getByRole("menuitemradio", { name: "admin" }).click()
    await page.getByRole("button", { name: "admin: change the role of Sam" }).waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByRole("button", { name: "member: change the role of Sam" }).waitFor()
  })

  it("makes an API key, shown once", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/api-keys`)
    await page.getByRole("button", { name: "New API key" }).click()
    await page.getByLabel("Name").fill("laptop")
    await page.getByRole("checkbox", { name: /admin/ }).uncheck()
    await page.getByRole("button", { name: "Create key" }).click()
    const secret = await page.getByRole("dialog", { name: "Your new API key" }).locator("pre").first().innerText()
    expect(secret).toMatch(/^ctk_/)
    await page.getByRole("button", { name: "I have copied it" }).click()
    await page.getByRole("list", { name: "API keys" }).getByText("laptop").waitFor()
    expect(await page.content()).not.toContain(secret)
    await pressEnter(page.getByRole("button", { name: "Revoke laptop" }))
    await pressEnter(page.getByRole("button", { name: "Revoke key" }))
    await page.getByRole("list", { name: "API keys" }).getByText("laptop").waitFor({ state: "detached" })
  })

  it("says which request failed, and tries again", async () => {
    const page = await site.signIn()
    let isBroken = true
    await page.route("**/v1/workspaces/main/deployments", (route) =>
      isBroken
        ? route.fulfill({
            status: 403,
            headers: { "content-type": "application/json", "x-request-id": "refused-0001" },
            body: JSON.stringify({ _tag: "Forbidden", message: "This requires the role admin." })
          })
        : route.fallback()
    )
    await page.goto(`${site.origin}/w/main/deployments`)
    await page.getByRole("alert").getByText("refused-0001").waitFor()
    isBroken = false
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("table").waitFor()
  })
})
