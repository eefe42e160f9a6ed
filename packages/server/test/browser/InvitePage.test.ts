import type { SignedIn } from "@delivery/domain/auth/Session"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import { afterAll, assert, beforeAll, it } from "vitest"
import {
  call,
  focused,
  focusOn,
  inBrowser,
  press,
  refused,
  refuseNext,
  said,
  showsAccount,
  signInBy,
  warned
} from "../support/Browsing.ts"
import { accept, newWorkspace, unique } from "../support/Http.ts"
import { codeIn, type MailServer, startMailServer } from "../support/MailServer.ts"
import { servers } from "../support/Servers.ts"

/** The page `/invite` in a real browser, as whoever is invited uses it: by keyboard. */

inBrowser(servers, "The page of invites", (scene) => {
  const invite = async (email = `${unique("sam")}@example.com`) => {
    const workspace = await newWorkspace(scene().owner)
    const made = await workspace.post<NewInvite>("invites", { email, role: "viewer", deliver: "link" })
    return { ...made, workspace, email, token: made.token!, url: made.url! }
  }

  it("a new person joins by the link, whose token leaves the address and no request line has", async () => {
    const { email, token, url, workspace } = await invite()
    const page = await scene().newPage()
    const asked: Array<string> = []
    page.on("request", (request) => asked.push(request.url()))
    assert.strictEqual(url, `${scene().origin}/invite#${token}`)
    // Whoever only loads the page uses nothing up.
    for (const _ of [1, 2]) {
      await page.goto("about:blank")
      await page.goto(url)
      await said(page, new RegExp(`^“Owner” invites ${email} to the workspace “Team”, with the role viewer\\.$`))
      assert.strictEqual(page.url(), `${scene().origin}/invite`)
    }
    await focusOn(page, "name")
    await page.keyboard.press("Enter")
    await warned(page, /^Type your name first\.$/)
    await page.keyboard.type(" Sam Lee ")
    await page.keyboard.press("Tab")
    assert.strictEqual(await focused(page), "Join Team as viewer")
    await page.keyboard.press("Enter")
    await said(page, /^You have joined “Team” as viewer\.$/)
    await showsAccount(page, new RegExp(`^You are signed in as Sam Lee \\(${email}\\)\\.$`))
    // Nobody has shown that the address is theirs: they are told before it is too late.
    await page.getByText(/^You have no way to sign in again but a link/).waitFor()
    assert.strictEqual(page.url(), `${scene().origin}/sign-in`)
    const { body } = await call<SignedIn>(page, "GET", "session")
    assert.deepStrictEqual(
      [body.session.method, body.person.emailVerifiedAt, body.workspaces.map(({ slug }) => slug)],
      ["invite", null, [workspace.workspace]]
    )
    // What stands behind `#` is not part of what a request asks for.
    assert.deepStrictEqual(
      asked.map((url) => url.split("#")[0]!).filter((url) => url.includes("itk_")),
      []
    )
    // Where no mail is sent, it cannot be verified by it.
    assert.strictEqual(await page.getByRole("button", { name: /Verify/ }).count(), 0)
  })

  it("takes links of earlier versions, and links that are pasted where the page is open", async () => {
    const [{ token }, other] = [await invite(), await invite()]
    const page = await scene().newPage()
    await page.goto(`${scene().origin}/invites/${token}`)
    await said(page, /“Owner” invites/)
    assert.strictEqual(page.url(), `${scene().origin}/invite`)
    await page.evaluate(`location.href = ${JSON.stringify(other.url)}`)
    await said(page, new RegExp(other.email))
    assert.strictEqual(page.url(), `${scene().origin}/invite`)
    // The link stays with the page.
    await page.reload()
    await said(page, new RegExp(other.email))
    assert.strictEqual(page.url(), `${scene().origin}/invite`)
  })

  it("who is signed in joins with their session", async () => {
    const email = `${unique("kim")}@example.com`
    const { person } = await accept(await newWorkspace(scene().owner), "member", email, "Kim")
    const { url } = await invite(email)
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink(person.id))
    await showsAccount(page, /^You are signed in as Kim/)
    await page.goto(url)
    await page.getByText(`You are signed in as Kim (${email}).`).waitFor()
    await focusOn(page, "join")
    await page.keyboard.press("Enter")
    await said(page, /^You have joined “Team” as viewer\.$/)
    await showsAccount(page, /^You are signed in as Kim/)
    const { body } = await call<SignedIn>(page, "GET", "session")
    assert.deepStrictEqual([body.person.id, body.workspaces.length], [person.id, 2])
  })

  it("leads whoever has verified the address to sign in, where the invite waits", async () => {
    // Somebody else's workspace, who invites the owner.
    const { apiKey } = await accept(scene().owner, "member", `${unique("ana")}@example.com`, "Ana")
    const workspace = await newWorkspace(scene().owner.as(apiKey!.secret))
    const invited = { email: "owner@example.com", role: "admin", deliver: "link" }
    const { url } = await workspace.post<NewInvite>("invites", invited)
    const page = await scene().newPage()
    await page.goto(url!)
    await said(
      page,
      /^owner@example\.com has an account here already\. Sign in with it: the invite waits for you there\.$/
    )
    await focusOn(page, "sign-in")
    await page.keyboard.press("Enter")
    await page.waitForURL(`${scene().origin}/sign-in`)
    await signInBy(page, await scene().newLink())
    await showsAccount(page, /^You are signed in as Owner/)
    await focusOn(page, "text")
    await page.keyboard.press("Tab")
    await page.locator(":focus", { hasText: /^Join$/ }).waitFor()
    await page.keyboard.press("Enter")
    await said(page, /^You have joined “Team” as admin\.$/)
  })

  it("says whom an invite is for to somebody else, who may sign out and go on", async () => {
    const { email, url } = await invite()
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink())
    await showsAccount(page, /^You are signed in as Owner/)
    await page.goto(url)
    await said(page, new RegExp(`^This invite is for ${email}\\.$`))
    await page.getByText("You are signed in as Owner (owner@example.com).").waitFor()
    await focusOn(page, "text")
    await page.keyboard.press("Tab")
    assert.strictEqual(await focused(page), "Sign out and go on")
    await page.keyboard.press("Enter")
    await warned(
      page,
      /^You have no way to sign in again but .* on the page of your account before .* Later you need such a link first\.$/
    )
    assert.strictEqual(await focused(page), "Really sign out and go on?")
    // Nobody is signed out by a request that the server refuses.
    await refuseNext(page, "DELETE", "/auth/v1/session")
    await page.keyboard.press("Enter")
    await refused(page)
    await page.getByText("You are signed in as Owner (owner@example.com).").waitFor()
    await press(page, "Try again")
    await said(page, /^You are signed out\.$/)
    await focusOn(page, "name")
    await page.keyboard.type("Sam")
    await page.keyboard.press("Enter")
    await said(page, /^You have joined “Team” as viewer\.$/)
    await showsAccount(page, /^You are signed in as Sam/)
  })

  it("lets nobody join whose session is another by now than the page says", async () => {
    const email = `${unique("kim")}@example.com`
    const { person } = await accept(await newWorkspace(scene().owner), "member", email, "Kim")
    const { url } = await invite(email)
    const page = await scene().newPage()
    const tab = await page.context().newPage()
    // Somebody signs in while the page asks for the name of a new person.
    await page.goto(url)
    await focusOn(page, "name")
    await page.keyboard.type("Kim")
    await signInBy(tab, await scene().newLink())
    await showsAccount(tab, /^You are signed in as Owner/)
    await page.locator("#join").press("Enter")
    await said(page, /^Somebody has signed in with this browser meanwhile\.$/)
    await said(page, new RegExp(`^This invite is for ${email}\\.$`))
    await page.getByText("You are signed in as Owner (owner@example.com).").waitFor()
    // Then whom the invite is for, and then nobody.
    await signInBy(tab, await scene().newLink(person.id))
    await showsAccount(tab, /^You are signed in as Kim/)
    await page.reload()
    await focusOn(page, "join")
    await call(tab, "DELETE", "session")
    await page.keyboard.press("Enter")
    await said(page, /^Your session has ended\.$/)
    await focusOn(page, "name")
    assert.isTrue(await page.locator("#as").isHidden())
    // No second Kim has joined.
    assert.strictEqual((await call(page, "GET", "session")).status, 401)
    await page.reload()
    await said(page, /^“Owner” invites/)
  })

  it("says what the server refuses, and tries again", async () => {
    const { email, url } = await invite()
    const page = await scene().newPage()
    for (const [method, path] of [
      ["GET", "/auth/v1/methods"],
      ["GET", "/auth/v1/session"],
      ["POST", "/auth/v1/invites/preview"]
    ] as const) {
      await refuseNext(page, method, path)
      await page.goto("about:blank")
      await page.goto(url)
      await refused(page)
      assert.strictEqual(await page.locator("#text").innerText(), "")
      await focusOn(page, "again")
      await page.keyboard.press("Enter")
      await said(page, new RegExp(`invites ${email} to`))
    }
    await page.locator("#name").fill("Sam")
    await refuseNext(page, "POST", "/auth/v1/invites/accept", 500)
    await page.keyboard.press("Enter")
    await refused(page, 500)
    assert.strictEqual(await page.locator("#name").inputValue(), "Sam")
    await press(page, "Try again")
    await said(page, /^You have joined “Team” as viewer\.$/)
  })

  it("says what to do where an invite is used, revoked or unknown, and where there is none", async () => {
    const [used, revoked] = [await invite(), await invite()]
    await scene().owner.as(undefined).post("/v1/invites/accept", { token: used.token, name: "Sam" })
    await revoked.workspace.post(`invites/${revoked.id}/revoke`, undefined, 200)
    const page = await scene().newPage()
    for (const url of [used.url, revoked.url, used.url.replace(/.{42}$/, "0".repeat(42))]) {
      await page.goto("about:blank")
      await page.goto(url)
      await said(page, /^This invite was used already, was revoked or has expired\. Ask whoever invited you/)
      await focusOn(page, "sign-in")
    }
    await page.goto("about:blank")
    await page.goto(`${scene().origin}/invite`)
    await said(page, /^This page has no invite\. Open the link of your invite again\.$/)
    await page.keyboard.press("Enter")
    await page.waitForURL(`${scene().origin}/sign-in`)
  })
})

