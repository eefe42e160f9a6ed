import type { Passkey } from "@delivery/domain/auth/Passkey"
import type { ListedSession } from "@delivery/domain/auth/Session"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import {
  addDevice,
  addPasskey,
  call,
  focusOn,
  focusOnButton,
  holdNext,
  inBrowser,
  press,
  refused,
  refuseNext,
  said,
  type Scene,
  showsAccount,
  signInBy,
  signOut,
  warned
} from "../support/Browsing.ts"
import { standingClock } from "../../src/testing/StandingClock.ts"
import { join, registerAgent } from "../support/Http.ts"
import { servers } from "../support/Servers.ts"

/** "Your account" on the page `/sign-in`, in a real browser, as a person uses it: by keyboard. */

/** A page on which the person is signed in, in a browser of its own. */
const signedIn = async (scene: Scene, person: { readonly id: string }, ready: (page: Page) => unknown = () => {}) => {
  const page = await scene.newPage()
  await ready(page)
  await signInBy(page, await scene.newLink(person.id))
  await showsAccount(page, /^You are signed in as Sam/)
  return page
}

const itemsOf = (page: Page, name: string) => page.getByRole("list", { name }).getByRole("listitem")
const status = async (page: Page) => (await call(page, "GET", "session")).status

/** What `GET /v1/me` answers to the key. */
const meWith = async (scene: Scene, key: string) => {
  const answer = await fetch(`${scene.origin}/v1/me`, { headers: { authorization: `Bearer ${key}` } })
  return answer.status
}

