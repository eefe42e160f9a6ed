import type { ApiKey } from "@delivery/domain/identity/ApiKey"
import type { Me } from "@delivery/domain/identity/Me"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { join as joinPath } from "node:path"
import { afterAll, assert, it } from "vitest"
import { decideLogin } from "../../server/test/auth/LoginScene.ts"
import { focusOn, inBrowser, press, said, type Scene, signInBy, warned } from "../../server/test/support/Browsing.ts"
import { accept, type Http, newWorkspace, sessionIn, unique } from "../../server/test/support/Http.ts"
import { servers } from "../../server/test/support/Servers.ts"
import { type Home, newHome, type Options, type Running } from "./support/Home.ts"

/** `delivery login` through a real browser: the command as a process, against a server on a socket. */

const homes: Array<Home> = []
afterAll(() => {
  for (const home of homes) home.remove()
})

const home = (): Home => {
  const made = newHome()
  homes.push(made)
  // Notes what it is to open, as a browser of the user would.
  writeFileSync(joinPath(made.directory, "bin/browser"), `#!/bin/sh\necho "$1" > "$HOME/opened"\n`, { mode: 0o755 })
  return made
}

const profilesOf = (at: Home) => {
  const file = joinPath(at.directory, "config/delivery/profiles.json")
  if (!existsSync(file)) return undefined
  const { profiles } = JSON.parse(readFileSync(file, "utf8")) as {
    profiles: Record<string, { apiKey: string; keyId?: string }>
  }
  return profiles
}

const env = { BROWSER: "browser" }

