import { randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import type { Browser, BrowserContext, Locator, Page } from "playwright-core"
import { freePort } from "../../../server/src/cli/FreePort.ts"
import { startChromium } from "../../../server/test/support/Chromium.ts"
import { makeEmptyDatabase } from "../../../server/test/support/Databases.ts"
import { buildName } from "../../build/inputs.ts"
import { type ServerProcess, startServer } from "../../../server/test/support/ServerProcess.ts"

/** A real server with its website, and browsers that visit it: on its embedded database, or with `TEST_SITES=PostgreSQL` on that. */

/** What the server is told of its database, which goes with the scope. */
const databaseOf = async (scope: Scope.Scope): Promise<Readonly<Record<string, string>>> =>
  process.env["TEST_SITES"] === "PostgreSQL"
    ? {
        DATABASE_URL: (await Effect.runPromise(Scope.provide(makeEmptyDatabase, scope))).url,
        VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`
      }
    : {}

export interface Site {
  readonly origin: string
  /** Kills the server, as `kill -9` does. */
  readonly kill: () => Promise<void>
  /** Lets the server hang, as SIGSTOP does, until the answer is called. */
  readonly hang: () => () => void
  /** Starts it again, with the same data at the same address. */
  readonly revive: () => Promise<void>
  /** What the server has printed. */
  readonly output: () => string
  /** The owner's. */
  readonly key: string
  /** With the owner's key, in the workspace `main`. */
  readonly call: Call
  readonly browser: Browser
  /** A page of a browser of its own, in which the owner is signed in. */
  readonly signIn: (options?: Looks) => Promise<Page>
  /** A page of a browser of its own, with nobody signed in. */
  readonly visit: (options?: Looks) => Promise<Page>
  /** Closes all pages: each that is open reads what it shows again while a test makes much. */
  readonly closePages: () => Promise<void>
  readonly close: () => Promise<void>
  /** What pages have reported: errors, and refusals of the policy. */
  readonly problems: Array<string>
}

/** Accepts an invite as somebody new. */
export const accept = async (origin: string, token: string, name: string): Promise<void> => {
  await fetch(`${origin}/v1/invites/accept`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, name })
  })
}

export interface Looks {
  readonly colorScheme?: "light" | "dark"
  readonly width?: number
  readonly height?: number
  /** A phone: with fingers, without a mouse. */
  readonly isTouch?: boolean
}

export type Call = <A = unknown>(method: string, path: string, body?: unknown) => Promise<A>

/** Calls with a key or a token of a run. */
export const callWith =
  (origin: string, key: string): Call =>
  async <A>(method: string, path: string, body?: unknown) => {
    const isBytes = body instanceof Uint8Array
    const answer = await fetch(path.startsWith("/") ? `${origin}${path}` : `${origin}/v1/workspaces/main/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": isBytes
          ? path.endsWith(".png")
            ? "image/png"
            : "text/plain; charset=utf-8"
          : "application/json"
      },
      ...(body === undefined ? {} : { body: isBytes ? Uint8Array.from(body) : JSON.stringify(body) })
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`)
    return (text === "" ? undefined : JSON.parse(text)) as A
  }

/** A page of a browser of its own, in which somebody is signed in who has just joined. */
export const joinAs = async (site: Site, email: string, name: string, role: string): Promise<Page> => {
  const { token } = await site.call<{ token: string }>("POST", "invites", { email, role, deliver: "link" })
  const page = await site.visit()
  await page.goto(`${site.origin}/sign-in`)
  await page.evaluate(async (body) => {
    const headers = { "content-type": "application/json" }
    await fetch("/auth/v1/invites/accept", { method: "POST", headers, body })
  }, JSON.stringify({ token, name }))
  return page
}

/** A screen of the workspace, on a new page of the owner unless one is given, once it is there. */
export const openScreen = async (site: Site, path: string, page?: Page): Promise<Page> => {
  const shown = page ?? (await site.signIn())
  await shown.goto(`${site.origin}/w/main/${path}`)
  await shown.locator("#screen h1").waitFor()
  return shown
}

/** That the page follows what others do. */
export const isLive = (page: Page) =>
  page.getByRole("navigation", { name: "Workspace" }).getByText("Live", { exact: true }).waitFor()

/** The path of the file that a module of the website, such as `src/app/Palette.tsx`, is loaded from. */
export const assetOf = (module: string): string => {
  const manifest = join(import.meta.dirname, `../../dist/${buildName()}/files/.vite/manifest.json`)
  const chunks = JSON.parse(readFileSync(manifest, "utf8")) as Readonly<Record<string, { readonly file: string }>>
  return `/${chunks[module]!.file}`
}

/** Presses a button by keyboard once it can be pressed: a key does not wait for that, as a click does. */
export const pressEnter = (button: Locator) =>
  button.and(button.page().locator(":enabled:not([aria-disabled='true'])")).press("Enter")

/** That the page has loaded what it may need next, too. */
export const atRest = async (page: Page) => {
  await page.waitForFunction(
    (path) => performance.getEntriesByType("resource").some(({ name }) => name.endsWith(path)),
    assetOf("src/app/SessionOver.tsx")
  )
  // Under load the page may have been idle before it asked for what it may need next.
  await page.getByRole("region", { name: "Notifications" }).waitFor({ state: "attached" })
  await page.waitForLoadState("networkidle")
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 100))

/** Waits until the website is built. */
const built = async (origin: string): Promise<void> => {
  while ((await fetch(`${origin}/w/main`)).status === 503) await moment()
}

/** What the first start prints, a moment after it answers. */
const printed = async (server: ServerProcess): Promise<{ readonly key: string; readonly link: string }> => {
  for (;;) {
    const link = /http:\/\/\S+\/sign-in#ltk_[0-9A-Za-z]+/.exec(server.output())?.[0]
    const key = /ctk_[0-9A-Za-z]+/.exec(server.output())?.[0]
    if (key !== undefined && link !== undefined) return { key, link }
    await moment()
  }
}

const contextOf = (
  browser: Browser,
  { colorScheme = "light", height = 900, isTouch = false, width = 1440 }: Looks
): Promise<BrowserContext> =>
  browser.newContext({
    colorScheme,
    locale: "en-US",
    viewport: { width, height },
    hasTouch: isTouch,
    isMobile: isTouch,
    permissions: ["clipboard-read", "clipboard-write"]
  })

export const startSite = async (environment: Readonly<Record<string, string>> = {}): Promise<Site> => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-website-"))
  const port = await freePort()
  const scope = Scope.makeUnsafe()
  const origin = `http://localhost:${port}`
  const settings = {
    DATA_DIR: directory,
    PORT: String(port),
    BASE_URL: origin,
    WEBSITE: "true",
    ...(await databaseOf(scope)),
    ...environment
  }
  let server = await startServer(settings)
  const browser = await startChromium()
  const { key, link } = await printed(server)
  await built(origin)
  const problems: Array<string> = []
  const opened: Array<BrowserContext> = []
  const visit = async (looks: Looks = {}) => {
    const context = await contextOf(browser, looks)
    opened.push(context)
    // Before the time limit of the test: it says what did not come.
    context.setDefaultTimeout(100_000)
    const page = await context.newPage()
    page.on("pageerror", (error) => problems.push(String(error)))
    page.on("console", (message) => {
      const isAnswer = message.text().startsWith("Failed to load resource")
      if (message.type() === "error" && !isAnswer) problems.push(message.text())
    })
    return page
  }
  const closePages = async () => {
    for (const context of opened.splice(0)) await context.close()
  }
  // The link works once: its session is that of all.
  const first = await visit()
  await first.goto(link)
  await first.getByRole("button", { name: "Sign in", exact: true }).click()
  await first.waitForURL(/\/w\/main/)
  const cookies = await first.context().cookies()
  await first.context().close()
  return {
    origin,
    key,
    output: () => server.output(),
    kill: async () => void (await server.end("SIGKILL")),
    hang: () => {
      const { child } = server
      child.kill("SIGSTOP")
      return () => void child.kill("SIGCONT")
    },
    revive: async () => {
      server = await startServer(settings)
      await built(origin)
    },
    call: callWith(origin, key),
    browser,
    problems,
    visit,
    signIn: async (looks) => {
      const page = await visit(looks)
      await page.context().addCookies(cookies)
      return page
    },
    closePages,
    close: async () => {
      await closePages()
      await browser.close()
      await server.end("SIGTERM")
      await Effect.runPromise(Scope.close(scope, Exit.void))
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
