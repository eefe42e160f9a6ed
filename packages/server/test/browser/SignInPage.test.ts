import { Effect, Exit, Layer, Scope } from "effect"
import type { Passkey } from "@delivery/domain/auth/Passkey"
import type { SignedIn } from "@delivery/domain/auth/Session"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { DeliveryServer } from "../../src/cli/TestServer.ts"
import { startChromium } from "../support/Chromium.ts"
import { freePort } from "../support/ServerProcess.ts"
import { servers } from "../support/Servers.ts"

/** The page `/sign-in` in a real browser, as a person uses it: by keyboard, with a device that has passkeys. */

/** A call of the page's own, as the website makes it. */
const call = <A>(page: Page, method: string, path: string, body?: string) =>
  page.evaluate<{ readonly status: number; readonly body: A }>(`(async () => {
    const body = ${body ?? "undefined"}
    const answer = await fetch("/auth/v1/${path}", {
      method: "${method}",
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
    })
    return { status: answer.status, body: answer.status === 204 ? null : await answer.json() }
  })()`)

/** What the browser's own code of passkeys answers to options of the server. */
const ceremony = (start: "startRegistration" | "startAuthentication", path: string) =>
  `await SimpleWebAuthnBrowser.${start}({
    optionsJSON: await (await fetch("/auth/v1/${path}", { method: "POST" })).json()
  })`

const text = (page: Page, expected: RegExp) => page.getByRole("status").filter({ hasText: expected }).waitFor()

/** The text of the element that the keyboard acts on. */
const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent")

