import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { addDevice } from "../../../server/test/support/Browsing.ts"
import { seed } from "../support/Seed.ts"
import { callWith, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** What an admin, and a person, set: tokens of deployments, publishers, keys, credentials, sign-ins, the workspace. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await seed(site.call)
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const open = (path: string, page?: Page) => openScreen(site, path, page)

/** The status that a product gets with a token. */
const statusWith = async (token: string) =>
  (await fetch(`${site.origin}/deploy/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status

/** The secret that a dialog shows once, and whether the page has it when that is closed. Escape loses none. */
const readSecret = async (page: Page, dialog: string) => {
  const shown = page.getByRole("dialog", { name: dialog }).locator("pre").first()
  const secret = await shown.innerText()
  await page.keyboard.press("Escape")
  expect(await shown.innerText()).toBe(secret)
  await page.getByRole("button", { name: "I have copied it" }).click()
  await page.getByRole("dialog").waitFor({ state: "detached" })
  expect(await page.content()).not.toContain(secret)
  return secret
}

describe("Tokens of a deployment", () => {
  it("are made, used, rotated with an overlap, and revoked", async () => {
    const page = await open("deployments/shop/production?view=tokens")
    await page.getByRole("button", { name: "New token" }).click()
    await page.getByLabel("Name").fill("kubernetes")
    await page.getByLabel("Networks that may use it").fill("not a network")
    await page.getByRole("button", { name: "Create token" }).click()
    await page.getByText("Expected a network in CIDR notation").waitFor()
    await page.getByLabel("Networks that may use it").fill("127.0.0.0/8, ::1/128")
    await page.getByRole("button", { name: "Create token" }).click()
    const dialog = page.getByRole("dialog", { name: "Your new deployment token" })
    const shown = await dialog.locator("pre").first().innerText()
    for (const way of ["Docker", "Kubernetes", "systemd", "Shell"]) {
      await dialog.getByRole("tab", { name: way }).click()
      const lines = await dialog.getByRole("tabpanel", { name: way }).innerText()
      expect(lines).toContain(site.origin)
      expect(lines).not.toContain(shown)
    }
    const token = await readSecret(page, "Your new deployment token")
    expect(token).toMatch(/^dtk_/)
    expect(await statusWith(token)).toBe(200)
    await page.reload()
    const list = page.getByRole("list", { name: "Deployment tokens" })
    await list.getByText(/used .* from (127\.0\.0\.1|::1)/).waitFor()

    await page.getByRole("button", { name: "Rotate kubernetes" }).click()
    await page.getByRole("button", { name: "Rotate token" }).click()
    const next = await readSecret(page, "Your new deployment token")
    await list.getByText("rotated").waitFor()
    expect([await statusWith(token), await statusWith(next)]).toEqual([200, 200])

    const newest = list.getByRole("listitem").filter({ has: page.getByRole("button", { name: "Rotate kubernetes" }) })
    await pressEnter(newest.getByRole("button", { name: "Revoke kubernetes" }))
    await page.getByRole("dialog", { name: "Revoke kubernetes?" }).getByText("There is no way back").waitFor()
    await pressEnter(page.getByRole("button", { name: "Revoke token" }))
    await newest.waitFor({ state: "detached" })
    // The row in its place has the keyboard.
    await list.locator("button:focus").waitFor()
    expect([await statusWith(token), await statusWith(next)]).toEqual([200, 401])
  })

  it("are no business of a member, who is told so, and for whom nothing is asked", async () => {
    const page = await joinAs(site, "mia@example.com", "Mia", "member")
    const asked: Array<string> = []
    page.on("request", (request) => asked.push(new URL(request.url()).pathname))
    for (const path of [
      "deployments/shop/production?view=tokens",
      "audit",
      "webhooks",
      "settings/credentials",
      "settings/trusted-publishers",
      "settings/api-keys?of=workspace"
    ]) {
      await open(path, page)
      await page.getByRole("heading", { name: /for admins$/ }).waitFor()
    }
    expect(
      asked.filter((path) => /^\/v1\/.*(?:tokens|audit|webhooks|credentials|publishers|account-api-keys)/.test(path))
    ).toEqual([])
    expect(await page.getByRole("navigation", { name: "Workspace" }).getByText("Audit").count()).toBe(0)
    await page.getByRole("navigation", { name: "Workspace" }).getByText("Semaphores").waitFor()
  })
})

describe("Trusted publishers", () => {
  it("are made by a preset, seen by others at once, and deleted", async () => {
    const page = await open("settings/trusted-publishers")
    const other = await open("settings/trusted-publishers")
    await page.getByRole("button", { name: "Trust a workflow" }).click()
    await page.getByLabel("Number of the repository").fill("octo")
    await page.getByLabel("Number of its owner").fill("9919421")
    await page.getByRole("button", { name: "Trust it" }).click()
    await page.getByText("Expected a whole number, such as 710093112").waitFor()
    await page.getByLabel("Number of the repository").fill("710093112")
    await page.getByRole("button", { name: "Trust it" }).click()
    const lines = page.getByRole("dialog", { name: "Lines for the workflow" })
    const text = await lines.getByRole("tabpanel", { name: "GitHub Actions" }).innerText()
    expect(text).toContain("id-token: write")
    expect(text).toContain(`DELIVERY_URL: ${site.origin}`)
    expect(text).toContain("DELIVERY_WORKSPACE: main")
    await page.keyboard.press("Escape")
    await other.getByRole("list", { name: "Trusted publishers" }).getByText("e2e.yml").waitFor()

    await page.getByRole("button", { name: "Trust a workflow" }).click()
    await page.getByRole("combobox", { name: "Where it runs" }).click()
    await page.getByRole("option", { name: "GitLab" }).click()
    await page.getByLabel("ID of the project").fill("4711")
    await page.getByLabel("ID of its namespace").fill("72")
    await page.getByRole("button", { name: "Trust it" }).click()
    await lines.getByRole("tabpanel", { name: "GitLab" }).getByText("DELIVERY_ID_TOKEN").waitFor()
    await page.keyboard.press("Escape")

    await page.getByRole("button", { name: "Delete e2e.yml of GitHub 710093112" }).click()
    await page.getByRole("button", { name: "Delete publisher" }).click()
    for (const each of [page, other]) {
      const list = each.getByRole("list", { name: "Trusted publishers" })
      await list.getByText("e2e.yml").waitFor({ state: "detached" })
      await list.getByText(".gitlab-ci.yml").waitFor()
    }
  })
})

describe("Credentials", () => {
  it("of the workspace are made, blocked, unblocked, and revoked", async () => {
    const page = await open("settings/api-keys?of=workspace")
    await page.getByRole("button", { name: "New API key" }).click()
    await page.getByLabel("Name").fill("nightly")
    await page.getByRole("button", { name: "Create key" }).click()
    const call = callWith(site.origin, await readSecret(page, "Your new API key"))
    expect(await call<{ kind: string }>("GET", "/v1/me")).toMatchObject({ kind: "apiKey", name: "nightly" })

    await open("settings/credentials", page)
    await page.getByRole("button", { name: "kind" }).click()
    await page.getByRole("menuitemradio", { name: "key of the workspace" }).click()
    await page.waitForURL(/kind=accountApiKey/)
    await page.getByRole("button", { name: /^Block nightly, …\w{4}$/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Block" }).click()
    await page.getByRole("list", { name: "Credentials" }).getByText("blocked").waitFor()
    await expect(call("GET", "products")).rejects.toThrow(/404/)
    await page.getByRole("button", { name: "Unblock nightly" }).click()
    await page.getByRole("button", { name: /^Block nightly, …\w{4}$/ }).waitFor()
    await call("GET", "products")

    await open("settings/api-keys?of=workspace", page)
    await pressEnter(page.getByRole("button", { name: "Revoke nightly" }))
    await pressEnter(page.getByRole("button", { name: "Revoke key" }))
    await page.getByText("Keys of the workspace belong to no person").waitFor()
    await expect(call("GET", "/v1/me")).rejects.toThrow(/401/)
  })

  it("say which one is this session", async () => {
    const page = await open("settings/credentials?kind=session")
    const own = page.getByRole("listitem").filter({ hasText: "this session" })
    await own.getByRole("button", { name: /^Block/ }).click()
    await page.getByText("you lose this page at once").waitFor()
  })

  it("lead away from what they no longer open when this session is blocked", async () => {
    const page = await joinAs(site, "ada@example.com", "Ada", "admin")
    await open("settings/credentials?kind=session", page)
    const own = page.getByRole("listitem").filter({ hasText: "this session" })
    await own.getByRole("button", { name: /^Block/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Block" }).click()
    await page.getByText("You cannot enter the workspace “main”").waitFor()
    expect(await page.getByRole("list", { name: "Credentials" }).count()).toBe(0)
    await page.getByRole("link", { name: "Your account" }).click()
    await page.waitForURL(/\/sign-in/)
    await page.getByText("Ada (ada@example.com)").first().waitFor()
  })

  it("lead to the sign-in when this session was ended elsewhere", async () => {
    const page = await joinAs(site, "eve@example.com", "Eve", "viewer")
    await open("settings/profile", page)
    await page.waitForLoadState("networkidle")
    const { session } = await page.evaluate<{ session: { id: string } }>(
      `fetch("/auth/v1/session").then((answer) => answer.json())`
    )
    await page.evaluate(`fetch("/auth/v1/sessions/${session.id}", { method: "DELETE" })`)
    // Whether or not the page has noticed by then, and says so over the link.
    await page.getByRole("link", { name: "Members", includeHidden: true }).dispatchEvent("click")
    await page.getByRole("dialog", { name: "Your session is over" }).waitFor()
    const signIn = page.getByRole("link", { name: "Sign in here", exact: true })
    expect(await signIn.getAttribute("href")).toMatch(/^\/sign-in\?returnTo=/)
    await signIn.click()
    // The page keeps where it leads back to, and takes it out of its address.
    await page.waitForURL(/\/sign-in$/)
  })
})

describe("The profile", () => {
  it("has passkeys: one is added, renamed, signs in, and is removed", async () => {
    const page = await joinAs(site, "pia@example.com", "Pia", "viewer")
    await addDevice(page)
    await open("settings/profile", page)
    await page.getByText("pia@example.com", { exact: true }).waitFor()
    await page.getByText("not verified").waitFor()
    // Nothing leads to a mail that nobody sends.
    await page.getByText("pnpm delivery person verify pia@example.com").waitFor()
    expect(await page.getByRole("link", { name: "Verify it" }).count()).toBe(0)
    await page.getByRole("button", { name: "Add a passkey" }).click()
    await page.getByLabel("Name").fill("Laptop")
    await page.getByRole("button", { name: "Add passkey" }).click()
    const passkeys = page.getByRole("list", { name: "Passkeys" })
    await passkeys.getByText("Laptop").waitFor()
    await page.getByRole("button", { name: "Rename Laptop" }).click()
    const name = page.getByRole("dialog").getByLabel("Name")
    await name.fill("Phone")
    await name.press("Enter")
    await passkeys.getByText("Phone").waitFor()

    // Another session of hers, which then ends the first one.
    await page.context().clearCookies()
    await page.goto(`${site.origin}/sign-in?returnTo=/w/main/settings/profile`)
    await page.getByRole("button", { name: "Sign in with a passkey" }).click()
    const sessions = page.getByRole("list", { name: "Sessions" })
    const other = sessions.getByRole("listitem").filter({ hasText: "by an invite" })
    await sessions.getByRole("listitem").filter({ hasText: "by a passkey" }).getByText("this one").waitFor()
    const end = other.getByRole("button", { name: /^End/ })
    await end.press("Enter")
    await pressEnter(page.getByRole("button", { name: "End session" }))
    await other.waitFor({ state: "detached" })

    // The last way in stays, and the server says why.
    await page.getByRole("button", { name: "Remove Phone" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
    await page.getByRole("dialog").getByRole("alert").waitFor()
    await page.getByRole("button", { name: "Cancel" }).click()
    await passkeys.getByText("Phone").waitFor()
  })
})

describe("The workspace", () => {
  it("is called otherwise, keeps runs for some days, and moves to another address", async () => {
    const page = await open("settings")
    await page.getByLabel("Slug").fill("Not A Slug")
    await page.getByRole("button", { name: "Save" }).click()
    await page.locator("[aria-invalid=true]").waitFor()
    await page.getByLabel("Slug").fill("acme")
    await page.getByLabel("Name").fill("Acme")
    await page.getByLabel("Days that runs are kept").fill("90.5")
    await page.getByRole("button", { name: "Save" }).click()
    await page.waitForURL(/\/w\/acme\/settings$/)
    await page.getByRole("button", { name: "Acme", exact: true }).waitFor()
    expect(await site.call("GET", "/v1/workspaces/acme")).toMatchObject({ name: "Acme", runDays: 90.5, fileDays: null })
    await page.getByLabel("Days that runs are kept").fill("")
    await page.getByLabel("Slug").fill("main")
    await page.getByRole("button", { name: "Save" }).click()
    await page.waitForURL(/\/w\/main\/settings$/)
    expect(await site.call("GET", "/v1/workspaces/main")).toMatchObject({ name: "Acme", runDays: null })
  })

  it("is left by who may, and not by its last owner", async () => {
    const owner = await open("settings")
    await owner.getByText("You are its only owner").waitFor()
    expect(await owner.getByRole("button", { name: /^Leave/ }).count()).toBe(0)

    const page = await joinAs(site, "leo@example.com", "Leo", "viewer")
    await open("settings", page)
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0)
    await page.getByRole("button", { name: /^Leave/ }).click()
    await page.getByRole("dialog").getByText("Account API keys that you made are revoked").waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click()
    await page.waitForURL(`${site.origin}/`)
    const { members } = await site.call<{ members: ReadonlyArray<{ name: string; active: boolean }> }>("GET", "members")
    expect(members.find(({ name }) => name === "Leo")?.active).toBe(false)
  })
})