/** Makes a key on the page, and answers its secret. */
const makeKey = async (page: Page, name: string) => {
  await page.getByRole("textbox", { name: /^Name of the new key/ }).fill(name)
  await page.keyboard.press("Enter")
  await said(page, /is made\. Copy it now/)
  await focusOn(page, "copy")
  await itemsOf(page, "Your API keys").filter({ hasText: name }).first().waitFor()
  return page.locator("#secret").inputValue()
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
    // The keyboard goes on at the next one, and whose account it is still stands there.
    await focusOnButton(page, /^End the session of Chrome on Linux/)
    await said(page, /^You are signed in as Sam/)
    // It goes once the list has been read again.
    await sessions.nth(2).waitFor({ state: "detached" })
    assert.strictEqual(await sessions.count(), 2)
    assert.deepStrictEqual([await status(lost), await status(other)].toSorted(), [200, 401])
    await press(page, "Sign out everywhere else")
    await said(page, /^You are signed out everywhere else\.$/)
    await focusOn(page, "sessions-title")
    assert.strictEqual(await sessions.count(), 1)
    assert.isTrue(await page.locator("#end-others").isHidden())
    assert.deepStrictEqual([await status(lost), await status(other), await status(page)], [401, 401, 200])
  })

  it("says that a session has ended elsewhere, and leads to signing in", async () => {
    const person = await join(scene().owner, "member")
    for (const act of ["Make an API key", "Add a passkey", "Sign out everywhere else", "Sign out"]) {
      const ended = await signedIn(scene(), person, addDevice)
      const page = await signedIn(scene(), person)
      if (act === "Sign out everywhere else") {
        await ended.reload()
        await showsAccount(ended)
      }
      await press(page, "Sign out everywhere else")
      await said(page, /^You are signed out everywhere else/)
      await ended.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
      await press(ended, act)
      if (act === "Sign out") await press(ended, "Really sign out?")
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
    const field = page.locator("#key-name")
    assert.deepStrictEqual(
      [await field.getAttribute("aria-invalid"), await field.getAttribute("aria-describedby")],
      ["true", "problem"]
    )
    await page.keyboard.type("laptop")
    await page.keyboard.press("Enter")
    await said(page, /^API key “laptop” is made\. Copy it now: it is shown this once\.$/)
    assert.deepStrictEqual(
      [await field.getAttribute("aria-invalid"), await field.getAttribute("aria-describedby")],
      [null, null]
    )
    await page.getByText("It is shown this once, and nobody can read it again.").waitFor()
    const secret = await page.getByRole("textbox", { name: "Your new API key" }).inputValue()
    assert.match(secret, /^ctk_[0-9A-Za-z]{42}$/)
    assert.strictEqual(await meWith(scene(), secret), 200)
    await focusOn(page, "copy")
    await page.keyboard.press("Enter")
    await said(page, /^The key is copied\./)
    await said(page, /^You are signed in as Sam/)
    assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), secret)
    await page.reload()
    await showsAccount(page)
    assert.notInclude(await page.content(), secret)
    assert.strictEqual(await page.locator("#secret").inputValue(), "")
    const revoke = itemsOf(page, "Your API keys").filter({ hasText: "laptop" }).getByRole("button")
    const { width } = (await revoke.boundingBox())!
    await revoke.press("Enter")
    assert.strictEqual(await revoke.innerText(), "Really revoke?")
    // The row stays as it is.
    assert.strictEqual((await revoke.boundingBox())!.width, width)
    assert.strictEqual(await meWith(scene(), secret), 200)
    await revoke.press("Enter")
    await said(page, new RegExp(`^API key “laptop”, which ends with ${secret.slice(-4)}, is revoked\\.$`))
    // Only the first key of who joined is left.
    await focusOnButton(page, /^Revoke /)
    assert.strictEqual(await meWith(scene(), secret), 401)
    // What is old is no longer said once something else is done.
    await press(page, "Make an API key")
    await warned(page, /^Type a name for the key first\.$/)
    assert.strictEqual(await page.locator("#news").innerText(), "")
  })

  it("shows a new key no longer when its person signs out", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "viewer"))
    await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("<b>laptop</b>")
    await page.keyboard.press("Enter")
    await said(page, /^API key “<b>laptop<\/b>” is made/)
    await signOut(page)
    assert.strictEqual(await page.locator("#secret").inputValue(), "")
  })

  it("tells passkeys of one name apart, removes one, but not the last way in", async () => {
    const person = await join(scene().owner, "member")
    const [page, other] = [await signedIn(scene(), person, addDevice), await signedIn(scene(), person, addDevice)]
    for (const one of [other, page]) {
      await addPasskey(one)
    }
    const ways = itemsOf(page, "How you sign in")
    await ways.nth(1).waitFor()
    assert.strictEqual(await ways.count(), 2)
    for (const text of await ways.allInnerTexts()) {
      assert.match(text, /^Chrome on Linux\s+Passkey, added .*\d:\d\d.*, never used\s+Rename\s+Remove$/)
    }
    for (const expected of [/^“Chrome on Linux”, added .*\d:\d\d.*, no longer signs you in\.$/, undefined]) {
      await ways
        .first()
        .getByRole("button", { name: /^Remove/ })
        .press("Enter")
      await ways
        .first()
        .getByRole("button", { name: /^Really remove\? Chrome on Linux, added .*\d:\d\d/ })
        .press("Enter")
      if (expected === undefined) await warned(page, /^It is the last way in which you can sign in/)
      else await said(page, expected)
      // The next press asks again.
      await focusOnButton(page, /^Remove Chrome on Linux, added /)
      assert.strictEqual(await ways.count(), 1)
    }
  })

  it("renames a passkey", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"), addDevice)
    await addPasskey(page)
    const way = itemsOf(page, "How you sign in").first()
    const rename = way.getByRole("button", { name: /^Rename Chrome on Linux, added / })
    const field = way.getByRole("textbox", { name: /^New name of the passkey Chrome on Linux, added / })
    await rename.press("Enter")
    assert.strictEqual(await field.inputValue(), "Chrome on Linux")
    // Whoever thinks better of it changes nothing.
    await page.keyboard.type("Laptop")
    await page.keyboard.press("Escape")
    await focusOnButton(page, /^Rename Chrome on Linux, added /)
    assert.isTrue(await field.isHidden())
    await page.keyboard.press("Enter")
    await page.keyboard.press("Delete")
    await page.keyboard.press("Enter")
    await warned(page, /^Type a name for the passkey first\.$/)
    assert.strictEqual(await field.getAttribute("aria-invalid"), "true")
    await page.keyboard.type("Laptop")
    await page.keyboard.press("Enter")
    await said(page, /^The passkey “Chrome on Linux” is called “Laptop” now\.$/)
    await focusOnButton(page, /^Rename Laptop, added /)
    const { body } = await call<{ passkeys: ReadonlyArray<Passkey> }>(page, "GET", "passkeys")
    assert.deepStrictEqual(
      body.passkeys.map(({ name }) => name),
      ["Laptop"]
    )
  })

  it("asks once more before somebody signs out who could not sign in again", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"), addDevice)
    const notice = page.locator("#loss")
    const loss =
      /^You have no way to sign in again but a link .* So add a passkey before \d+:\d\d.* Until then your sign-in is new enough for that\. Later you need such a link first\.$/
    assert.match(await notice.innerText(), loss)
    await press(page, "Sign out")
    await warned(page, loss)
    assert.strictEqual(await status(page), 200)
    await addPasskey(page)
    await press(page, "Sign out")
    await said(page, /^You are signed out\.$/)
    assert.strictEqual(await status(page), 401)
  })
})

