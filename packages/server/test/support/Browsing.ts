import { Clock, Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, afterEach, assert, beforeAll, describe } from "vitest"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { startChromium } from "./Chromium.ts"
import { type Http, http } from "./Http.ts"
import { freePort } from "../../src/cli/FreePort.ts"
import type { Servers } from "./Servers.ts"

/** A server, and browsers that visit its pages. */
export interface Scene {
  readonly origin: string
  readonly owner: Http
  /** A page in a browser of its own. */
  readonly newPage: () => Promise<Page>
  /** A link by which somebody signs in, once. */
  readonly newLink: (who?: string) => Promise<string>
}

/**
 * Runs the tests on each of the servers, whose time is the clock's if there is one. Pages must ask no other host, and have no
 * errors.
 */
export const inBrowser = (
  servers: Servers,
  subject: string,
  tests: (scene: () => Scene) => void,
  { clock, environment }: { readonly clock?: Clock.Clock; readonly environment?: () => Promise<Environment> } = {}
): void => {
  for (const [name, layerServer] of servers) {
    describe(`${subject} on ${name}`, () => {
      const scope = Scope.makeUnsafe()
      let browsing: Awaited<ReturnType<typeof startBrowsing>>
      let scene: Scene
      beforeAll(async () => {
        const port = await freePort()
        const origin = `http://localhost:${port}`
        const settings = { PORT: String(port), BASE_URL: origin, ...(await environment?.()) }
        const timed = clock === undefined ? Layer.empty : Layer.succeed(Clock.Clock, clock)
        const layer = Layer.provideMerge(layerServer(settings), timed)
        const built = Effect.provide(DeliveryServer, await Effect.runPromise(Layer.buildWithScope(layer, scope)))
        const server = await Effect.runPromise(built)
        browsing = await startBrowsing()
        scene = {
          origin,
          owner: http(origin, Redacted.value(server.apiKey), server.workspace),
          newPage: browsing.newPage,
          newLink: async (who = "owner@example.com") => (await Effect.runPromise(server.signInLink(who)))!
        }
      })
      afterEach(() => browsing.closePages())
      afterAll(async () => {
        await browsing?.close()
        await Effect.runPromise(Scope.close(scope, Exit.void))
      })
      tests(() => scene)
    })
  }
}

type Environment = Readonly<Record<string, string>>

const startBrowsing = async () => {
  const browser: Browser = await startChromium()
  const contexts: Array<BrowserContext> = []
  const problems: Array<string> = []
  return {
    newPage: async () => {
      const context = await browser.newContext()
      contexts.push(context)
      // Before the time limit of the test: it says what did not come.
      context.setDefaultTimeout(100_000)
      const page = await context.newPage()
      page.on("request", (request) => {
        const { hostname } = new URL(request.url())
        // Where a client wants its answer, the browser goes.
        if (!["localhost", "127.0.0.1"].includes(hostname) && !request.isNavigationRequest())
          problems.push(`asks ${hostname}`)
      })
      page.on("pageerror", (error) => problems.push(String(error)))
      page.on("console", (message) => {
        // Answers such as 401, and none at all, which the page shows in words, are errors on the console.
        const isAnswer = /^Failed to load resource: (?:the server responded|net::ERR_FAILED$)/.test(message.text())
        if (message.type() === "error" && !isAnswer) problems.push(message.text())
      })
      return page
    },
    closePages: async () => {
      for (const context of contexts.splice(0)) await context.close()
      assert.deepStrictEqual(problems.splice(0), [])
    },
    close: () => browser.close()
  }
}

/** A call of the page's own, as the website makes it. */
export const call = <A>(page: Page, method: string, path: string, body?: string) =>
  page.evaluate<{ readonly status: number; readonly body: A }>(`(async () => {
    const body = ${body ?? "undefined"}
    const answer = await fetch("/auth/v1/${path}", {
      method: "${method}",
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
    })
    return { status: answer.status, body: answer.status === 204 ? null : await answer.json() }
  })()`)

/** Waits until the page says it. */
export const said = (page: Page, expected: RegExp) => page.getByRole("status").filter({ hasText: expected }).waitFor()

/** Waits until the page says what is wrong. */
export const warned = (page: Page, expected: RegExp) => page.getByRole("alert").filter({ hasText: expected }).waitFor()

/** Waits until the page shows the account of whoever is signed in. */
export const showsAccount = async (page: Page, who = /^You are signed in as /) => {
  await said(page, who)
  await page.locator("#account").waitFor()
}

/** Presses the button of this very name, by keyboard. */
export const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true }).press("Enter")

/** Adds a passkey on the page of the account, which is a way in from then on. */
export const addPasskey = async (page: Page) => {
  await press(page, "Add a passkey")
  await said(page, /^Passkey “Chrome on Linux” is added\./)
  await page.locator("#loss").waitFor({ state: "hidden" })
}

/** Signs out, also where the page asks once more. */
export const signOut = async (page: Page) => {
  const button = page.locator("#sign-out")
  await button.press("Enter")
  if ((await button.innerText()) === "Really sign out?") await button.press("Enter")
  await said(page, /^You are signed out\.$/)
}

/** Has the next such call of the page refused as a server refuses it that is overloaded (429) or fails (500). */
export const refuseNext = async (page: Page, method: string, path: string, status: 429 | 500 = 429) => {
  const body =
    status === 429
      ? { _tag: "TooManyRequests", message: "The server has too much to do. Try again in 2 s." }
      : { _tag: "Internal", message: "Something went wrong.", requestId: "refused-0001" }
  let isRefused = false
  await page.route(
    ({ pathname }) => pathname === path,
    (route) => {
      if (isRefused || route.request().method() !== method) return route.fallback()
      isRefused = true
      return route.fulfill({
        status,
        headers: { "content-type": "application/json", "x-request-id": "refused-0001" },
        body: JSON.stringify(body)
      })
    }
  )
}

/** Waits until the page says that the server refused it, in whose words, and by which request. */
export const refused = async (page: Page, status: 429 | 500 = 429) => {
  await warned(
    page,
    status === 429
      ? /^The server has too much to do\. Try again in a minute\.$/
      : /^Something went wrong\.(?: The server may have done it nevertheless\.)?$/
  )
  await page.getByText("Request refused-0001").waitFor()
}

/** Holds the next such call of the page back. Answers what lets it go, once it was sent. */
export const holdNext = async (page: Page, method: string, path: string) => {
  const sent = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(
    ({ pathname }) => pathname === path,
    async (route) => {
      if (route.request().method() !== method) return route.fallback()
      sent.resolve()
      await released.promise
      return route.fallback()
    }
  )
  return { sent: sent.promise, release: () => released.resolve() }
}

/** The text of the element that the keyboard acts on. */
export const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent")

/** Waits until the keyboard acts on the element. */
export const focusOn = (page: Page, id: string) => page.locator(`#${id}:focus`).waitFor()

/** A device with passkeys. What it is asked for, it does, as its person would. */
export const addDevice = async (page: Page) => {
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

/** That the keyboard acts on the button of this name. */
export const focusOnButton = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name }).and(page.locator(":focus")).waitFor()

/** Signs in by a link, as a person does. */
export const signInBy = async (page: Page, link: string) => {
  await page.goto(link)
  await said(page, /This link signs you in, once/)
  await focusOn(page, "use")
  await page.keyboard.press("Enter")
}
