import type { Passkey } from "@delivery/domain/auth/Passkey"
import type { SignedIn } from "@delivery/domain/auth/Session"
import type { AcceptedInvite, NewInvite } from "@delivery/domain/identity/Invite"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import {
  addDevice,
  addPasskey,
  call,
  focused,
  focusOn,
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
import { accept, newWorkspace, unique } from "../support/Http.ts"
import { codeIn, type MailServer, startMailServer, tokenIn } from "../support/MailServer.ts"
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
  await showsAccount(page, /^You are signed in as Owner/)
}

inBrowser(servers, "The page of signing in", (scene) => {
  const addPasskeyByCall = (page: Page) =>
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
    await showsAccount(page, /^You are signed in as Owner \(owner@example\.com\)\.$/)
    const workspaces = page.getByRole("list", { name: "Your workspaces" }).getByRole("listitem")
    assert.match((await workspaces.allInnerTexts()).join(), /main \(owner\)\s+main/)
    // Another Enter ends nothing.
    await page.keyboard.press("Enter")
    await page.reload()
    await showsAccount(page, /^You are signed in as Owner/)
    await focusOn(page, "text")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert.strictEqual(await focused(page), "Add a passkey")
    await signOut(page)
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
    await showsAccount(page, /^You are signed in as Owner/)
  })

  it("keeps a link when the page is loaded again, until the link is used", async () => {
    const page = await scene().newPage()
    const link = await scene().newLink()
    await page.goto(link)
    for (const _ of [1, 2]) {
      await said(page, /^This link signs you in, once\.$/)
      assert.strictEqual(page.url(), `${scene().origin}/sign-in`)
      await page.reload()
    }
    await focusOn(page, "use")
    // What the server refuses for the moment is not used up.
    await refuseNext(page, "POST", "/auth/v1/links/consume")
    await page.keyboard.press("Enter")
    await refused(page)
    await press(page, "Try again")
    await showsAccount(page, /^You are signed in as Owner/)
    await page.reload()
    await showsAccount(page, /^You are signed in as Owner/)
    await page.goto("about:blank")
    await page.goto(link)
    await said(page, /^This link signs you in, once\. You are signed in as Owner \(.*\) now, which ends then\.$/)
    await press(page, "Sign in")
    await warned(page, /^That link was used already/)
    await page.reload()
    await showsAccount(page, /^You are signed in as Owner/)
  })

  it("takes no refusal for an answer: neither of how to sign in, nor of who is signed in", async () => {
    const page = await scene().newPage()
    await signInByLink(page, await scene().newLink())
    for (const [path, status] of [
      ["/auth/v1/methods", 429],
      ["/auth/v1/session", 500]
    ] as const) {
      await refuseNext(page, "GET", path, status)
      await page.reload()
      await refused(page, status)
      assert.isTrue(await page.locator("#passkey").isHidden())
      assert.strictEqual(await page.locator("#text").innerText(), "")
      await focusOn(page, "again")
      await page.keyboard.press("Enter")
      await showsAccount(page, /^You are signed in as Owner/)
    }
    await page.route("**/auth/v1/session", (route) => route.abort())
    await page.reload()
    await warned(page, /^The server does not answer\.$/)
    await page.unroute("**/auth/v1/session")
    await press(page, "Try again")
    await showsAccount(page, /^You are signed in as Owner/)
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
      await showsAccount(page, /^You are signed in as Owner/)
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
    await addPasskey(page)
    await page.getByRole("button", { name: "Add a passkey" }).press("Enter")
    await warned(page, /has a passkey for this service already/)
    // Who has a way to sign in again is not asked twice.
    await press(page, "Sign out")
    await said(page, /^You are signed out\.$/)
    await focusOn(page, "passkey")
    await page.keyboard.press("Enter")
    await showsAccount(page, /^You are signed in as Owner/)
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
    const added = await addPasskeyByCall(page)
    assert.strictEqual(added.status, 201, JSON.stringify(added.body))
    // Another of the person's: the last way in could not be removed.
    const elsewhere = await scene().newPage()
    await addDevice(elsewhere)
    await signInByLink(elsewhere, await scene().newLink())
    assert.strictEqual((await addPasskeyByCall(elsewhere)).status, 201)
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
    const home = page.getByRole("link", { name: scene().origin, exact: true })
    assert.strictEqual(await home.getAttribute("href"), `${scene().origin}/sign-in`)
    await home.press("Enter")
    await page.waitForURL(`${scene().origin}/sign-in`)
    await focusOn(page, "passkey")
    assert.isTrue(await page.locator("#elsewhere").isHidden())
  })
})

let mail: MailServer
beforeAll(async () => {
  mail = await startMailServer()
})
afterAll(() => mail.close())

/** A person who joined by an invite that was mailed to them, so that their address is proven. */
const proven = async ({ owner }: Scene) => {
  const email = `${unique("sam")}@example.com`
  await owner.post<NewInvite>("invites", { email, role: "member", deliver: "mail" })
  const token = tokenIn(await mail.next(email, "invite"))
  const { person } = await owner.as(undefined).post<AcceptedInvite>("/v1/invites/accept", { token, name: "Sam" })
  return person
}

