import type { ListedSession } from "@delivery/domain/auth/Session"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { addDevice, call, focusOn, inBrowser, said, type Scene, signInBy, warned } from "../support/Browsing.ts"
import { join, registerAgent, standingClock } from "../support/Http.ts"
import { servers } from "../support/Servers.ts"

/** "Your account" on the page `/sign-in`, in a real browser, as a person uses it: by keyboard. */

/** A page on which the person is signed in, in a browser of its own. */
const signedIn = async (scene: Scene, person: { readonly id: string }, ready: (page: Page) => unknown = () => {}) => {
  const page = await scene.newPage()
  await ready(page)
  await signInBy(page, await scene.newLink(person.id))
  await said(page, /^You are signed in as Sam/)
  return page
}

const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true }).press("Enter")
const itemsOf = (page: Page, name: string) => page.getByRole("list", { name }).getByRole("listitem")
const status = async (page: Page) => (await call(page, "GET", "session")).status

/** What `GET /v1/me` answers to the key. */
const meWith = async (scene: Scene, key: string) => {
  const answer = await fetch(`${scene.origin}/v1/me`, { headers: { authorization: `Bearer ${key}` } })
  return answer.status
}

inBrowser(servers, "The page of one's account", (scene) => {
  it("lists where a person is signed in, and ends sessions: one, and all others", async () => {
    const person = await join(scene().owner, "member")
    const [lost, other] = [await signedIn(scene(), person), await signedIn(scene(), person)]
    const page = await signedIn(scene(), person)
    const sessions = itemsOf(page, "Where you are signed in")
    assert.strictEqual(await sessions.count(), 3)
    const texts = await sessions.allInnerTexts()
    assert.lengthOf(
      texts.filter((text) => /^Chrome on Linux\s+127\.0\.0\.1, this browser, signed in .+$/.test(text)),
      1
    )
    assert.lengthOf(
      texts.filter((text) => /^Chrome on Linux\s+127\.0\.0\.1, signed in .+, last seen .+\s+End$/.test(text)),
      2
    )
    const { body } = await call<{ sessions: ReadonlyArray<ListedSession> }>(page, "GET", "sessions")
    assert.isTrue(body.sessions[0]!.current)
    // The latest of the others is the second.
    await sessions.nth(1).getByRole("button").press("Enter")
    await said(page, /^That session has ended\.$/)
    assert.strictEqual(await sessions.count(), 2)
    assert.deepStrictEqual([await status(lost), await status(other)].toSorted(), [200, 401])
    await press(page, "Sign out everywhere else")
    await said(page, /^You are signed out everywhere else\.$/)
    assert.strictEqual(await sessions.count(), 1)
    assert.isTrue(await page.locator("#end-others").isHidden())
    assert.deepStrictEqual([await status(lost), await status(other), await status(page)], [401, 401, 200])
  })

  it("says that a session has ended elsewhere, and leads to signing in", async () => {
    const person = await join(scene().owner, "member")
    for (const act of ["Make an API key", "Add a passkey", "Sign out everywhere else"]) {
      const ended = await signedIn(scene(), person, addDevice)
      const page = await signedIn(scene(), person)
      if (act === "Sign out everywhere else") {
        await ended.reload()
        await said(ended, /^You are signed in as Sam/)
      }
      await press(page, "Sign out everywhere else")
      await said(page, /^You are signed out everywhere else/)
      await ended.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
      await press(ended, act)
      await said(ended, /^Your session has ended\. Sign in again\.$/)
      await focusOn(ended, "passkey")
      assert.isTrue(await ended.locator("#account").isHidden())
    }
  })

  it("makes an API key, shows it once, copies it, and revokes it", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"))
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: scene().origin })
    await press(page, "Make an API key")
    await warned(page, /^Type a name for the key first\.$/)
    await focusOn(page, "key-name")
    await page.keyboard.type("laptop")
    await page.keyboard.press("Enter")
    await said(page, /^API key “laptop” is made\. Copy it now: it is shown this once\.$/)
    await page.getByText("It is shown this once, and nobody can read it again.").waitFor()
    const secret = await page.getByRole("textbox", { name: "Your new API key" }).inputValue()
    assert.match(secret, /^ctk_[0-9A-Za-z]{42}$/)
    assert.strictEqual(await meWith(scene(), secret), 200)
    await focusOn(page, "copy")
    await page.keyboard.press("Enter")
    await said(page, /^The key is copied\./)
    assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), secret)
    await page.reload()
    await said(page, /^You are signed in as Sam/)
    assert.notInclude(await page.content(), secret)
    assert.strictEqual(await page.locator("#secret").inputValue(), "")
    const revoke = itemsOf(page, "Your API keys").filter({ hasText: "laptop" }).getByRole("button")
    await revoke.press("Enter")
    assert.strictEqual(await revoke.innerText(), "Really revoke?")
    assert.strictEqual(await meWith(scene(), secret), 200)
    await revoke.press("Enter")
    await said(page, /^API key “laptop” is revoked\.$/)
    assert.strictEqual(await meWith(scene(), secret), 401)
  })

  it("shows a new key no longer when its person signs out", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "viewer"))
    await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("<b>laptop</b>")
    await page.keyboard.press("Enter")
    await said(page, /^API key “<b>laptop<\/b>” is made/)
    await press(page, "Sign out")
    await said(page, /^You are signed out\./)
    assert.strictEqual(await page.locator("#secret").inputValue(), "")
  })

  it("removes a passkey, but not the last way in", async () => {
    const person = await join(scene().owner, "member")
    const [page, other] = [await signedIn(scene(), person, addDevice), await signedIn(scene(), person, addDevice)]
    for (const one of [other, page]) {
      await press(one, "Add a passkey")
      await said(one, /^Passkey “Chrome on Linux” is added/)
    }
    const ways = itemsOf(page, "How you sign in")
    assert.strictEqual(await ways.count(), 2)
    for (const expected of [/^“Chrome on Linux” no longer signs you in\.$/, undefined]) {
      await ways.first().getByRole("button").press("Enter")
      await ways.first().getByRole("button", { name: "Really remove? Chrome on Linux" }).press("Enter")
      if (expected === undefined) await warned(page, /^It is the last way in which you can sign in/)
      else await said(page, expected)
      assert.strictEqual(await ways.count(), 1)
      // The next press asks again.
      await ways.first().getByRole("button", { name: "Remove Chrome on Linux" }).waitFor()
    }
  })
})