let mail: MailServer
beforeAll(async () => {
  mail = await startMailServer()
})
afterAll(() => mail.close())

inBrowser(
  servers,
  "The page of invites where mail is sent",
  (scene) => {
    it("leads whoever has the address without having verified it to the account that has", async () => {
      const email = `${unique("sam")}@example.com`
      const joined = async () => (await accept(await newWorkspace(scene().owner), "member", email, "Sam")).person.id
      const [unproven, proven] = [await joined(), await joined()]
      const page = await scene().newPage()
      await signInBy(page, await scene().newLink(proven))
      await showsAccount(page)
      await press(page, "Verify my address by email")
      await focusOn(page, "code")
      await page.keyboard.type(codeIn(await mail.next(email, "proof")))
      await page.keyboard.press("Enter")
      await said(page, /^Your address is verified\.$/)
      const workspace = await newWorkspace(scene().owner)
      const { url } = await workspace.post<NewInvite>("invites", { email, role: "viewer", deliver: "link" })
      await signInBy(page, await scene().newLink(unproven))
      await showsAccount(page)
      await page.goto(url!)
      await said(page, new RegExp(`^${email} is the verified address of another account\\.$`))
      await page.getByText("sign out and sign in with that one: the invite waits for it there.").waitFor()
      assert.isTrue(await page.locator("#sign-in").isHidden())
      await press(page, "Sign out and go on")
      await warned(
        page,
        /^You have no way to sign in again but .* verify your address or .* on the page of your account before .* Later you need such a link first\.$/
      )
      await press(page, "Really sign out and go on?")
      await said(page, new RegExp(`^${email} has an account here already\\. Sign in with it`))
      await focusOn(page, "sign-in")
    })
  },
  { environment: async () => mail.environment }
)