/** The page that the command names. */
const pageOf = async ({ until }: Running) => (await until(/(http\S+\/cli#[0-9a-f-]{36})/))[1]!
const idOf = (url: string) => url.split("#")[1]!

type Page = Awaited<ReturnType<Scene["newPage"]>>

/** Waits until the page shows what is to be decided. The keyboard begins above it. */
const asked = async (page: Page) => {
  await page.locator("#request").waitFor()
  await focusOn(page, "text")
}

inBrowser(servers, "delivery login", (scene) => {
  const start = (at: Home, args: ReadonlyArray<string>, options: Options = { env }) =>
    at.start(["login", "--url", scene().origin, ...args], {
      ...options,
      env: { DELIVERY_WORKSPACE: "main", ...options.env }
    })

  /** The session of the owner, or of somebody else, as requests. */
  const session = async (who?: string): Promise<Http> => {
    const token = (await scene().newLink(who)).split("#")[1]!
    const visitor = scene().owner.as(undefined)
    return visitor.as(sessionIn(await visitor.send("POST", "/auth/v1/links/consume", { json: { token } })))
  }

  it("gets a key by the browser of this computer, tells what it is, and revokes it by logout", async () => {
    const at = home()
    const running = start(at, [])
    // Standard input is no terminal: without a flag, that is where the key comes from.
    assert.strictEqual(await running.code, 2)
    const asking = start(at, ["--browser"])
    const url = await pageOf(asking)
    const page = await scene().newPage()
    await page.goto(url)
    await said(page, /^Sign in to go on\.$/)
    await page
      .getByText(/^The program at 127\.0\.0\.1:\d+, which calls itself “delivery on .+”, asks for access\. You decide/)
      .waitFor()
    await signInBy(page, await scene().newLink())
    await asked(page)
    await said(page, /^The command line on your own computer asks for an API key of yours\.$/)
    assert.strictEqual(page.url(), url)
    assert.match(await page.locator("#host").innerText(), /^127\.0\.0\.1:\d+$/)
    assert.isTrue(await page.locator("#user-code").isHidden())
    assert.strictEqual(await page.getByRole("checkbox", { checked: true }).count(), 5)
    await page.getByLabel("Name of the key").fill("my laptop")
    await press(page, "Allow")
    assert.strictEqual(await asking.code, 0, asking.err())
    await page.getByText("The sign-in goes on in your terminal. You can close this page.").waitFor()
    assert.match(page.url(), /^http:\/\/127\.0\.0\.1:\d+\//)
    assert.match(asking.out(), /^Signed in to http\S+ as Owner <owner@example\.com> in the workspace main\.\n/)
    assert.strictEqual(readFileSync(joinPath(at.directory, "opened"), "utf8"), `${url}\n`)

    const { apiKey, keyId } = profilesOf(at)!["default"]!
    for (const text of [asking.out(), asking.err()]) assert.notInclude(text, apiKey)
    const status = await at.delivery(["status"])
    assert.match(
      status.out,
      /^Signed in as Owner <owner@example\.com>, with the key "my laptop" until \d{4}-\d\d-\d\d\.$/m
    )
    const made = scene().owner.as(apiKey)
    const keys = await made.get<ReadonlyArray<ApiKey>>("/v1/api-keys")
    assert.deepInclude(
      keys.find(({ id }) => id === keyId)!,
      { name: "my laptop", scopes: null }
    )
    assert.deepInclude(await at.delivery(["logout"]), {
      code: 0,
      out: 'The profile "default" is deleted, and its API key is revoked.\n',
      err: ""
    })
    await made.refuse("401", "GET", "/v1/me")
  })

  it("gets a limited key by a browser elsewhere, where the code of the terminal is typed", async () => {
    const at = home()
    const asking = start(at, ["--device", "--scopes", "publish, read", "--expires", "7", "--json"])
    const url = await pageOf(asking)
    const [, code = ""] = await asking.until(/type this code there: (\S+)/)
    const page = await scene().newPage()
    await signInBy(page, await scene().newLink())
    await page.locator("#account").waitFor()
    await page.goto(url)
    await asked(page)
    await said(page, /^The command line on another computer asks for an API key of yours\.$/)
    assert.match(await page.locator("#host").innerText(), /^(127\.0\.0\.1|::1)$/)
    assert.strictEqual(await page.getByRole("checkbox").count(), 2)
    await press(page, "Allow")
    await warned(page, /^Type the code that your terminal shows\.$/)
    await focusOn(page, "user-code")
    await page.keyboard.type("2222-2222")
    await press(page, "Allow")
    await warned(page, /^Expected the code that the terminal shows\.$/)
    await focusOn(page, "user-code")
    await page.getByLabel("Code in your terminal").fill(code.toLowerCase())
    await page.getByRole("checkbox", { name: /\(publish\)$/ }).uncheck()
    await press(page, "Allow")
    await said(page, /^You have allowed it\. The command line goes on in a few seconds\. You can close this page\.$/)
    assert.strictEqual(await asking.code, 0, asking.err())
    assert.include(JSON.parse(asking.out()), { profile: "default", workspace: "main" })

    const status = await at.delivery(["status", "--json"])
    const { key } = JSON.parse(status.out) as { key: { scopes: unknown; expiresAt: string } }
    assert.deepStrictEqual(key.scopes, ["read"])
    assert.isBelow(Date.parse(key.expiresAt) - Date.now(), 7 * 86_400_000)
    // A key that may not write is ended nevertheless.
    const { apiKey } = profilesOf(at)!["default"]!
    assert.deepInclude(await at.delivery(["logout"]), { code: 0, err: "" })
    await scene().owner.as(apiKey).refuse("401", "GET", "/v1/me")
  })

  it("keeps nothing, and says so, where it is refused", async () => {
    for (const way of ["--browser", "--device"]) {
      const at = home()
      const asking = start(at, [way])
      const page = await scene().newPage()
      await signInBy(page, await scene().newLink())
      await page.locator("#account").waitFor()
      await page.goto(await pageOf(asking))
      await asked(page)
      await press(page, "Refuse")
      assert.strictEqual(await asking.code, 3)
      assert.match(asking.err(), /\nThe sign-in was refused in the browser\. You are not signed in\.\n$/)
      assert.strictEqual(asking.out(), "")
      assert.isUndefined(profilesOf(at))
      await page.getByText(/^You have refused (it|the sign-in)\. You can close this page\.$/).waitFor()
    }
  })

  it("waits on for the answer to its own login, whoever else asks at its port", async () => {
    const at = home()
    const asking = start(at, ["--browser"])
    const id = idOf(await pageOf(asking))
    const owner = await session()
    const { host } = await owner.get<{ host: string }>(`/auth/v1/cli/logins/${id}`)
    const port = Number(host.split(":")[1])
    const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
      new Promise<number>((resolve, reject) =>
        request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
          answer.resume()
          resolve(answer.statusCode!)
        })
          .on("error", reject)
          .end()
      )
    for (const path of [
      "/",
      "/favicon.ico",
      `/?state=${id}`,
      "/?code=otk_x",
      `/?code=otk_x&state=${id}x`,
      `/?error=other&state=${id}`,
      "//[x"
    ]) {
      assert.strictEqual(await get(path), 404, path)
    }
    assert.strictEqual(await get(`/?code=otk_x&state=${id}`, { host: `evil.example:${port}` }), 404)
    assert.strictEqual(await get(`/?code=otk_x&state=${id}`, {}, "POST"), 404)
    const { body } = await decideLogin(owner, id, { allow: true })
    const { pathname, search } = new URL(body.location!)
    assert.strictEqual(await get(pathname + search), 200)
    assert.strictEqual(await asking.code, 0, asking.err())
    const again = await get("/").catch((error: NodeJS.ErrnoException) => error.code)
    assert.strictEqual(again, "ECONNREFUSED")
  })

  it("does not take a code that is not for it", async () => {
    const at = home()
    const asking = start(at, ["--browser"])
    const id = idOf(await pageOf(asking))
    const owner = await session()
    const { host } = await owner.get<{ host: string }>(`/auth/v1/cli/logins/${id}`)
    assert.strictEqual((await fetch(`http://${host}/?code=otk_of_somebody&state=${id}`)).status, 200)
    assert.strictEqual(await asking.code, 3)
    assert.match(asking.err(), /\nThe sign-in did not work: /)
    assert.isUndefined(profilesOf(at))
  })

  it("leaves nothing where it is interrupted", async () => {
    for (const way of ["--browser", "--device"]) {
      const at = home()
      const asking = start(at, [way])
      await pageOf(asking)
      asking.child.kill("SIGINT")
      assert.strictEqual(await asking.code, 130)
      assert.isUndefined(profilesOf(at))
    }
  })

  it("ends a key that it cannot keep, and one that another takes the place of", async () => {
    const { person } = await accept(scene().owner, "member", `${unique("sam")}@example.com`)
    const sam = await session(person.id)
    const login = async (at: Home, args: ReadonlyArray<string> = []) => {
      const asking = start(at, ["--device", ...args])
      const id = idOf(await pageOf(asking))
      const [, userCode = ""] = await asking.until(/type this code there: (\S+)/)
      assert.strictEqual((await decideLogin(sam, id, { allow: true, userCode })).status, 200)
      return { asking, code: await asking.code }
    }
    const keysOf = async (by: Http) => (await by.get<ReadonlyArray<ApiKey>>("/v1/api-keys")).map(({ name }) => name)
    const before = await keysOf(sam)
    const lost = await login(home(), ["--workspace", "nobodys"])
    assert.strictEqual(lost.code, 1)
    assert.match(lost.asking.err(), /The key cannot act in a workspace "nobodys"\./)
    assert.deepStrictEqual(await keysOf(sam), before)

    const at = home()
    assert.strictEqual((await login(at)).code, 0)
    const first = scene().owner.as(profilesOf(at)!["default"]!.apiKey)
    assert.strictEqual((await first.get<Me>("/v1/me")).id, person.id)
    assert.strictEqual((await login(at)).code, 0)
    await first.refuse("401", "GET", "/v1/me")
    assert.lengthOf(await keysOf(sam), before.length + 1)
    // A key that was given is its owner's.
    const second = scene().owner.as(profilesOf(at)!["default"]!.apiKey)
    const given = await at.delivery(["login", "--url", scene().origin, "--workspace", "main"], {
      input: scene().owner.key!
    })
    assert.deepInclude(given, { code: 0, err: "" })
    await second.refuse("401", "GET", "/v1/me")
    const kept = await at.delivery(["logout"])
    assert.include(kept.out, "The API key itself works until you revoke it.")
    assert.strictEqual((await scene().owner.get<Me>("/v1/me")).kind, "user")
  })

  it("says that a key could not be revoked, and keeps the profile unless it is told otherwise", async () => {
    const at = home()
    const asking = start(at, ["--device"])
    const id = idOf(await pageOf(asking))
    const [, userCode = ""] = await asking.until(/type this code there: (\S+)/)
    await decideLogin(await session(), id, { allow: true, userCode })
    assert.strictEqual(await asking.code, 0)
    const file = joinPath(at.directory, "config/delivery/profiles.json")
    const { apiKey } = profilesOf(at)!["default"]!
    // Where nobody listens.
    writeFileSync(file, readFileSync(file, "utf8").replace(scene().origin, "http://127.0.0.1:1"), { mode: 0o600 })
    const refused = await at.delivery(["logout"])
    assert.include(refused, { code: 4, out: "" })
    assert.match(refused.err, /^The API key is not revoked, and you are still signed in\. /)
    assert.include(await at.delivery(["logout", "--keep-key"]), { code: 0, err: "" })
    assert.deepStrictEqual(profilesOf(at), {})
    await scene().owner.as(apiKey).get("/v1/me")
  })

  it("asks for a workspace among several, and for one way to sign in", async () => {
    await newWorkspace(scene().owner)
    const at = home()
    const login = (...args: ReadonlyArray<string>) => at.delivery(["login", "--url", scene().origin, ...args])
    for (const [args, message] of [
      [["--browser", "--device"], /exclude each other/],
      [["--with-key", "--scopes", "read"], /are for a key that is made by the sign-in/],
      [["--device", "--scopes", "read,all"], /--scopes takes some of read, write, publish, vault, admin/],
      [["--device", "--expires", "731"], /1 to 730 days/]
    ] as const) {
      const { code, err, out } = await login(...args)
      assert.strictEqual(code, 2, args.join(" "))
      assert.match(err + out, message)
    }
    const elsewhere = await at.delivery(["login", "--device", "--url", `${scene().origin}/nothing`])
    assert.include(elsewhere, { code: 1, out: "" })
    assert.match(elsewhere.err, /has no sign-in through a browser\. Or give it a key: `delivery login --with-key`\.\n$/)
    const nobody = await at.delivery(["login", "--device", "--url", "http://127.0.0.1:1"])
    assert.include(nobody, { code: 4, out: "" })
    assert.isUndefined(profilesOf(at))
  })
})
