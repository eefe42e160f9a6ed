import type { RegisteredClient } from "@delivery/domain/agents/OAuth"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { answerIn, askForAccess, claude, type ClientOf, exchange, newClient } from "../agents/OAuthScene.ts"
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
  warned
} from "../support/Browsing.ts"
import { standingClock } from "../../src/testing/StandingClock.ts"
import { accept, join, newWorkspace, unique } from "../support/Http.ts"
import { servers } from "../support/Servers.ts"

/** The page `/authorize` in a real browser, as a person uses it: by keyboard. */

/** Has the browser open the page, whose answer to the client goes nowhere. */
const open = async (page: Page, { origin, owner }: Scene, client: ClientOf) => {
  const answers: Array<string> = []
  await page.route(
    (url) => url.origin !== origin,
    (route) => {
      answers.push(route.request().url())
      return route.fulfill({ contentType: "text/plain", body: "The client has its answer." })
    }
  )
  const address = `${origin}/authorize#${await askForAccess(owner, client)}`
  await page.goto(address)
  return {
    address,
    answer: async () => {
      await page.getByText("The client has its answer.").waitFor()
      return answerIn(answers[0]!, client.redirectUri)
    }
  }
}

/** Waits until the page shows what is to be decided. The keyboard begins above it. */
const asked = async (page: Page) => {
  await page.locator("#request").waitFor()
  await focusOn(page, "text")
}

/** Goes on with Tab to the element of this text. */
const tabTo = async (page: Page, text: string) => {
  do await page.keyboard.press("Tab")
  while ((await focused(page)) !== text)
}

/** A client at this computer, which browsers reach by name. */
const loopback = () => newClient({ redirectUri: "http://localhost:53682/callback" })

