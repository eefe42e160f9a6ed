import type { Passkey } from "@delivery/domain/auth/Passkey"
import type { SignedIn } from "@delivery/domain/auth/Session"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { addDevice, call, focused, focusOn, inBrowser, said, signInBy, warned } from "../support/Browsing.ts"
import { newWorkspace, standingClock, unique } from "../support/Http.ts"
import { codeIn, type MailServer, startMailServer } from "../support/MailServer.ts"
import { servers } from "../support/Servers.ts"

/** The page `/sign-in` in a real browser, as a person uses it: by keyboard, with a device that has passkeys. */

/** What the browser's own code of passkeys answers to options of the server. */
const ceremony = (start: "startRegistration" | "startAuthentication", path: string) =>
  `await SimpleWebAuthnBrowser.${start}({
    optionsJSON: await (await fetch("/auth/v1/${path}", { method: "POST" })).json()
  })`

/** Signs the owner in by a link. */
const signInByLink = async (page: Page, link: string) => {
  await signInBy(page, link)
  await said(page, /You are signed in as Owner/)
}

inBrowser(servers, "The page of signing in", (scene) => {
  const addPasskey = (page: Page) =>
    call<Passkey>(page, "POST", "passkeys/verify", `{ response: ${ceremony("startRegistration", "passkeys/options")} }`)

  it("signs in by a link and out again, by keyboard", async () => {
    const page = await scene().newPage()
    const link = await scene().newLink()
    // Whoever only loads the page uses nothing up.
    await page.goto(link)
    await said(page, /This link signs you in, once/)
    assert.strictEqual(page.url(), `${scene().origin}/sign-in`)
    await page.goto("about:blank")
    await page.goto(link)
    await said(page, /This link signs you in, once/)
    assert.strictEqual(await focused(page), "Sign in")
    await page.keyboard.press("Enter")
    await said(page, /^You are signed in as Owner \(owner@example\.com\)\.$/)
    await page
      .getByRole("listitem")
      .filter({ hasText: /^main \(owner\)$/ })
      .waitFor()
    // Another Enter ends nothing.
    await page.keyboard.press("Enter")
    await page.reload()
    await said(page, /You are signed in as Owner/)
    await focusOn(page, "text")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert.strictEqual(await focused(page), "Add a passkey")
    await page.getByRole("button", { name: "Sign out", exact: true }).press("Enter")
    await said(page, /You are signed out/)
    await page.goto("about:blank")
    await page.goto(link)
    await said(page, /This link signs you in, once/)
    await page.keyboard.press("Enter")
    await warned(page, /That link was used already or has expired/)
    assert.strictEqual((await call(page, "GET", "session")).status, 401)
  })

  it("takes a link that is pasted where the page is open already", async () => {
    const page = await scene().newPage()
    await page.goto(`${scene().origin}/sign-in`)
    await page.getByText("for a sign-in link").waitFor()
    const link = await scene().newLink()
    await page.evaluate(`location.href = ${JSON.stringify(link)}`)
    await said(page, /This link signs you in, once/)
    assert.strictEqual(page.url(), `${scene().origin}/sign-in`)
    await page.keyboard.press("Enter")
    await said(page, /You are signed in as Owner/)
  })

  it("says where an address is not complete", async () => {
    const page = await scene().newPage()
    const { length } = await scene().newLink()
    for (const link of [`${scene().origin}/sign-in#garbage`, (await scene().newLink()).slice(0, length - 1)]) {
      await page.goto("about:blank")
      await page.goto(link)
      await warned(page, /^This address is not complete\. Open the link again, or copy all of it\.$/)
      await page.getByText("for a sign-in link").waitFor()
    }
  })

  it("keeps signed in whoever opens a link that does not work", async () => {
    const page = await scene().newPage()
    const link = await scene().newLink()
    await signInByLink(page, link)
    for (const [opened, expected] of [
      [link, /^That link was used already or has expired/],
      [link.replace("#", "#prove-"), /^This link is for another account, was used, or has expired\.$/]
    ] as const) {
      await page.goto("about:blank")
      await page.goto(opened)
      await focusOn(page, "use")
      await page.keyboard.press("Enter")
      await warned(page, expected)
      await said(page, /^You are signed in as Owner/)
      assert.strictEqual(await page.getByRole("heading", { level: 1 }).textContent(), "Your account")
    }
  })

  it("says that a browser such as Safari keeps no session of an http address, where it has kept none", async () => {
    const page = await scene().newPage()
    // What such a browser does with the cookie.
    await page.route("**/auth/v1/links/consume", async (route) => {
      const response = await route.fetch()
      await page.context().clearCookies()
      const { "set-cookie": _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    await signInBy(page, await scene().newLink())
    await said(page, /^Your browser did not keep the session\. Safari keeps none from an http address/)
    assert.strictEqual((await call(page, "GET", "session")).status, 401)
  })

  it("adds a passkey, with a proof that is fresh, and signs in with it, by keyboard", async () => {
    const page = await scene().newPage()
    await addDevice(page)
    await signInByLink(page, await scene().newLink())
    await page.getByRole("button", { name: "Add a passkey" }).press("Enter")
    await said(page, /^Passkey “Chrome on Linux” is added/)
    await page.getByRole("button", { name: "Add a passkey" }).press("Enter")
    await warned(page, /has a passkey for this service already/)
    await page.getByRole("button", { name: "Sign out", exact: true }).press("Enter")
    await said(page, /You are signed out/)
    await focusOn(page, "passkey")
    await page.keyboard.press("Enter")
    await said(page, /You are signed in as Owner/)
    const { body: began } = await call<SignedIn>(page, "GET", "session")
    assert.strictEqual(began.session.method, "passkey")
    const { body: listed } = await call<{ passkeys: ReadonlyArray<Passkey> }>(page, "GET", "passkeys")
    assert.isTrue(listed.passkeys.some(({ lastUsedAt }) => lastUsedAt !== null))

    const proof = `{ passkey: ${ceremony("startAuthentication", "sudo/options")} }`
    const proved = await call<SignedIn>(page, "POST", "sudo", proof)
    assert.strictEqual(proved.status, 200, JSON.stringify(proved.body))
    assert.strictEqual(proved.body.session.id, began.session.id)
    assert.isAtLeast(Date.parse(proved.body.session.sudoUntil!), Date.parse(began.session.sudoUntil!))
    // The cookie that came with it works.
    assert.strictEqual((await call(page, "GET", "session")).status, 200)
  })

  it("says what to do where the device knows no passkey of the service, or the service not the device's", async () => {
    const page = await scene().newPage()
    const device = await addDevice(page)
    await signInByLink(page, await scene().newLink())
    const added = await addPasskey(page)
    assert.strictEqual(added.status, 201, JSON.stringify(added.body))
    // Another of the person's: the last way in could not be removed.
    const elsewhere = await scene().newPage()
    await addDevice(elsewhere)
    await signInByLink(elsewhere, await scene().newLink())
    assert.strictEqual((await addPasskey(elsewhere)).status, 201)
    assert.strictEqual((await call(page, "DELETE", `passkeys/${added.body.id}`)).status, 204)
    await call(page, "DELETE", "session")
    await page.reload()
    await page.getByRole("button", { name: "Sign in with a passkey" }).press("Space")
    await warned(page, /That passkey does not sign anybody in here/)
    await device.verifies(false)
    await page.getByRole("button", { name: "Sign in with a passkey" }).press("Enter")
    await warned(page, /Your browser used no passkey/)
  })

  it("offers no passkey at an address that is not the service's own", async () => {
    const page = await scene().newPage()
    await page.goto(`${scene().origin.replace("localhost", "127.0.0.1")}/sign-in`)
    await said(page, /^To sign in, open a sign-in link/)
    await page.getByText("Ask the person who runs this service for a sign-in link.").waitFor()
    assert.strictEqual(await page.getByRole("button").count(), 0)
  })
})

let mail: MailServer
beforeAll(async () => {
  mail = await startMailServer()
})
afterAll(() => mail.close())

inBrowser(
  servers,
  "The page of signing in where mail is sent",
  (scene) => {
    /** Asks for an email to the address, with the keyboard in its field. */
    const askFor = async (page: Page, address: string) => {
      await page.goto(`${scene().origin}/sign-in`)
      await page.getByRole("textbox", { name: "Email address" }).fill(address)
      await page.keyboard.press("Enter")
      await said(page, /^If there is an account with this address, an email is on its way to it\./)
      await focusOn(page, "code")
    }

    it("signs in by the code from an email, and says when a code is wrong, by keyboard", async () => {
      const page = await scene().newPage()
      await askFor(page, "owner@example.com")
      await page.keyboard.type("2222-2222")
      await page.keyboard.press("Enter")
      await warned(page, /^That code is wrong or has expired\.$/)
      await focusOn(page, "code")
      await page.keyboard.type(codeIn(await mail.next("owner@example.com", "sign-in")))
      await page.keyboard.press("Enter")
      await said(page, /^You are signed in as Owner/)
      assert.strictEqual(await page.getByRole("alert").textContent(), "")
    })

    it("has the field of the code after it is loaded again, until the code is used or its person goes back", async () => {
      const page = await scene().newPage()
      await askFor(page, "owner@example.com")
      await page.reload()
      await said(page, /^If there is an account with this address, an email is on its way to it\./)
      await focusOn(page, "code")
      assert.notInclude(await page.evaluate<string>("JSON.stringify({ ...sessionStorage })"), "owner")
      await page.keyboard.type(codeIn(await mail.next("owner@example.com", "sign-in")))
      await page.keyboard.press("Enter")
      await said(page, /^You are signed in as Owner/)
      await page.reload()
      await said(page, /^You are signed in as Owner/)
      await page.getByRole("button", { name: "Sign out", exact: true }).press("Enter")
      await said(page, /^You are signed out/)
      await askFor(page, "owner@example.com")
      // Another test would read it as its own.
      await mail.next("owner@example.com", "sign-in")
      await page.getByRole("button", { name: "Go back" }).press("Enter")
      await focusOn(page, "passkey")
      await page.reload()
      await focusOn(page, "passkey")
    })

    it("says in plain words what is wrong with an address, and when to try again", async () => {
      const page = await scene().newPage()
      await page.goto(`${scene().origin}/sign-in`)
      const field = page.getByRole("textbox", { name: "Email address" })
      for (const typed of ["", "sam"]) {
        await field.fill(typed)
        await page.keyboard.press("Enter")
        await warned(page, /^Type your email address\.$/)
        await focusOn(page, "email")
      }
      const email = `${unique("often")}@example.com`
      for (let mails = 1; mails <= 5; mails++) {
        await askFor(page, email)
        await page.getByRole("button", { name: "Go back" }).press("Enter")
        await focusOn(page, "passkey")
      }
      await field.fill(email)
      await page.keyboard.press("Enter")
      await warned(page, /^Too many mails: .* Try again in an hour\.$/)
    })

    it("says the same where nobody has the address", async () => {
      const page = await scene().newPage()
      await askFor(page, "nobody@example.com")
      await page.keyboard.press("Enter")
      await warned(page, /Type the code from the email first/)
      await page.getByRole("button", { name: "Go back" }).press("Enter")
      await focusOn(page, "passkey")
      assert.strictEqual(await page.getByRole("alert").textContent(), "")
    })

    it("verifies the address of whoever joined by a link, who then joins by an invite to it", async () => {
      const email = `${unique("sam")}@example.com`
      const invite = async () => {
        const workspace = await newWorkspace(scene().owner)
        return workspace.post<NewInvite>("invites", { email, role: "member", deliver: "link" })
      }
      const [{ url }, later] = [await invite(), await invite()]
      const page = await scene().newPage()
      await page.goto(url!)
      await focusOn(page, "name")
      await page.keyboard.type("Sam")
      await page.keyboard.press("Enter")
      await said(page, /^You have joined “Team” as member\. You are signed in as Sam/)
      await page.getByRole("button", { name: "Verify my address by email" }).press("Enter")
      await focusOn(page, "code")
      await page.keyboard.type(codeIn(await mail.next(email, "proof")))
      await page.keyboard.press("Enter")
      await said(page, /^Your address is verified\. You are signed in as Sam/)
      assert.strictEqual(await page.getByRole("button", { name: "Verify my address by email" }).count(), 0)
      await page.getByRole("button", { name: "Join Team" }).press("Enter")
      await said(page, /^You have joined “Team” as member\. You are signed in as Sam/)
      assert.strictEqual(await page.getByRole("list", { name: "Your workspaces" }).getByRole("listitem").count(), 2)
      const { body } = await call<SignedIn>(page, "GET", "session")
      assert.deepStrictEqual([body.workspaces.length, body.invites], [2, []])
      await scene()
        .owner.as(undefined)
        .refuse("404 invite", "POST", "/v1/invites/accept", { token: later.token, name: "Sam" })
    })
  },
  { environment: async () => mail.environment }
)

const { advance, clock } = standingClock()

inBrowser(
  servers,
  "The page of signing in, long after that",
  (scene) => {
    it("asks who it is before it adds a passkey", async () => {
      const page = await scene().newPage()
      await addDevice(page)
      await signInByLink(page, await scene().newLink())
      await page.getByRole("button", { name: "Add a passkey" }).press("Enter")
      await said(page, /is added/)
      advance("16 minutes")
      await page.getByRole("button", { name: "Add a passkey" }).press("Enter")
      await said(page, /^Before you add a passkey, confirm that it is you/)
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await said(page, /^You are signed in as Owner/)
      await focusOn(page, "add-passkey")
      await page.keyboard.press("Enter")
      await warned(page, /has a passkey for this service already/)
    })
  },
  { clock }
)
