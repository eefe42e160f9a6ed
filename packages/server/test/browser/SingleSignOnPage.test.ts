import type { SignedIn } from "@delivery/domain/auth/Session"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { Clock, Effect, Exit, Layer, Scope } from "effect"
import type { Browser, BrowserContext } from "playwright-core"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { startChromium } from "../support/Chromium.ts"
import { standingClock } from "../../src/testing/StandingClock.ts"
import { type Issuer, settingOf, startIssuer } from "../support/Issuer.ts"
import { serve, type Served } from "../support/Served.ts"
import { freePort } from "../../src/cli/FreePort.ts"

/** Single sign-on in a real browser, with a real issuer at another site, and what pages of other sites can do with it. */

describe("Single sign-on in a browser", () => {
  const scope = Scope.makeUnsafe()
  const { advance, clock } = standingClock()
  let browser: Browser
  let issuer: Issuer
  let origin: string
  let elsewhere: Served
  /** The page of the other site. */
  let html = ""
  const contexts: Array<BrowserContext> = []

  beforeAll(async () => {
    issuer = await startIssuer({ name: "corp" })
    issuer.accounts.set("owner", { email: "owner@example.com", email_verified: true })
    elsewhere = await serve(() => (_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end(html)
    })
    const port = await freePort()
    // The issuer and the other site are at 127.0.0.1, which is another site to browsers.
    origin = `http://localhost:${port}`
    const layer = DeliveryServer.layerMemory({
      PORT: String(port),
      BASE_URL: origin,
      OIDC_CORP: settingOf(issuer)
    })
    const timed = Layer.provideMerge(layer, Layer.succeed(Clock.Clock, clock))
    await Effect.runPromise(Layer.buildWithScope(timed, scope))
    browser = await startChromium()
  })
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close()
  })
  afterAll(async () => {
    await browser?.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await elsewhere.close()
    await issuer.close()
  })

  /** A page of a browser that is the subject at the issuer. */
  const newPage = async (subject: string) => {
    const context = await browser.newContext({ extraHTTPHeaders: { "x-test-subject": subject } })
    contexts.push(context)
    return context.newPage()
  }

  type Page = Awaited<ReturnType<typeof newPage>>

  const signIn = async (page: Page) => {
    await page.goto(`${origin}/sign-in`)
    await page.getByRole("link", { name: "Sign in with Corp" }).click()
    await page.getByRole("status").filter({ hasText: "You are signed in as Owner" }).waitFor()
    assert.strictEqual(page.url(), `${origin}/sign-in`)
  }

  const get = <A>(page: Page, path: string) =>
    page.evaluate<{ readonly status: number; readonly body: A }>(`(async () => {
      const answer = await fetch("/auth/v1/${path}")
      return { status: answer.status, body: await answer.json() }
    })()`)

  const accounts = async (page: Page) => {
    const { body } = await get<{ identities: ReadonlyArray<{ readonly subject: string }> }>(page, "identities")
    return body.identities.map(({ subject }) => subject)
  }

  it("a person goes to the issuer from the page, and comes back signed in", async () => {
    const page = await newPage("owner")
    await signIn(page)
    const { body } = await get<SignedIn>(page, "session")
    assert.deepStrictEqual([body.person.email, body.session.method], ["owner@example.com", "oidc"])
  })

  it("whoever refuses there reads so", async () => {
    const page = await newPage("access_denied")
    await page.goto(`${origin}/sign-in`)
    await page.getByRole("link", { name: "Sign in with Corp" }).click()
    await page.getByRole("alert").filter({ hasText: "You did not sign in there." }).waitFor()
    assert.strictEqual(page.url(), `${origin}/sign-in`)
    assert.strictEqual((await get(page, "session")).status, 401)
  })

  const cookieOf = async (page: Page) =>
    (await page.context().cookies(origin)).find(({ name }) => name === sessionCookie)?.value

  it("a page of another site adds no account and proves nothing", async () => {
    const page = await newPage("owner")
    await signIn(page)
    const cookie = await cookieOf(page)
    assert.isDefined(cookie)
    // From now on the browser is somebody else at the issuer, as the other site has arranged.
    issuer.accounts.set("evil", { email: "evil@example.com", email_verified: true })
    await page.context().clearCookies({ domain: "127.0.0.1" })
    await page.context().setExtraHTTPHeaders({ "x-test-subject": "evil" })
    for (const purpose of ["link", "sudo"]) {
      html = `<a href="${origin}/auth/v1/oidc/corp/start?purpose=${purpose}">Look</a>`
      await page.goto(elsewhere.url)
      await page.getByRole("link").click()
      await page.getByRole("heading", { name: "This is not allowed" }).waitFor()
      await page.goto(`${origin}/sign-in`)
      assert.deepStrictEqual(await accounts(page), ["owner"])
      assert.strictEqual(await cookieOf(page), cookie)
    }
  })

  it("whatever a page of another site names as the way back, the browser stays at the service", async () => {
    const page = await newPage("owner")
    const { host } = new URL(elsewhere.url)
    for (const to of [`//${host}/`, `/\\${host}/`, `/\t/${host}/`, `/.//${host}/`, `/%2f${host}/`, elsewhere.url]) {
      html = `<a href="${origin}/auth/v1/oidc/corp/start?returnTo=${encodeURIComponent(to)}">Look</a>`
      await page.goto(elsewhere.url)
      await page.getByRole("link").click()
      await page.waitForURL((url) => url.href !== `${elsewhere.url}/` && url.origin !== issuer.url)
      // The service leads from `/` to its page.
      assert.strictEqual(page.url(), `${origin}/sign-in`, to)
    }
  })

  it("a person adds another account on their page, and removes it", async () => {
    const page = await newPage("owner")
    await signIn(page)
    await page.locator("#account").waitFor()
    issuer.accounts.set("second", { email: "second@example.com", email_verified: true })
    await page.context().clearCookies({ domain: "127.0.0.1" })
    await page.context().setExtraHTTPHeaders({ "x-test-subject": "second" })
    const added = page.getByRole("status").filter({ hasText: "signs you in from now on." })
    await page.getByRole("button", { name: "Add an account at Corp" }).press("Enter")
    await added.filter({ hasText: /^Your account “Corp: second@example\.com” signs you in from now on\.$/ }).waitFor()
    assert.strictEqual(page.url(), `${origin}/sign-in`)
    assert.deepStrictEqual(await accounts(page), ["owner", "second"])
    // Once more changes nothing, and says so.
    await page.getByRole("button", { name: "Add an account at Corp" }).press("Enter")
    await page
      .getByRole("status")
      .filter({ hasText: /^That account signs you in already\.$/ })
      .waitFor()
    assert.deepStrictEqual(await accounts(page), ["owner", "second"])
    // It is no news any more.
    await page.reload()
    await page.locator("#account").waitFor()
    assert.strictEqual(await page.locator("#news").innerText(), "")
    const ways = page.getByRole("list", { name: "How you sign in" })
    await ways.getByRole("button", { name: /^Remove Corp: second/ }).press("Enter")
    await ways.getByRole("button", { name: /^Really remove\? Corp: second/ }).press("Enter")
    await page.getByRole("status").filter({ hasText: "no longer signs you in." }).waitFor()
    assert.deepStrictEqual(await accounts(page), ["owner"])
  })

  it("a person confirms with their account that it is them, and goes on where they were", async () => {
    const page = await newPage("owner")
    await signIn(page)
    await page.locator("#account").waitFor()
    const { body } = await get<SignedIn>(page, "session")
    advance("16 minutes")
    const name = page.getByRole("textbox", { name: /^Name of the new key/ })
    await name.fill("laptop")
    await page.keyboard.press("Enter")
    await page
      .getByRole("status")
      .filter({ hasText: /^Before you make an API key, confirm that it is you/ })
      .waitFor()
    await page.getByRole("link", { name: "Confirm with Corp" }).press("Enter")
    await page.locator("#make-key:focus").waitFor()
    const proved = await get<SignedIn>(page, "session")
    assert.strictEqual(proved.body.session.id, body.session.id)
    await name.fill("laptop")
    await page.keyboard.press("Enter")
    await page
      .getByRole("status")
      .filter({ hasText: /^API key “laptop” is made/ })
      .waitFor()
    // Adding an account needs a fresh proof, too, and the browser goes nowhere without.
    await page.locator("#copy:focus").waitFor()
    advance("16 minutes")
    await page.getByRole("button", { name: "Add an account at Corp" }).press("Enter")
    await page
      .getByRole("status")
      .filter({ hasText: /^Before you add a way to sign in, confirm that it is you/ })
      .waitFor()
    assert.strictEqual(page.url(), `${origin}/sign-in`)
  })

  it("a page of another site that loads the addresses as images and frames takes no attempt away", async () => {
    const page = await newPage("owner")
    const [start, callback] = ["start", "callback"].map((end) => `${origin}/auth/v1/oidc/corp/${end}`)
    html = Array.from(
      { length: 25 },
      (_, index) => `<img src="${callback}?state=${index}"><img src="${start}?${index}">`
    )
      .concat(`<iframe src="${callback}?state=frame"></iframe><iframe src="${start}?returnTo=/frame"></iframe>`)
      .join("")
    let requests = 0
    const frames: Array<number> = []
    page.on("request", (request) => {
      if (request.url().startsWith(origin)) requests++
    })
    page.on("response", (response) => {
      // Browsers tell nobody what became of the images.
      if (response.request().isNavigationRequest()) frames.push(response.status())
    })
    await page.goto(elsewhere.url)
    assert.strictEqual(requests, 52)
    assert.deepStrictEqual(frames, [200, 403, 403])
    await signIn(page)
  })
})