inBrowser(servers, "The page of one's account and other tabs", (scene) => {
  it("lists a person's coding agents, and revokes one", async () => {
    const person = await join(scene().owner, "member")
    const { access_token } = await registerAgent(person, { computer: "desk" })
    const page = await signedIn(scene(), person)
    const agent = itemsOf(page, "Your coding agents")
    assert.match((await agent.allInnerTexts()).join(), /^Claude on desk\s+In .+, connected .+, last used .+\s+Revoke$/)
    await agent.getByRole("button").press("Enter")
    await agent.getByRole("button", { name: /^Really revoke/ }).press("Enter")
    await said(page, /^Agent “Claude” is revoked\.$/)
    await person.as(access_token).refuse("401", "GET", "/agent/v1/me")
    assert.isTrue(await page.locator("#agents").isHidden())
  })

  it("asks again after a double click, a held key and a look elsewhere", async () => {
    const person = await join(scene().owner, "member")
    const page = await signedIn(scene(), person)
    await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
    await page.keyboard.press("Enter")
    await said(page, /is made/)
    const secret = await page.locator("#secret").inputValue()
    const keys = itemsOf(page, "Your API keys")
    const revoke = keys.getByRole("button", { name: "Revoke laptop" })
    const really = keys.getByRole("button", { name: "Really revoke? laptop" })
    await revoke.dblclick()
    await really.waitFor()
    await page.keyboard.press("Tab")
    await revoke.waitFor()
    await revoke.focus()
    // Playwright tells the page that the key is held.
    for (let pressed = 0; pressed < 5; pressed++) await page.keyboard.down("Enter")
    await page.keyboard.up("Enter")
    await really.waitFor()
    assert.strictEqual(await meWith(scene(), secret), 200)
    await really.press("Enter")
    await said(page, /^API key “laptop” is revoked\.$/)
    assert.strictEqual(await meWith(scene(), secret), 401)
    assert.isTrue(await page.locator("#made").isHidden())
  })

  it("does nothing for somebody else who has signed in in another tab", async () => {
    const [one, two] = [await join(scene().owner, "member"), await join(scene().owner, "member")]
    const page = await signedIn(scene(), one)
    const tab = await page.context().newPage()
    await signInBy(tab, await scene().newLink(two.id))
    await said(tab, /^You are signed in as Sam/)
    await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
    await page.keyboard.press("Enter")
    await said(page, /^Somebody else has signed in with this browser\. You are signed in as Sam/)
    await page.reload()
    await said(page, /^You are signed in as Sam/)
    assert.notInclude((await itemsOf(page, "Your API keys").allInnerTexts()).join(), "laptop")
  })
})

const { advance, clock } = standingClock()

inBrowser(
  servers,
  "The page of one's account, long after the sign-in",
  (scene) => {
    it("asks who it is before it makes a key or removes a passkey, and goes on or back", async () => {
      const page = await signedIn(scene(), await join(scene().owner, "member"), addDevice)
      await press(page, "Add a passkey")
      await said(page, /is added/)
      advance("16 minutes")
      await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
      await page.keyboard.press("Enter")
      await said(page, /^Before you make an API key, confirm that it is you/)
      await press(page, "Back to your account")
      await said(page, /^You are signed in as Sam/)
      await press(page, "Make an API key")
      await said(page, /^Before you make an API key, confirm that it is you/)
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await focusOn(page, "make-key")
      await page.keyboard.press("Enter")
      await said(page, /^API key “laptop” is made/)
      advance("16 minutes")
      const way = itemsOf(page, "How you sign in")
      await way.getByRole("button").press("Enter")
      await way.getByRole("button", { name: /^Really remove/ }).press("Enter")
      await said(page, /^Before you remove a way to sign in, confirm that it is you/)
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await focusOn(page, "ways-in")
    })
  },
  { clock }
)
