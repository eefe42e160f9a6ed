import { Clock, Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, afterEach, assert, beforeAll, describe } from "vitest"
import { DeliveryServer } from "../../src/cli/TestServer.ts"
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
      // The time limit of the test ends what does not come.
      context.setDefaultTimeout(0)
      const page = await context.newPage()
      page.on("request", (request) => {
        const { hostname } = new URL(request.url())
        // Where a client wants its answer, the browser goes.
        if (!["localhost", "127.0.0.1"].includes(hostname) && !request.isNavigationRequest())
          problems.push(`asks ${hostname}`)
      })
      page.on("pageerror", (error) => problems.push(String(error)))
      page.on("console", (message) => {
        // Answers such as 401, which the page shows in words, are errors on the console.
        const isAnswer = message.text().startsWith("Failed to load resource: the server responded")
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

/** Signs in by a link, as a person does. */
export const signInBy = async (page: Page, link: string) => {
  await page.goto(link)
  await said(page, /This link signs you in, once/)
  await focusOn(page, "use")
  await page.keyboard.press("Enter")
}