inBrowser(servers, "The page of one's account and other tabs", (scene) => {
  it("lists a person's coding agents by workspace, and revokes one", async () => {
    const person = await join(scene().owner, "member")
    const { access_token } = await registerAgent(person, { computer: "desk" })
    const page = await signedIn(scene(), person)
    const agent = itemsOf(page, "Your coding agents")
    const place = `\\(${person.workspace}\\)`
    assert.match(
      (await agent.allInnerTexts()).join(),
      new RegExp(`^Claude on desk\\s+In .+ ${place}, connected .+, last used .+\\s+Revoke$`)
    )
    await agent.getByRole("button").press("Enter")
    await agent.getByRole("button", { name: new RegExp(`^Really revoke\\? Claude in .+ ${place}`) }).press("Enter")
    await said(page, new RegExp(`^Agent “Claude” in .+ ${place} is revoked\\.$`))
    await person.as(access_token).refuse("401", "GET", "/agent/v1/me")
    await focusOn(page, "agents-title")
    await page.getByText("None is connected.").waitFor()
  })

  it("asks again after a double click, a held key and a look elsewhere", async () => {
    const person = await join(scene().owner, "member")
    const page = await signedIn(scene(), person)
    const secret = await makeKey(page, "laptop")
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
    await said(page, /^API key “laptop”, which ends with .{4}, is revoked\.$/)
    assert.strictEqual(await meWith(scene(), secret), 401)
    assert.isTrue(await page.locator("#made").isHidden())
  })

  it("does nothing for somebody else who has signed in in another tab", async () => {
    for (const act of ["Make an API key", "Sign out"]) {
      const [one, two] = [await join(scene().owner, "member"), await join(scene().owner, "member")]
      const page = await signedIn(scene(), one)
      const tab = await page.context().newPage()
      await signInBy(tab, await scene().newLink(two.id))
      await showsAccount(tab, /^You are signed in as Sam/)
      await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
      await press(page, act)
      if (act === "Sign out") await press(page, "Really sign out?")
      await said(page, /^Somebody else has signed in with this browser meanwhile\.$/)
      const { email } = await two.get<{ readonly email: string }>("/v1/me")
      await showsAccount(page, new RegExp(`^You are signed in as Sam \\(${email}\\)`))
      await page.reload()
      await showsAccount(page, new RegExp(`^You are signed in as Sam \\(${email}\\)`))
      assert.notInclude((await itemsOf(page, "Your API keys").allInnerTexts()).join(), "laptop")
    }
  })
})

inBrowser(servers, "The page of one's account where the server refuses", (scene) => {
  it("does not say that somebody is signed out who is not", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"), addDevice)
    await addPasskey(page)
    for (const code of [429, 500] as const) {
      await refuseNext(page, "DELETE", "/auth/v1/session", code)
      await press(page, "Sign out")
      await refused(page, code)
      await said(page, /^You are signed in as Sam/)
      assert.strictEqual(await status(page), 200)
    }
    await press(page, "Try again")
    await said(page, /^You are signed out\.$/)
    assert.strictEqual(await status(page), 401)
    assert.isTrue(await page.locator("#trouble").isHidden())
  })

  it("shows no empty list in place of one that it could not get", async () => {
    const person = await join(scene().owner, "member")
    await registerAgent(person, { computer: "desk" })
    for (const path of [
      "/auth/v1/sessions",
      "/auth/v1/passkeys",
      "/v1/api-keys",
      `/v1/workspaces/${person.workspace}/agents`
    ]) {
      const page = await scene().newPage()
      await refuseNext(page, "GET", path, 500)
      await signInBy(page, await scene().newLink(person.id))
      await refused(page, 500)
      await said(page, /^You are signed in as Sam/)
      assert.isTrue(await page.locator("#account").isHidden(), path)
      await focusOn(page, "again")
      await page.keyboard.press("Enter")
      await showsAccount(page)
      assert.strictEqual(await itemsOf(page, "Your coding agents").count(), 1, path)
    }
  })

  it("says what is done where only the list afterwards fails, and tries that again", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"))
    const secret = await makeKey(page, "laptop")
    const keys = itemsOf(page, "Your API keys")
    await keys.getByRole("button", { name: "Revoke laptop" }).press("Enter")
    await refuseNext(page, "GET", "/auth/v1/sessions")
    await keys.getByRole("button", { name: "Really revoke? laptop" }).press("Enter")
    await refused(page)
    await said(page, /^API key “laptop”, .* is revoked\.$/)
    assert.strictEqual(await meWith(scene(), secret), 401)
    await press(page, "Try again")
    await focusOnButton(page, /^Revoke /)
    assert.strictEqual(await keys.filter({ hasText: "laptop" }).count(), 0)
    await said(page, /^API key “laptop”, .* is revoked\.$/)
  })

  it("a session is no session that has ended where the server only does not tell", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"))
    await refuseNext(page, "GET", "/auth/v1/session")
    await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
    await page.keyboard.press("Enter")
    await refused(page)
    assert.isTrue(await page.locator("#account").isVisible())
    await press(page, "Try again")
    await said(page, /^API key “laptop” is made/)
  })

  it("keeps what is to be confirmed while its lists are asked for again", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"), addDevice)
    await addPasskey(page)
    const held = await holdNext(page, "GET", "/v1/api-keys")
    await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
    await page.keyboard.press("Enter")
    await held.sent
    const way = itemsOf(page, "How you sign in")
    await way.getByRole("button", { name: /^Remove/ }).press("Enter")
    await focusOnButton(page, /^Really remove/)
    held.release()
    await itemsOf(page, "Your API keys").filter({ hasText: "laptop" }).waitFor()
    await focusOnButton(page, /^Really remove/)
  })

  it("is busy while a request runs, and does it once", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"))
    const held = await holdNext(page, "POST", "/v1/api-keys")
    const button = page.locator("#make-key")
    await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
    await button.press("Enter")
    await held.sent
    assert.deepStrictEqual(
      [await button.getAttribute("aria-busy"), await button.getAttribute("aria-disabled")],
      ["true", "true"]
    )
    await focusOn(page, "make-key")
    await page.keyboard.press("Enter")
    held.release()
    await said(page, /^API key “laptop” is made/)
    await focusOn(page, "copy")
    await itemsOf(page, "Your API keys").filter({ hasText: "laptop" }).waitFor()
    assert.strictEqual(await itemsOf(page, "Your API keys").filter({ hasText: "laptop" }).count(), 1)
    assert.isNull(await button.getAttribute("aria-busy"))
  })

  it("is as wide as its lists need on a wide screen, and fits a narrow one", async () => {
    const page = await signedIn(scene(), await join(scene().owner, "member"), addDevice)
    await addPasskey(page)
    for (const [width, least] of [
      [1440, 600],
      [320, 250]
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      assert.isAtLeast((await page.locator("#sessions").boundingBox())!.width, least)
      assert.isAtMost(await page.evaluate<number>("document.documentElement.scrollWidth"), width)
      for (const text of await page.locator("li > span").all()) {
        assert.isAtLeast((await text.boundingBox())!.width, Math.min(least, 180))
      }
    }
  })
})

