import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { answerAt, newNetwork, redeemLogin, startLogin } from "../auth/LoginScene.ts"
import {
  addDevice,
  addPasskey,
  call,
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
import { join } from "../support/Http.ts"
import { servers } from "../support/Servers.ts"

/** The page `/cli` in a real browser. The command line itself signs in in `packages/cli/test/Login.test.ts`. */

const address = ({ origin }: Scene, id: string) => `${origin}/cli#${id}`

/** Waits until the page shows what is to be decided. The keyboard begins above it. */
const asked = async (page: Page) => {
  await page.locator("#request").waitFor()
  await focusOn(page, "text")
}

/** Has the browser open the page. Where it brings an answer, nobody listens but the test. */
const open = async (page: Page, scene: Scene, fields: Parameters<typeof startLogin>[1] = {}) => {
  const login = await startLogin(scene.owner, fields)
  const answers: Array<string> = []
  await page.route(
    (url) => url.origin !== scene.origin,
    (route) => {
      answers.push(route.request().url())
      return route.fulfill({ contentType: "text/plain", body: "The program has its answer." })
    }
  )
  await page.goto(address(scene, login.id))
  return {
    login,
    answer: async () => {
      await page.getByText("The program has its answer.").waitFor()
      return answerAt({ location: answers[0]! })
    }
  }
}

const signedIn = async (scene: Scene, who?: string): Promise<Page> => {
  const page = await scene.newPage()
  await signInBy(page, await scene.newLink(who))
  await showsAccount(page)
  return page
}

inBrowser(servers, "The page where people decide about the command line", (scene) => {
  it("shows a name that looks like markup as text, and what the key may do, which can be less", async () => {
    const page = await signedIn(scene())
    const name = "<img src=x onerror=alert(1)>"
    const { answer, login } = await open(page, scene(), { name, scopes: ["read", "vault"] })
    await asked(page)
    assert.include(
      await page.locator("#request").innerText(),
      `It calls itself “${name}”, and nobody has checked that.`
    )
    assert.strictEqual(await page.locator("img").count(), 0)
    assert.strictEqual(await page.getByLabel("Name of the key").inputValue(), name)
    for (const scope of ["read", "vault"]) {
      await page.getByRole("checkbox", { name: new RegExp(`\\(${scope}\\)$`) }).uncheck()
    }
    await press(page, "Allow")
    await warned(page, /^Choose what the key may do\.$/)
    await focusOn(page, "scopes")
    await page.getByRole("checkbox", { name: /\(vault\)$/ }).check()
    await page.getByLabel("Name of the key").fill(" ")
    await press(page, "Allow")
    await warned(page, /^Type a name for the key\.$/)
    await page.getByLabel("Name of the key").fill("a\u202eb")
    await press(page, "Allow")
    await warned(page, /^Expected text without invisible characters\.$/)
    await focusOn(page, "name")
    await page.getByLabel("Name of the key").fill("laptop")
    await page.getByLabel("The key ends").selectOption("In 7 days")
    await press(page, "Allow")
    const { code } = await answer()
    const { body } = await redeemLogin(scene().owner, login.id, { codeVerifier: login.verifier, code })
    assert.deepInclude(body, { name: "laptop", scopes: ["vault"] })
    const left = Date.parse(body.expiresAt!) - Date.now()
    assert.isBelow(left, 7 * 86_400_000)
    assert.isAbove(left, 6 * 86_400_000)
  })

  it("asks nobody to sign in for a login that is over, and says what it cannot do", async () => {
    const page = await scene().newPage()
    for (const [hash, expected] of [
      ["", /^This address is not complete/],
      ["#x", /^This address is not complete/],
      ["#00000000-0000-7000-8000-000000000000", /^This request was answered already/]
    ] as const) {
      await page.goto("about:blank")
      await page.goto(`${scene().origin}/cli${hash}`)
      await said(page, expected)
      assert.isTrue(await page.locator("#sign-in").isHidden())
    }
    const dead = "/cli#00000000-0000-7000-8000-000000000000"
    await page.goto(`${scene().origin}/sign-in?returnTo=${encodeURIComponent(dead)}`)
    await warned(page, /^This request was answered already, or is too old/)
    await signInBy(page, await scene().newLink())
    await showsAccount(page)
  })

  it("says for whom one signs in who is on another computer, and does not show the code", async () => {
    const page = await scene().newPage()
    const { login } = await open(page, scene(), { isDevice: true })
    await said(page, /^Sign in to go on\.$/)
    await page
      .getByText("A program on another computer, which calls itself “delivery on laptop”, asks for access.")
      .waitFor()
    await signInBy(page, await scene().newLink())
    await asked(page)
    assert.notInclude(await page.content(), login.userCode!)
    await page.getByText(/Never type a code that somebody sends you: they would act as you\./).waitFor()
  })

  it("decides for the person whom it shows", async () => {
    const person = await join(scene().owner, "member")
    const page = await signedIn(scene(), person.id)
    const { answer, login } = await open(page, scene())
    await asked(page)
    await page.getByText("You are signed in as Sam").waitFor()
    const other = await page.context().newPage()
    await signInBy(other, await scene().newLink())
    await showsAccount(other, /^You are signed in as Owner/)
    await press(page, "Allow")
    await warned(page, /^Somebody else has signed in with this browser meanwhile\. Look again\.$/)
    await page.getByText("You are signed in as Owner").waitFor()
    await press(page, "Refuse")
    assert.deepStrictEqual(await answer(), { error: "access_denied", state: login.id })
  })

  it("takes no refusal of the server for an answer", async () => {
    const page = await signedIn(scene())
    const { answer, login } = await open(page, scene())
    await asked(page)
    await refuseNext(page, "POST", `/auth/v1/cli/logins/${login.id}`, 500)
    await press(page, "Allow")
    await refused(page, 500)
    await press(page, "Try again")
    assert.property(await answer(), "code")
  })

  it("begins with where the key goes, also on a narrow screen", async () => {
    const page = await signedIn(scene())
    await page.setViewportSize({ width: 320, height: 480 })
    await open(page, scene(), { isDevice: true, name: "x".repeat(80) })
    await asked(page)
    assert.strictEqual(await page.evaluate("scrollY"), 0)
    const { height, y } = (await page.locator("#host").boundingBox())!
    assert.isAtMost(y + height, 480)
    assert.isAtMost(await page.evaluate<number>("document.documentElement.scrollWidth"), 320)
  })

  it("is answered elsewhere meanwhile", async () => {
    const page = await signedIn(scene())
    const { login } = await open(page, scene())
    await asked(page)
    assert.strictEqual((await call(page, "POST", `cli/logins/${login.id}`, '{"allow":false}')).status, 200)
    await press(page, "Allow")
    await said(page, /^This request was answered already/)
    assert.strictEqual(
      (await redeemLogin(scene().owner, login.id, { codeVerifier: login.verifier }, newNetwork())).status,
      403
    )
  })
})

const { advance, clock } = standingClock()

inBrowser(
  servers,
  "The page where people decide about the command line, long after the sign-in",
  (scene) => {
    it("asks for a fresh proof before the choice, and keeps a choice where the proof becomes too old", async () => {
      const page = await scene().newPage()
      await addDevice(page)
      await signInBy(page, await scene().newLink())
      await showsAccount(page)
      await addPasskey(page)
      advance("16 minutes")
      const first = await open(page, scene())
      await said(page, /^Confirm that it is you: you signed in a while ago, as Owner \(owner@example\.com\)\.$/)
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await asked(page)
      assert.strictEqual(page.url(), address(scene(), first.login.id))
      await press(page, "Refuse")
      assert.property(await first.answer(), "error")

      advance("14 minutes")
      const { login } = await open(page, scene(), { isDevice: true })
      await asked(page)
      await page.getByLabel("Name of the key").fill("laptop")
      await page.getByLabel("Code in your terminal").fill(login.userCode!)
      await page.getByRole("checkbox", { name: /\(admin\)$/ }).uncheck()
      advance("2 minutes")
      await press(page, "Allow")
      await focusOn(page, "passkey")
      await page.keyboard.press("Enter")
      await asked(page)
      assert.strictEqual(await page.getByLabel("Name of the key").inputValue(), "laptop")
      assert.isFalse(await page.getByRole("checkbox", { name: /\(admin\)$/ }).isChecked())
      await press(page, "Allow")
      await said(page, /^You have allowed it\./)
      const { body } = await redeemLogin(scene().owner, login.id, { codeVerifier: login.verifier })
      assert.deepInclude(body, { name: "laptop", scopes: ["read", "write", "publish", "vault"] })
    })
  },
  { clock }
)