inBrowser(servers, "The page where people decide about clients", (scene) => {
  it("shows where the access goes and whose it is, and lets the client into the chosen workspace", async () => {
    const max = await accept(scene().owner, "member", `${unique("max")}@example.com`, "Max Member")
    const workspace = await newWorkspace(scene().owner)
    const { token } = await workspace.post<{ readonly token: string }>("invites", {
      email: max.person.email,
      role: "viewer",
      deliver: "link"
    })
    await scene().owner.as(max.apiKey!.secret).post("/v1/invites/accept", { token, name: "Max" })
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink(max.person.id))
    await showsAccount(page, /^You are signed in as Max Member/)
    const client = loopback()
    const { answer } = await open(page, scene(), client)
    await asked(page)
    await said(page, /^A program on your own computer asks to act for you here\.$/)
    const shown = await page.locator("#request").innerText()
    assert.match(shown, /^localhost:53682\s/)
    assert.match(shown, /Allow it only if you have just begun to sign in with a program on this computer\./)
    assert.match(shown, /It calls itself “Claude Code”, and nobody has checked that\./)
    assert.include(shown, claude)
    assert.include(shown, `You are signed in as Max Member (${max.person.email}).`)
    assert.match(shown, /It can do nothing else\./)
    assert.deepStrictEqual(await page.locator("select").count(), 1)
    await page.keyboard.press("Tab")
    await focusOn(page, "other-account")
    await page.keyboard.press("Tab")
    await focusOn(page, "workspace")
    // Of several workspaces none is chosen yet.
    assert.strictEqual(await page.locator("option:checked").innerText(), "Choose a workspace")
    await tabTo(page, "Allow")
    await page.keyboard.press("Enter")
    await warned(page, /^Choose a workspace first\.$/)
    await focusOn(page, "workspace")
    const choice = page.locator("#workspace")
    assert.deepStrictEqual(
      [await choice.getAttribute("aria-invalid"), await choice.getAttribute("aria-describedby")],
      ["true", "problem limits"]
    )
    // Workspaces of one name are told apart.
    assert.include(await choice.innerText(), `Team (${workspace.workspace}), you are viewer`)
    await page.keyboard.press("T")
    await tabTo(page, "Allow")
    await page.keyboard.press("Enter")
    const { code } = await answer()
    const exchanged = await exchange(scene().owner, code!, client)
    assert.strictEqual(exchanged.status, 200, exchanged.text)
    const agents = await workspace.get<{ readonly agents: ReadonlyArray<object> }>("agents")
    assert.lengthOf(agents.agents, 1)
  })

  it("shows a hostile name as text, and refuses the client", async () => {
    const client_name = "<img src=x onerror=alert(1)>\u202e\u200b"
    const redirectUri = "https://evil.example/callback"
    const { client_id } = await scene()
      .owner.as(undefined)
      .post<RegisteredClient>("/agent/oauth/register", { redirect_uris: [redirectUri], client_name })
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink())
    await showsAccount(page, /^You are signed in as Owner/)
    const { answer } = await open(page, scene(), newClient({ clientId: client_id, redirectUri }))
    await asked(page)
    await said(page, /^A program asks to act for you here\.$/)
    const shown = await page.locator("#request").innerText()
    assert.match(shown, /^evil\.example\s/)
    assert.include(shown, `You will be sent to ${redirectUri}`)
    assert.include(shown, "“<img src=x onerror=alert(1)>\\u{202E}\\u{200B}”")
    assert.strictEqual(await page.locator("img").count(), 0)
    await press(page, "Refuse")
    assert.strictEqual((await answer())["error"], "access_denied")
  })

  it("says what it cannot do: no request, one that was answered, one in no workspace", async () => {
    const workspace = await newWorkspace(scene().owner)
    const person = await join(workspace, "viewer")
    await workspace.post(`members/${person.id}/deactivate`, undefined, 200)
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink(person.id))
    await said(
      page,
      /You are signed in as .*\. This session enters no workspace: you are in none, or it is blocked there\.$/
    )
    for (const [hash, expected] of [
      ["", /^This address is not complete/],
      ["#x", /^This address is not complete/],
      ["#00000000-0000-7000-8000-000000000000", /^This request was answered already/]
    ] as const) {
      await page.goto("about:blank")
      await page.goto(`${scene().origin}/authorize${hash}`)
      await said(page, expected)
      assert.isTrue(await page.locator("#request").isHidden())
    }
    await open(page, scene(), loopback())
    await said(page, /^You are in no workspace that it could be let into/)
    assert.deepStrictEqual(
      [await page.locator("#allow").isHidden(), await page.locator("#workspace").isHidden()],
      [true, true]
    )
    await asked(page)
  })

  it("asks nobody to sign in for a request that is dead, and leads nobody back to it", async () => {
    const dead = "/authorize#00000000-0000-7000-8000-000000000000"
    const page = await scene().newPage()
    await page.goto(`${scene().origin}${dead}`)
    await said(page, /^This request was answered already, or is too old/)
    assert.isTrue(await page.locator("#sign-in").isHidden())
    await page.goto(`${scene().origin}/sign-in?returnTo=${encodeURIComponent(dead)}`)
    await warned(page, /^This request was answered already, or is too old/)
    await signInBy(page, await scene().newLink())
    await showsAccount(page, /^You are signed in as Owner/)
  })

  it("leads nobody back who gave the request up, or whose request is answered meanwhile", async () => {
    const page = await scene().newPage()
    await open(page, scene(), loopback())
    await said(page, /^Sign in to go on\.$/)
    await page.goto("about:blank")
    await page.goto(`${scene().origin}/sign-in`)
    await page.getByText("for a sign-in link").waitFor()
    await signInBy(page, await scene().newLink())
    await showsAccount(page, /^You are signed in as Owner/)

    const other = await scene().newPage()
    const { address } = await open(other, scene(), loopback())
    await said(other, /^Sign in to go on\.$/)
    const refusal = { allow: false }
    const id = address.slice(address.indexOf("#") + 1)
    const refused = await call(page, "POST", `authorizations/${id}`, JSON.stringify(refusal))
    assert.strictEqual(refused.status, 200)
    await signInBy(other, await scene().newLink())
    await showsAccount(other, /^You are signed in as Owner/)
  })

  it("leads who is not signed in to /sign-in, which says for whom, and back by a link in another tab", async () => {
    const page = await scene().newPage()
    const { address, answer } = await open(page, scene(), loopback())
    await said(page, /^Sign in to go on\.$/)
    await page
      .getByText(
        "The program at localhost:53682, which calls itself “Claude Code”, asks for access. You decide about it after this."
      )
      .waitFor()
    assert.strictEqual(page.url(), `${scene().origin}/sign-in`)
    const other = await page.context().newPage()
    await signInBy(other, await scene().newLink())
    await asked(other)
    assert.strictEqual(other.url(), address)
    // The first tab has nowhere to go any more.
    await page.reload()
    await showsAccount(page, /^You are signed in as Owner/)
    await page.goto(address)
    await asked(page)
    await press(page, "Refuse")
    assert.strictEqual((await answer())["error"], "access_denied")
  })

  it("goes back to no other place", async () => {
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink())
    await showsAccount(page, /^You are signed in as Owner/)
    const id = await askForAccess(scene().owner)
    for (const returnTo of [
      "",
      "https://evil.example/",
      "//evil.example",
      "/authorize",
      `/authorize#${id}/x`,
      "javascript:alert(1)"
    ]) {
      await page.goto(`${scene().origin}/sign-in?returnTo=${encodeURIComponent(returnTo)}`)
      await showsAccount(page, /^You are signed in as Owner/)
      assert.strictEqual(page.url(), `${scene().origin}/sign-in`, returnTo)
    }
  })

  it("lets somebody use another account", async () => {
    const person = await join(scene().owner, "member")
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink(person.id))
    await showsAccount(page, /^You are signed in as Sam/)
    const { address } = await open(page, scene(), loopback())
    await page.getByText("You are signed in as Sam").waitFor()
    await press(page, "Use another account")
    await warned(page, /^You have no way to sign in again but a link/)
    // Nobody is signed out by a request that the server refuses.
    await refuseNext(page, "DELETE", "/auth/v1/session", 500)
    await press(page, "Really use another account?")
    await refused(page, 500)
    await page.getByText("You are signed in as Sam").waitFor()
    await press(page, "Try again")
    await said(page, /^Sign in to go on\.$/)
    const link = await scene().newLink()
    await page.evaluate(`location.href = ${JSON.stringify(link)}`)
    await focusOn(page, "use")
    await page.keyboard.press("Enter")
    await page.getByText("You are signed in as Owner (owner@example.com).").waitFor()
    assert.strictEqual(page.url(), address)
  })

  it("begins with where the access goes, also on a narrow screen", async () => {
    const page = await scene().newPage()
    await page.setViewportSize({ width: 320, height: 480 })
    await signInBy(page, await scene().newLink())
    await showsAccount(page)
    await open(page, scene(), loopback())
    await asked(page)
    assert.strictEqual(await page.evaluate("scrollY"), 0)
    const { height, y } = (await page.locator("#host").boundingBox())!
    assert.isAtMost(y + height, 480)
    assert.isAtMost(await page.evaluate<number>("document.documentElement.scrollWidth"), 320)
  })

  it("takes no refusal for an answer, and says what a decision came to", async () => {
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink())
    await showsAccount(page)
    const { address, answer } = await open(page, scene(), loopback())
    await asked(page)
    for (const [path, status] of [
      ["/auth/v1/methods", 429],
      ["/auth/v1/session", 500]
    ] as const) {
      await refuseNext(page, "GET", path, status)
      await page.reload()
      await refused(page, status)
      assert.isTrue(await page.locator("#sign-in").isHidden())
      await focusOn(page, "again")
      await page.keyboard.press("Enter")
      await asked(page)
    }
    await refuseNext(page, "POST", `/auth/v1/authorizations/${address.slice(address.indexOf("#") + 1)}`, 500)
    await press(page, "Refuse")
    await refused(page, 500)
    await press(page, "Try again")
    assert.strictEqual((await answer())["error"], "access_denied")
    // Going back in the browser does not lead to the request that is answered.
    await page.goBack()
    await showsAccount(page)
  })

  it("tells a workspace that is no longer one to choose from a request that is answered", async () => {
    const workspace = await newWorkspace(scene().owner)
    const person = await join(workspace, "viewer")
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink(person.id))
    await showsAccount(page)
    await open(page, scene(), loopback())
    await asked(page)
    await workspace.post(`members/${person.id}/deactivate`, undefined, 200)
    await press(page, "Allow")
    await warned(page, /^workspace: there is no workspace /)
    await said(page, /^You are in no workspace that it could be let into\./)
    assert.isTrue(await page.locator("#request").isVisible())
  })
})

