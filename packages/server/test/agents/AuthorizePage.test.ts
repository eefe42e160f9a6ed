import type { RegisteredClient } from "@delivery/domain/agents/OAuth"
import { createHash } from "node:crypto"
import { createContext, runInContext } from "node:vm"
import { assert } from "vitest"
import {
  cookieOf,
  eventually,
  type Http,
  join,
  newLink,
  newWorkspace,
  onEachServer,
  sessionIn,
  signIn,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"
import { answerIn, askForAccess, callback, claude, exchange, newClient } from "./OAuthScene.ts"

/** The pages `/authorize` and `/sign-in`: their own scripts, as the server sends them, against the server. */

/** An element, with what the scripts use of it. */
class Element {
  textContent = ""
  value = ""
  hidden: boolean
  disabled = false
  children: ReadonlyArray<Element> = []
  readonly #clicked: Array<() => unknown> = []
  constructor(hidden: boolean) {
    this.hidden = hidden
  }
  addEventListener = (_: string, listener: () => unknown) => void this.#clicked.push(listener)
  focus = () => {}
  replaceChildren = (...children: ReadonlyArray<Element>) => {
    this.children = children
    this.value = children[0]?.value ?? ""
  }
  click = () => {
    assert.isFalse(this.hidden || this.disabled, "It cannot be clicked.")
    for (const listener of this.#clicked) listener()
  }
}

/** What stays of a browser from page to page: its cookie, and what pages keep. */
interface Browser {
  token: string | undefined
  readonly stored: Map<string, string>
}

const newBrowser = (session?: Http): Browser => ({ token: session?.key, stored: new Map() })

const matched = (pattern: RegExp, text: string): string => {
  const found = pattern.exec(text)?.[1]
  assert.isDefined(found, String(pattern))
  return found!
}

/** Opens a page of the server in the browser. Answers its elements, and where it sends the browser. */
const open = async (http: Http, browser: Browser, address: string) => {
  const url = new URL(address, http.baseUrl)
  const { headers, status, text } = await http.as(undefined).send("GET", url.pathname + url.search)
  assert.strictEqual(status, 200)
  const script = matched(/<script>([^]*)<\/script>/, text)
  const policy = String(headers["content-security-policy"])
  // The browser runs it only so.
  assert.include(policy, `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}';`)
  const elements = new Map(
    [...text.matchAll(/<\w+ id="([\w-]+)"([^>]*)>/g)].map(([, id, rest]) => [id!, new Element(/ hidden/.test(rest!))])
  )
  const went: Array<string> = []
  const globals = {
    document: {
      getElementById: (id: string) => elements.get(id),
      createElement: () => new Element(false),
      querySelector: () => ({ dataset: { origin: http.baseUrl } })
    },
    // Without passkeys.
    isSecureContext: false,
    location: {
      hash: url.hash,
      search: url.search,
      pathname: url.pathname,
      assign: (to: string) => void went.push(to),
      replace: (to: string) => void went.push(to)
    },
    history: { replaceState: () => {} },
    localStorage: {
      getItem: (key: string) => browser.stored.get(key) ?? null,
      setItem: (key: string, value: string) => void browser.stored.set(key, value),
      removeItem: (key: string) => void browser.stored.delete(key)
    },
    URLSearchParams,
    fetch: async (path: string, { body, headers, method }: { body?: string; headers: object; method: string }) => {
      const cookie = browser.token === undefined ? {} : cookieOf(browser.token)
      const answer = await http.as(undefined).send(method, path, { body, headers: { ...cookie, ...headers } })
      if (answer.headers["set-cookie"] !== undefined) browser.token = sessionIn(answer)
      return { status: answer.status, json: async () => answer.body }
    }
  }
  runInContext(script, createContext(globals))
  const at = (id: string) => elements.get(id)!
  const until = (isDone: () => boolean) => eventually(async () => at("text").textContent, isDone)
  return { at, went, until, said: () => at("text").textContent, headers, policy, text }
}

const shown = async (page: Awaited<ReturnType<typeof open>>) => {
  await page.until(() => !page.at("request").hidden)
  return page
}

onEachServer("The page where people decide about clients", (test) => {
  test("runs nothing but its own script, in no frame, and is kept by nobody", async (owner) => {
    const { headers, policy, text } = await open(owner, newBrowser(), "/authorize")
    assert.match(
      policy,
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/
    )
    assert.deepInclude(headers, {
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY"
    })
    assert.notMatch(text, /https?:\/\/|innerHTML|outerHTML|insertAdjacent|document\.write|eval|<form| on\w+=/)
    // What can be pressed and chosen is what keyboards reach by themselves.
    assert.notMatch(text, /tabindex|role="button"/)
    for (const id of ["workspace", "scope"]) assert.include(text, `<label for="${id}">`)
  })

  test("shows where the access goes before what the client calls itself, and lets it in", async (owner) => {
    const workspace = await newWorkspace(owner)
    const session = await signIn(workspace, (await join(workspace, "member")).id)
    const client = newClient()
    const page = await shown(await open(owner, newBrowser(session), `/authorize#${await askForAccess(owner, client)}`))
    assert.strictEqual(page.at("host").textContent, "localhost:53682")
    assert.match(page.at("asks").textContent, /your own computer/)
    assert.match(page.at("client").textContent, /“Claude Code”.*nobody has checked/)
    assert.include(page.at("client").textContent, claude)
    assert.isBelow(page.text.indexOf('id="host"'), page.text.indexOf('id="client"'))
    assert.deepStrictEqual(
      page.at("workspace").children.map(({ textContent }) => textContent),
      ["Team (you are member)"]
    )
    assert.deepStrictEqual(
      page.at("scope").children.map(({ value }) => value),
      ["read write", "read"]
    )
    page.at("scope").value = "read"
    page.at("allow").click()
    await page.until(() => page.went.length > 0)
    const { code } = answerIn(page.went[0]!)
    assert.strictEqual((await exchange(owner, code!, client)).body.scope, "read")
    assert.isTrue(page.at("request").hidden)
  })

  test("shows a hostile name as text, and refuses the client", async (owner) => {
    const session = await signIn(owner, "owner@example.com")
    const client_name = "<img src=x onerror=alert(1)>\u202e\u200b"
    const redirectUri = "https://evil.example/callback"
    const { client_id } = await owner
      .as(undefined)
      .post<RegisteredClient>("/agent/oauth/register", { redirect_uris: [redirectUri], client_name })
    const client = newClient({ clientId: client_id, redirectUri })
    const page = await shown(await open(owner, newBrowser(session), `/authorize#${await askForAccess(owner, client)}`))
    assert.strictEqual(page.at("host").textContent, "evil.example")
    assert.include(page.at("asks").textContent, `You will be sent to ${redirectUri}`)
    assert.include(page.at("client").textContent, "“<img src=x onerror=alert(1)>\\u{202E}\\u{200B}”")
    page.at("refuse").click()
    await page.until(() => page.went.length > 0)
    assert.strictEqual(answerIn(page.went[0]!, redirectUri)["error"], "access_denied")
    const again = await open(owner, newBrowser(session), `/authorize#${await askForAccess(owner, client)}`)
    await shown(again)
  })

  test("says what it cannot do: no request, one that was answered, one in no workspace", async (owner) => {
    const session = await signIn(owner, "owner@example.com")
    for (const [address, said] of [
      ["/authorize", /not complete/],
      ["/authorize#x", /not complete/],
      ["/authorize#00000000-0000-7000-8000-000000000000", /answered already/]
    ] as const) {
      const page = await open(owner, newBrowser(session), address)
      await page.until(() => said.test(page.said()))
      assert.isTrue(page.at("request").hidden)
    }
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "viewer")
    const alone = await signIn(workspace, person.id)
    await workspace.post(`members/${person.id}/deactivate`, undefined, 200)
    const page = await shown(await open(owner, newBrowser(alone), `/authorize#${await askForAccess(owner)}`))
    assert.deepStrictEqual([page.at("allow").hidden, page.at("refuse").hidden], [true, false])
  })

  test("leads who is not signed in to /sign-in, and back, also by a link that opens in another tab", async (owner) => {
    const person = await join(await newWorkspace(owner), "member")
    const browser = newBrowser()
    const address = `/authorize#${await askForAccess(owner)}`
    const page = await open(owner, browser, address)
    await page.until(() => page.went.length > 0)
    assert.deepStrictEqual(page.went, [`/sign-in?returnTo=${encodeURIComponent(address)}`])
    const waiting = await open(owner, browser, page.went[0]!)
    await waiting.until(() => /sign-in link/.test(waiting.said()))
    assert.deepStrictEqual(waiting.went, [])
    const signing = await open(owner, browser, `/sign-in#${await newLink(owner, person.id)}`)
    await signing.until(() => !signing.at("use").hidden)
    signing.at("use").click()
    await signing.until(() => signing.went.length > 0)
    assert.deepStrictEqual(signing.went, [address])
    await shown(await open(owner, browser, address))
    // It goes back once, and to no other place.
    for (const returnTo of [
      "",
      "https://evil.example/",
      "//evil.example",
      "/authorize",
      `${address}/x`,
      "javascript:alert(1)"
    ]) {
      const page = await open(owner, browser, `/sign-in?returnTo=${encodeURIComponent(returnTo)}`)
      await page.until(() => /You are signed in/.test(page.said()))
      assert.deepStrictEqual(page.went, [], returnTo)
    }
  })
})

withClockOnEachServer("The page where people decide about clients, long after the sign-in", (test) => {
  test("asks for a fresh proof, and goes on with it", async (owner, advance) => {
    const person = await join(await newWorkspace(owner), "member")
    const browser = newBrowser(await signIn(owner, person.id))
    advance("16 minutes")
    const client = newClient({ redirectUri: callback, state: unique("state") })
    const address = `/authorize#${await askForAccess(owner, client)}`
    const page = await shown(await open(owner, browser, address))
    page.at("allow").click()
    await page.until(() => page.went.length > 0)
    assert.deepStrictEqual(page.went, [`/sign-in?returnTo=${encodeURIComponent(address)}`])
    const waiting = await open(owner, browser, page.went[0]!)
    await waiting.until(() => /confirm that it is you/.test(waiting.said()))
    assert.deepStrictEqual(waiting.went, [])
    const signing = await open(owner, browser, `/sign-in#${await newLink(owner, person.id)}`)
    await signing.until(() => !signing.at("use").hidden)
    signing.at("use").click()
    await signing.until(() => signing.went.length > 0)
    assert.deepStrictEqual(signing.went, [address])
    const again = await shown(await open(owner, browser, address))
    again.at("allow").click()
    await again.until(() => again.went.length > 0)
    assert.property(answerIn(again.went[0]!), "code")
  })
})