inBrowser(
  servers,
  "The page of signing in where mail is sent",
  (scene) => {
    /** Asks for an email to the address, with the keyboard in its field. */
    const askFor = async (page: Page, address: string) => {
      await page.goto(`${scene().origin}/sign-in`)
      await page.getByRole("textbox", { name: "Email address" }).fill(address)
      await page.keyboard.press("Enter")
      await said(
        page,
        new RegExp(`^If ${address} is the verified address of an account, an email is on its way to it\\.`)
      )
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
      await said(page, /^If this is the verified address of an account, an email is on its way to it\./)
      await focusOn(page, "code")
      assert.notInclude(await page.evaluate<string>("JSON.stringify({ ...sessionStorage })"), "owner")
      await page.keyboard.type(codeIn(await mail.next("owner@example.com", "sign-in")))
      await page.keyboard.press("Enter")
      await said(page, /^You are signed in as Owner/)
      await page.reload()
      await showsAccount(page, /^You are signed in as Owner/)
      await press(page, "Sign out")
      await said(page, /^You are signed out\.$/)
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
        assert.strictEqual(await field.getAttribute("aria-invalid"), "true")
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
      assert.strictEqual(await field.inputValue(), email)
    })

    it("keeps the address that somebody has typed where a step fails, and leaves whoever goes back at its field", async () => {
      const page = await scene().newPage()
      await addDevice(page)
      const email = `${unique("typed")}@example.com`
      await askFor(page, email)
      await page.getByText("No email comes to an address that was never verified.").waitFor()
      await page.keyboard.type("2222-2222")
      await page.keyboard.press("Enter")
      await warned(page, /^That code is wrong or has expired\.$/)
      await press(page, "Go back")
      await focusOn(page, "passkey")
      const field = page.getByRole("textbox", { name: "Email address" })
      assert.strictEqual(await field.inputValue(), email)
      await page.keyboard.press("Enter")
      await warned(page, /^Your browser used no passkey/)
      assert.strictEqual(await field.inputValue(), email)
    })

    it("says that a code was tried too often, and that what is none is no code", async () => {
      const page = await scene().newPage()
      const { email } = await proven(scene())
      await askFor(page, email)
      const right = codeIn(await mail.next(email, "sign-in"))
      const field = page.locator("#code")
      const enter = async (code: string) => {
        await field.fill(code)
        await page.keyboard.press("Enter")
      }
      for (const none of ["2222-222", "22222222O", "0000-0000"]) {
        await enter(none)
        await warned(page, /^That is no code: it has 8 letters and digits\./)
      }
      for (let tries = 1; tries < 10; tries++) {
        await enter(`2222-222${tries + 1 === 10 ? "A" : tries + 1}`)
        await warned(page, /^That code is wrong or has expired\.$/)
        // It is loaded again in between.
        if (tries === 5) {
          await page.reload()
          await focusOn(page, "code")
        }
      }
      const worn = /^This code was tried 10 times and works no longer\. Go back and ask for a new one\.$/
      await enter("2222-2222")
      await warned(page, worn)
      await enter(right)
      await warned(page, worn)
      await press(page, "Go back")
      await askFor(page, email)
      await enter(codeIn(await mail.next(email, "sign-in")))
      await showsAccount(page, /^You are signed in as Sam/)
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
      await said(page, /^You have joined “Team” as member\.$/)
      await showsAccount(page, /^You are signed in as Sam/)
      await press(page, "Verify my address by email")
      await said(page, new RegExp(`^An email is on its way to ${email}\\.`))
      await focusOn(page, "code")
      await page.keyboard.type(codeIn(await mail.next(email, "proof")))
      await page.keyboard.press("Enter")
      await said(page, /^Your address is verified\.$/)
      await showsAccount(page, /^You are signed in as Sam/)
      assert.strictEqual(await page.getByRole("button", { name: "Verify my address by email" }).count(), 0)
      assert.isTrue(await page.locator("#loss").isHidden())
      await page.getByRole("button", { name: "Join Team" }).press("Enter")
      await said(page, /^You have joined “Team” as member\.$/)
      await said(page, /^You are signed in as Sam/)
      assert.strictEqual(await page.getByRole("list", { name: "Your workspaces" }).getByRole("listitem").count(), 2)
      const { body } = await call<SignedIn>(page, "GET", "session")
      assert.deepStrictEqual([body.workspaces.length, body.invites], [2, []])
      await scene()
        .owner.as(undefined)
        .refuse("404 invite", "POST", "/v1/invites/accept", { token: later.token, name: "Sam" })
    })

    it("tells whoever joined by a link that nothing signs them in again, and promises no mail", async () => {
      const { person } = await accept(scene().owner, "member", `${unique("sam")}@example.com`, "Sam")
      const page = await scene().newPage()
      await signInBy(page, await scene().newLink(person.id))
      await showsAccount(page, /^You are signed in as Sam/)
      const loss =
        /^You have no way to sign in again but .* So verify your address or add a passkey before \d+:\d\d.* Later you need such a link first\.$/
      assert.match(await page.locator("#loss").innerText(), loss)
      await press(page, "Sign out")
      await warned(page, loss)
      assert.strictEqual((await call(page, "GET", "session")).status, 200)
      await press(page, "Really sign out?")
      await said(page, /^You are signed out\.$/)
      await askFor(page, person.email)
      await page.getByText("No email comes to an address that was never verified. Was yours not?").waitFor()
      assert.deepStrictEqual(mail.to(person.email), [])
    })

    it("verifies nobody's address, and has nobody join, for somebody else who has signed in in another tab", async () => {
      const unproven = await accept(scene().owner, "member", `${unique("sam")}@example.com`, "Sam")
      const kim = await accept(scene().owner, "member", `${unique("kim")}@example.com`, "Kim")
      const invited = await newWorkspace(scene().owner.as(kim.apiKey!.secret))
      await invited.post<NewInvite>("invites", { email: "owner@example.com", role: "viewer", deliver: "link" })
      for (const [who, act] of [
        [unproven.person.id, "Verify my address by email"],
        ["owner@example.com", "Join"]
      ] as const) {
        const page = await scene().newPage()
        await signInBy(page, await scene().newLink(who))
        await showsAccount(page)
        const tab = await page.context().newPage()
        await signInBy(tab, await scene().newLink(kim.person.id))
        await showsAccount(tab, /^You are signed in as Kim/)
        await page
          .getByRole("button", { name: new RegExp(`^${act}`) })
          .first()
          .press("Enter")
        await said(page, /^Somebody else has signed in with this browser meanwhile\.$/)
        await showsAccount(page, /^You are signed in as Kim/)
      }
      assert.deepStrictEqual([...mail.to(kim.person.email), ...mail.to(unproven.person.email)], [])
      const page = await scene().newPage()
      await signInByLink(page, await scene().newLink())
      const { body } = await call<SignedIn>(page, "GET", "session")
      assert.lengthOf(body.invites, 1)
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
      await addPasskey(page)
      advance("16 minutes")
      await page.getByRole("button", { name: "Add a passkey" }).press("Enter")
      await said(page, /^Before you add a passkey, confirm that it is you/)
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await showsAccount(page, /^You are signed in as Owner/)
      await focusOn(page, "add-passkey")
      await page.keyboard.press("Enter")
      await warned(page, /has a passkey for this service already/)
    })
  },
  { clock }
)