for (const [name, layerServer] of servers) {
  describe(`The page of signing in on ${name}`, () => {
    const scope = Scope.makeUnsafe()
    let server: DeliveryServer["Service"]
    let browser: Browser
    let origin: string
    const contexts: Array<BrowserContext> = []
    const problems: Array<string> = []

    beforeAll(async () => {
      const port = await freePort()
      origin = `http://localhost:${port}`
      const layer = layerServer({ PORT: String(port), BASE_URL: origin })
      const built = Effect.provide(DeliveryServer, await Effect.runPromise(Layer.buildWithScope(layer, scope)))
      server = await Effect.runPromise(built)
      browser = await startChromium()
    })
    afterEach(async () => {
      for (const context of contexts.splice(0)) await context.close()
      assert.deepStrictEqual(problems.splice(0), [])
    })
    afterAll(async () => {
      await browser?.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    })

    const newPage = async () => {
      const context = await browser.newContext()
      contexts.push(context)
      const page = await context.newPage()
      page.on("request", (request) => {
        const { hostname } = new URL(request.url())
        if (!["localhost", "127.0.0.1"].includes(hostname)) problems.push(`asks ${hostname}`)
      })
      page.on("pageerror", (error) => problems.push(String(error)))
      page.on("console", (message) => {
        // Answers such as 401, which the page shows in words, are errors on the console.
        const isAnswer = message.text().startsWith("Failed to load resource: the server responded")
        if (message.type() === "error" && !isAnswer) problems.push(message.text())
      })
      return page
    }

    const newLink = async () => (await Effect.runPromise(server.signInLink("owner@example.com")))!

    /** A device with passkeys. What it is asked for, it does, as its person would. */
    const addDevice = async (page: Page) => {
      const devtools = await page.context().newCDPSession(page)
      await devtools.send("WebAuthn.enable")
      const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          protocol: "ctap2",
          transport: "internal",
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true
        }
      })
      return {
        verifies: (isUserVerified: boolean) =>
          devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified })
      }
    }

    const signInByLink = async (page: Page) => {
      await page.goto(await newLink())
      await text(page, /This link signs you in, once/)
      await page.keyboard.press("Enter")
      await text(page, /You are signed in as Owner/)
    }

    const addPasskey = (page: Page) =>
      call<Passkey>(
        page,
        "POST",
        "passkeys/verify",
        `{ response: ${ceremony("startRegistration", "passkeys/options")} }`
      )

    it("signs in by a link and out again, by keyboard", async () => {
      const page = await newPage()
      const link = await newLink()
      // Whoever only loads the page uses nothing up.
      await page.goto(link)
      await text(page, /This link signs you in, once/)
      assert.strictEqual(page.url(), `${origin}/sign-in`)
      await page.goto("about:blank")
      await page.goto(link)
      await text(page, /This link signs you in, once/)
      assert.strictEqual(await focused(page), "Sign in")
      await page.keyboard.press("Enter")
      await text(page, /You are signed in as Owner <owner@example\.com>, in main \(owner\)\./)
      await page.reload()
      await text(page, /You are signed in as Owner/)
      await page.keyboard.press("Tab")
      assert.strictEqual(await focused(page), "Sign out")
      await page.keyboard.press("Enter")
      await text(page, /You are signed out/)
      await page.goto("about:blank")
      await page.goto(link)
      await text(page, /This link signs you in, once/)
      await page.keyboard.press("Enter")
      await text(page, /Signing in failed/)
      assert.strictEqual((await call(page, "GET", "session")).status, 401)
    })

    it("signs in with a passkey that the browser has made, and proves with it again who one is", async () => {
      const page = await newPage()
      await addDevice(page)
      await signInByLink(page)
      const added = await addPasskey(page)
      assert.strictEqual(added.status, 201, JSON.stringify(added.body))
      assert.deepInclude(added.body, { name: "Chrome on Linux", lastUsedAt: null, synced: false })
      // The browser itself refuses to make it again: it is among those that are excluded.
      const again = await addPasskey(page).catch((error: Error) => error)
      assert.match(String(again), /previously registered/)

      await call(page, "DELETE", "session")
      await page.reload()
      await text(page, /Sign in with a passkey, or open a sign-in link/)
      assert.strictEqual(await focused(page), "Sign in with a passkey")
      await page.keyboard.press("Enter")
      await text(page, /You are signed in as Owner/)
      const { body: began } = await call<SignedIn>(page, "GET", "session")
      assert.strictEqual(began.session.method, "passkey")
      const { body: listed } = await call<{ passkeys: ReadonlyArray<Passkey> }>(page, "GET", "passkeys")
      const used = listed.passkeys.find(({ id }) => id === added.body.id)
      assert.isString(used?.lastUsedAt)

      const proof = `{ passkey: ${ceremony("startAuthentication", "sudo/options")} }`
      const proved = await call<SignedIn>(page, "POST", "sudo", proof)
      assert.strictEqual(proved.status, 200, JSON.stringify(proved.body))
      assert.strictEqual(proved.body.session.id, began.session.id)
      assert.isAtLeast(Date.parse(proved.body.session.sudoUntil!), Date.parse(began.session.sudoUntil!))
      // The cookie that came with it works.
      assert.strictEqual((await call(page, "GET", "session")).status, 200)
    })

    it("says what to do where the device knows no passkey of the service, or the service not the device's", async () => {
      const page = await newPage()
      const device = await addDevice(page)
      await signInByLink(page)
      const added = await addPasskey(page)
      // Another of the person's: the last way in could not be removed.
      const elsewhere = await newPage()
      await addDevice(elsewhere)
      await signInByLink(elsewhere)
      assert.strictEqual((await addPasskey(elsewhere)).status, 201)
      assert.strictEqual((await call(page, "DELETE", `passkeys/${added.body.id}`)).status, 204)
      await call(page, "DELETE", "session")
      await page.reload()
      await page.getByRole("button", { name: "Sign in with a passkey" }).press("Space")
      await text(page, /Signing in failed/)
      await device.verifies(false)
      await page.getByRole("button", { name: "Sign in with a passkey" }).press("Enter")
      await text(page, /Your browser used no passkey/)
    })

    it("offers no passkey at an address that is not the service's own", async () => {
      const page = await newPage()
      await page.goto(`${origin.replace("localhost", "127.0.0.1")}/sign-in`)
      await text(page, /^To sign in, open a sign-in link/)
      assert.strictEqual(await page.getByRole("button").count(), 0)
    })
  })
}