const { advance, clock } = standingClock()

inBrowser(
  servers,
  "The page of one's account, long after the sign-in",
  (scene) => {
    it("asks who it is before it makes a key or removes a passkey, and goes on or back", async () => {
      const page = await signedIn(scene(), await join(scene().owner, "member"), addDevice)
      await addPasskey(page)
      const { body } = await call<{ readonly session: { readonly id: string } }>(page, "GET", "session")
      advance("16 minutes")
      await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
      await page.keyboard.press("Enter")
      await said(page, /^Before you make an API key, confirm that it is you: you signed in a while ago, as Sam \(/)
      await press(page, "Back to your account")
      await showsAccount(page, /^You are signed in as Sam/)
      await press(page, "Make an API key")
      await said(page, /^Before you make an API key, confirm that it is you/)
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await focusOn(page, "make-key")
      await said(page, /^You have confirmed that it is you\. Now press the button again\.$/)
      // It is the same session, with a fresh proof.
      const proved = await call<typeof body>(page, "GET", "session")
      assert.strictEqual(proved.body.session.id, body.session.id)
      await page.keyboard.press("Enter")
      await said(page, /^API key “laptop” is made/)
      await focusOn(page, "copy")
      advance("16 minutes")
      const way = itemsOf(page, "How you sign in")
      await way.getByRole("button", { name: /^Remove/ }).press("Enter")
      await way.getByRole("button", { name: /^Really remove/ }).press("Enter")
      await said(page, /^Before you remove a way to sign in, confirm that it is you/)
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await focusOn(page, "ways-title")
    })

    it("offers no passkey to confirm with to whoever has none, nor takes somebody else's", async () => {
      const [person, other] = [await join(scene().owner, "member"), await join(scene().owner, "member")]
      const page = await signedIn(scene(), other, addDevice)
      await addPasskey(page)
      await signInBy(page, await scene().newLink(person.id))
      await showsAccount(page)
      advance("16 minutes")
      await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
      await page.keyboard.press("Enter")
      await said(page, /^Before you make an API key, .* To do so, open a sign-in link\.$/)
      assert.isTrue(await page.locator("#passkey").isHidden())
      const command = await page.locator("#host-command").innerText()
      assert.match(command, /^pnpm delivery sign-in-link [^ ]+@example\.com$/)
      const { body } = await call<{ passkeys: ReadonlyArray<Passkey> }>(page, "GET", "passkeys")
      assert.deepStrictEqual(body.passkeys, [])
    })
  },
  { clock }
)