inBrowser(
  servers,
  "The page of signing in where mail is sent, long after that",
  (scene) => {
    /** A page on which the person makes a key, long after they have signed in. */
    const makingKey = async (person: { readonly id: string }) => {
      const page = await scene().newPage()
      await signInBy(page, await scene().newLink(person.id))
      await showsAccount(page, /^You are signed in as Sam/)
      advance("16 minutes")
      await page.getByRole("textbox", { name: /^Name of the new key/ }).fill("laptop")
      await page.keyboard.press("Enter")
      await said(page, /^Before you make an API key, confirm that it is you: you signed in a while ago, as Sam/)
      assert.isTrue(await page.locator("#passkey").isHidden())
      return page
    }

    it("confirms by a code that is mailed, which nobody has to type an address for", async () => {
      const person = await proven(scene())
      const page = await makingKey(person)
      const { body } = await call<SignedIn>(page, "GET", "session")
      await focusOn(page, "ask")
      assert.strictEqual(await focused(page), `Email a code to ${person.email}`)
      assert.isTrue(await page.locator("#email").isHidden())
      await page.keyboard.press("Enter")
      await said(page, new RegExp(`^An email is on its way to ${person.email}\\.`))
      // Going back leads to the same question.
      await press(page, "Go back")
      await focusOn(page, "ask")
      await mail.next(person.email, "sign-in")
      await page.keyboard.press("Enter")
      await focusOn(page, "code")
      await page.keyboard.type(codeIn(await mail.next(person.email, "sign-in")))
      await page.keyboard.press("Enter")
      await focusOn(page, "make-key")
      const proved = await call<SignedIn>(page, "GET", "session")
      assert.strictEqual(proved.body.session.id, body.session.id)
      await page.keyboard.press("Enter")
      await said(page, /^API key “laptop” is made/)
    })

    it("has whoever has nothing else verify their address first", async () => {
      const { person } = await accept(scene().owner, "member", `${unique("sam")}@example.com`)
      const page = await makingKey(person)
      await said(page, / You have nothing yet to confirm it with: verify your address first\.$/)
      await focusOn(page, "verify")
      assert.isTrue(await page.locator("#by-mail").isHidden())
      await page.keyboard.press("Enter")
      await focusOn(page, "code")
      await page.keyboard.type(codeIn(await mail.next(person.email, "proof")))
      await page.keyboard.press("Enter")
      await said(page, /^Your address is verified\.$/)
      await focusOn(page, "make-key")
      await page.keyboard.press("Enter")
      await focusOn(page, "ask")
      assert.strictEqual(await focused(page), `Email a code to ${person.email}`)
    })
  },
  { clock, environment: async () => mail.environment }
)