const { advance, clock } = standingClock()

inBrowser(
  servers,
  "The page where people decide about clients, long after the sign-in",
  (scene) => {
    it("asks for a fresh proof before the choice, and keeps a choice where the proof becomes too old", async () => {
      const page = await scene().newPage()
      await addDevice(page)
      await signInBy(page, await scene().newLink())
      await showsAccount(page, /^You are signed in as Owner/)
      await addPasskey(page)
      await newWorkspace(scene().owner)
      advance("16 minutes")
      const { address } = await open(page, scene(), loopback())
      await said(page, /^Confirm that it is you: you signed in a while ago, as Owner \(owner@example\.com\)\.$/)
      await page
        .getByText("The program at localhost:53682, which calls itself “Claude Code”, asks for access.")
        .waitFor()
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await asked(page)
      assert.strictEqual(page.url(), address)

      advance("14 minutes")
      await page.goto("about:blank")
      const { answer } = await open(page, scene(), loopback())
      await asked(page)
      const workspace = page.getByRole("combobox", { name: "Workspace" })
      await workspace.press("T")
      const chosen = await workspace.inputValue()
      const name = await workspace.locator("option:checked").innerText()
      advance("2 minutes")
      await tabTo(page, "Allow")
      await page.keyboard.press("Enter")
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await asked(page)
      assert.strictEqual(await workspace.inputValue(), chosen)
      assert.match(name, /^Team \(team-\d+\), you are owner$/)
      assert.strictEqual(await workspace.locator("option:checked").innerText(), name)
      await page.getByRole("button", { name: "Allow" }).press("Enter")
      assert.property(await answer(), "code")
    })
  },
  { clock }
)
