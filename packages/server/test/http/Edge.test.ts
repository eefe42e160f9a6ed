import { hash } from "node:crypto"
import { Readable } from "node:stream"
import { assert } from "vitest"
import { freePort } from "../../src/cli/FreePort.ts"
import {
  accountKey,
  type ErrorBody,
  type Http,
  http,
  newDeployment,
  newWorkspace,
  onEachServer,
  refusal,
  sendBytes,
  sendRequest,
  startRun,
  unique
} from "../support/Http.ts"

/** What every request passes (docs/contract.md, Conventions; Errors), over a real socket. */

const mebibyte = 1024 * 1024

const get = (http: Http, headers: Record<string, string>) => http.send("GET", "/v1/me", { headers })

onEachServer("the edge", (test) => {
  test("keeps a request id of the right form and makes another for any other", async (owner) => {
    for (const id of ["my-request_01", "x".repeat(8), "x".repeat(64)]) {
      assert.strictEqual((await get(owner, { "x-request-id": id })).headers["x-request-id"], id)
    }
    for (const wrong of ["short_1", "has space in it", "x".repeat(65), "semi;colon", ""]) {
      const made = await get(owner, { "x-request-id": wrong })
      assert.match(String(made.headers["x-request-id"]), /^[0-9a-f-]{36}$/)
    }
  })

  test("takes the key in either header, and both where they are equal", async (owner) => {
    const key = owner.key!
    const nobody = owner.as(undefined)
    assert.strictEqual((await get(nobody, { "x-api-key": key })).status, 200)
    assert.strictEqual((await get(owner, { "x-api-key": key })).status, 200)
    assert.strictEqual((await get(nobody, { authorization: `bearer ${key}` })).status, 200)
  })

  test("answers every wrong credential with one and the same 401", async (owner) => {
    const key = owner.key!
    const nobody = owner.as(undefined)
    const answers = [
      await get(nobody, {}),
      await get(nobody, { authorization: "Bearer" }),
      await get(owner.as("nonsense"), {}),
      await get(owner.as(`${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`), {}),
      await get(owner.as(key.replace("ctk_", "stk_")), {}),
      await get(nobody, { authorization: `Basic ${key}` }),
      await get(owner, { "x-api-key": "another" }),
      await get(owner.as("another"), { "x-api-key": key }),
      await get(nobody, { "x-api-key": "" }),
      await owner.as("nonsense").in("none").send("POST", "products", { body: "{" })
    ]
    for (const answer of answers) {
      assert.strictEqual(answer.status, 401)
      assert.deepStrictEqual(answer.body, answers[0]!.body)
    }
  })

  test("finds nothing whose name in the path holds NUL, which no database can be asked for", async (owner) => {
    const at = await newWorkspace(owner)
    await at.post("products", { slug: "shop", name: "Shop", type: "library" })
    await at.post("environments", { slug: "staging", name: "Staging", class: "non-production" })
    const path = "products/shop/secrets/a%00b"
    await at.refuse("404 secret", "GET", path)
    await at.refuse("404 secret", "PATCH", path, { newName: "c", requestId: "r" })
    await at.refuse("404 secret", "DELETE", path)
    await at.refuse("404 secret", "GET", `${path}/environments/staging/versions`)
  })

  test("takes every character of a path literally, encoded or not", async (owner) => {
    const at = await newDeployment(owner)
    await at.post("products/shop/secrets", { name: "a" })
    const { number } = await startRun(at)
    await at.send("PUT", `test-runs/${number}/files/a`, { body: "a" })
    for (const character of "!$&'()*+,;=:@#~") {
      const name = `a${character}b`
      for (const written of [name, encodeURIComponent(name)]) {
        await at.refuse("404 secret", "GET", `products/shop/secrets/${written}`)
        await at.refuse("404 secret", "DELETE", `products/shop/secrets/${written}`)
        assert.strictEqual((await at.send("GET", `test-runs/${number}/files/${written}`)).status, 404, written)
        await at.post("products/shop/secrets", { name })
        assert.strictEqual((await at.get<{ name: string }>(`products/shop/secrets/${written}`)).name, name)
        await at.delete(`products/shop/secrets/${written}`)
      }
      const put = await at.send<{ path: string }>("PUT", `test-runs/${number}/files/${name}`, { body: character })
      assert.deepStrictEqual([put.status, put.body.path], [201, name])
      assert.strictEqual((await at.send("GET", `test-runs/${number}/files/${name}?;`)).text, character)
    }
    assert.strictEqual((await at.get<{ name: string }>("products/shop/secrets/a")).name, "a")
    assert.strictEqual((await owner.send("GET", "/v1/me;session=1")).status, 404)
  })

  test("does not find unknown routes and methods, key or no key", async (owner) => {
    const routes = [
      ["POST", "/"],
      ["GET", "/v1"],
      ["GET", "/v1/nothing"],
      ["GET", "/V1/me"],
      ["GET", "/v1/workspaces/main/Products"],
      ["DELETE", "/v1/me"],
      ["PUT", "/health"],
      ["GET", "products/shop/none"],
      ["POST", "test-runs/1/files/a"],
      ["OPTIONS", "products"]
    ] as const
    for (const caller of [owner, owner.as(undefined), owner.as("nonsense")]) {
      for (const [method, path] of routes) {
        const { body, status } = await caller.send<ErrorBody>(method, path)
        assert.deepStrictEqual([status, body.message], [404, "This path does not exist."], `${method} ${path}`)
      }
    }
  })

  test("answers people at unknown paths with a page, and programs in the form of the API", async (owner) => {
    const browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
    const open = (path: string, accept: string, method = "GET") =>
      fetch(`${owner.baseUrl}${path}`, { method, headers: { accept } })
    for (const path of [
      "/w/main/tickets/ENG-1",
      "/sign-in/x",
      "/signin?q=100%",
      "/agents",
      "/authorizer",
      "/v",
      "/docs/x"
    ]) {
      const page = await open(path, browsers)
      const text = await page.text()
      assert.strictEqual(page.status, 404, path)
      assert.match(String(page.headers.get("content-type")), /^text\/html/)
      assert.deepInclude(Object.fromEntries(page.headers), {
        "cache-control": "no-store",
        vary: "Accept",
        "x-frame-options": "DENY"
      })
      assert.match(String(page.headers.get("x-request-id")), /^[\w-]{8,64}$/)
      assert.match(
        String(page.headers.get("content-security-policy")),
        /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-/
      )
      assert.include(text, '<a href="/sign-in">')
      assert.include(text, '<a href="/docs">')
      // The one that chooses between light and dark.
      assert.strictEqual(text.split("<script").length, 2)
      assert.strictEqual((await open(path, browsers, "HEAD")).status, 404)
    }
    const unknown = "/w/main/tickets/ENG-1"
    const asked = [
      ...[
        "*/*",
        "application/json",
        "application/json, text/html",
        "text/html;q=0.5, application/json",
        "text/html;q=0"
      ].map((accept) => [unknown, accept] as const),
      ...[
        "/v1",
        "/v1/nothing",
        "/V1/me",
        "/v2/me",
        "//v1/nothing",
        "/%761/nothing",
        "/auth/v1/nothing",
        "/agent/x"
      ].map((path) => [path, browsers] as const),
      ...["/deploy/x", "/openapi.json/x", "/.well-known/x", "/metrics", "/health/x", "/ready/x", "/%"].map(
        (path) => [path, browsers] as const
      )
    ]
    for (const [path, accept] of asked) {
      const answer = await open(path, accept)
      assert.deepStrictEqual(
        [answer.status, answer.headers.get("content-type")],
        [404, "application/json"],
        `${path} ${accept}`
      )
      assert.strictEqual(((await answer.json()) as ErrorBody)._tag, "NotFound")
    }
    assert.strictEqual((await open(unknown, browsers, "POST")).headers.get("content-type"), "application/json")
  })

  test("names what is wrong with a body: form, type, fields", async (owner) => {
    const post = (body: string, type = "application/json") =>
      owner.send<ErrorBody>("POST", "products", { body, headers: { "content-type": type } })
    for (const [body, message] of [
      ['{"slug":', "Expected a valid JSON body"],
      ["nonsense", "Expected a valid JSON body"],
      ["{}}", "Expected a valid JSON body"],
      ["", "Expected an object"],
      ["[]", "Expected an object"],
      ["null", "Expected an object"],
      ["1", "Expected an object"]
    ] as const) {
      const { body: answer, status } = await post(body)
      assert.deepStrictEqual([status, answer.message, answer.issues], [400, message, [{ path: [], message }]], body)
    }
    for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"]) {
      const typed = await post('{"slug":"x","name":"X","type":"app"}', type)
      assert.strictEqual(refusal(typed), "400")
      assert.match(typed.body.message, /application\/json/)
    }
    const wrong = await post(JSON.stringify({ slug: "No Slug", name: "", type: "boat" }))
    assert.strictEqual(refusal(wrong), "400 slug name type")
    await owner.refuse("400 slug", "POST", "products", { name: "X", type: "app" })
  })

  test("takes bodies in UTF-8 alone, with or without a byte order mark", async (owner) => {
    const send = (name: Buffer, path = "products") => {
      const slug = unique("shop")
      const parts = [Buffer.from(`{"slug":"${slug}","type":"library","name":"`), name, Buffer.from('"}')]
      return owner.send<ErrorBody>("POST", path, {
        body: Buffer.concat(parts),
        headers: { "content-type": "application/json" }
      })
    }
    for (const name of ["Ünï 🚀", "\ufffd"]) assert.strictEqual((await send(Buffer.from(name))).status, 201)
    const marked = `\ufeff{"slug":"${unique("shop")}","name":"Shop","type":"library"}`
    const headers = { "content-type": "application/json" }
    assert.strictEqual((await owner.send("POST", "products", { body: marked, headers })).status, 201)
    const latin = Buffer.from("Ünï", "latin1")
    for (const name of [latin, Buffer.from([0xff]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0xf0, 0x9f, 0x9a])]) {
      const { body, status } = await send(name)
      assert.deepStrictEqual([status, body.message], [400, "The body is not UTF-8."], name.toString("hex"))
    }
    assert.strictEqual((await send(latin, "products/none/secrets")).status, 400)
    assert.strictEqual((await send(latin, "/v1/nothing")).status, 404)
    const unread = await owner.as("nonsense").send("POST", "products", { body: latin, headers })
    assert.strictEqual(unread.status, 401)
  })

  test("refuses a body that is too large without reading the rest", async (owner) => {
    for (const length of [{ "content-length": String(200 * mebibyte) }, { "transfer-encoding": "chunked" }]) {
      let sent = 0
      const body = Readable.from(
        (function* () {
          for (; sent < 200 * mebibyte; sent += mebibyte) yield Buffer.alloc(mebibyte, "x")
        })()
      )
      const headers = { "content-type": "application/json", ...length }
      const answer = await owner.send<ErrorBody>("POST", "products", { body, headers })
      assert.deepInclude(answer.body, { _tag: "InvalidInput", message: "The body is too large." })
      assert.isBelow(sent, 32 * mebibyte)
    }
  })

  test("takes 64 KiB where no credential is needed, also byte by byte, and refuses one more byte", async (owner) => {
    const body = `{"token":"laptop"${" ".repeat(mebibyte / 16 - 18)}}`
    const report = (content: string) =>
      sendRequest(
        owner,
        "POST /v1/tokens/report HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n" +
          `Transfer-Encoding: chunked\r\n\r\n${Array.from(content, (byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`
      )
    assert.strictEqual(Buffer.byteLength(body), mebibyte / 16)
    assert.strictEqual((await report(body)).status, 204)
    for (const content of [` ${body}`, "[".repeat(mebibyte / 16 + 1)]) {
      const refused = await report(content)
      assert.deepInclude(refused.body, { _tag: "InvalidInput", message: "The body is too large." })
    }
  })

  test("answers what is not HTTP, or ends too early, in the form of every other error", async (owner) => {
    const head = `POST /v1/workspaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.key}\r\n`
    const cut = `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"slug":`
    for (const bytes of ["nonsense\r\n\r\n", "GOT /v1/me HTTP/1.1\r\n\r\n", `${head}Content-Length: x\r\n\r\n`, cut]) {
      assert.strictEqual(refusal(await sendBytes(owner, bytes)), "400", bytes)
    }
    const connect = await sendBytes(owner, "CONNECT other.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert.strictEqual(refusal(connect), "400")
    assert.strictEqual((await get(owner, {})).status, 200)
  })

  test("refuses headers above 16 KiB, however large, and takes those below", async (owner) => {
    const head = `GET /v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${owner.key}\r\n`
    const withHeaders = (bytes: number) => sendRequest(owner, `${head}X-Large: ${"x".repeat(bytes)}\r\n\r\n`)
    assert.strictEqual((await withHeaders(15_000)).status, 200)
    for (const bytes of [16_384, 65_536]) {
      const answer = await withHeaders(bytes)
      assert.strictEqual(refusal(answer), "431")
      assert.strictEqual((answer.body as ErrorBody).message, "The headers are too large.")
    }
    assert.strictEqual(refusal(await sendRequest(owner, `GET /${"x".repeat(65_536)} HTTP/1.1\r\n\r\n`)), "431")
    assert.strictEqual((await get(owner, {})).status, 200)
  })

  test("refuses HTTP/1.1 without a host, and what is expected of it beyond 100-continue", async (owner) => {
    const lines = [`Authorization: Bearer ${owner.key}`, "Connection: close"]
    const send = (version: string, ...more: ReadonlyArray<string>) =>
      sendRequest(owner, [`GET /v1/me HTTP/${version}`, ...lines, ...more, "", ""].join("\r\n"))
    const hostless = await send("1.1")
    assert.strictEqual(refusal(hostless), "400 Host")
    assert.strictEqual((hostless.body as ErrorBody).message, "Host: The header is required, once.")
    for (const version of ["1.0", "1.1"]) {
      assert.strictEqual(refusal(await send(version, "Host: localhost", "host: other.example")), "400 Host")
    }
    assert.strictEqual((await send("1.0")).status, 200)
    assert.strictEqual((await send("1.1", "Host: localhost")).status, 200)
    assert.strictEqual(refusal(await send("1.1", "Host: localhost", "Expect: a-miracle")), "417")
    assert.strictEqual((await send("1.1", "Host: localhost", "Expect: 100-continue")).status, 200)
  })

  test("answers NotFound for a path that cannot be decoded, with the reason", async (owner) => {
    for (const path of ["/%", "/v1/%zz", "products/%ff", "test-runs/1/files/a%2", "test-runs/1/files/%c3%28/b"]) {
      for (const caller of [owner, owner.as(undefined)]) {
        const { body, status } = await caller.send<ErrorBody>("GET", path)
        assert.deepStrictEqual([status, body._tag], [404, "NotFound"], path)
        assert.match(body.message, /percent sign/)
      }
    }
    assert.strictEqual((await owner.send("GET", "test-runs?q=100%")).status, 200)
  })

  test("checks in order: key, form, workspace, role, object", async (owner) => {
    const workspace = await newWorkspace(owner)
    const viewer = await accountKey(workspace, "viewer")
    const path = "products/none"
    await viewer.as("nonsense").in("none").refuse("401", "PATCH", path, { type: "boat" })
    await viewer.in("none").refuse("400 type", "PATCH", path, { type: "boat" })
    await viewer.in("none").refuse("404 workspace", "PATCH", path, {})
    await viewer.refuse("403 role_too_low", "PATCH", path, {})
    await workspace.refuse("404 product", "PATCH", path, {})
  })

  test("serves health, readiness, keys, the API description and its page without a key", async (owner) => {
    const nobody = owner.as(undefined)
    for (const path of ["/health", "/ready"]) assert.deepStrictEqual(await nobody.get<unknown>(path), { status: "ok" })
    const { paths } = await nobody.get<{ paths: object }>("/openapi.json")
    assert.property(paths, "/v1/workspaces/{slug}/test-runs/{run}/files/{path}")
    // Made for whoever asks first, kept for the others.
    const pages = await Promise.all([nobody.send("GET", "/docs"), nobody.send("GET", "/docs")])
    for (const page of [...pages, await nobody.send("GET", "/docs")]) {
      assert.strictEqual(page.status, 200)
      assert.match(String(page.headers["content-type"]), /text\/html/)
      assert.include(page.text, "/v1/workspaces/{slug}/test-runs/{run}/files/{path}")
      assert.strictEqual(page.text, pages[0].text)
    }
    const { keys } = await nobody.get<{ keys: ReadonlyArray<unknown> }>("/.well-known/jwks.json")
    assert.isNotEmpty(keys)
  })

  test("keeps the page of the API description out of frames, and from asking any other host", async (owner) => {
    const { headers, text } = await owner.as(undefined).send("GET", "/docs")
    assert.strictEqual(headers["x-frame-options"], "DENY")
    const policy = Object.fromEntries(
      String(headers["content-security-policy"])
        .split("; ")
        .map((directive) => [directive.split(" ", 1)[0]!, directive.split(" ").slice(1)])
    )
    const scripts = Array.from(
      text.matchAll(/<script>([\s\S]*?)<\/script>/g),
      ([, script]) => `'sha256-${hash("sha256", script!, "base64")}'`
    )
    assert.lengthOf(scripts, 2)
    assert.deepStrictEqual(policy, {
      "default-src": ["'none'"],
      "script-src": scripts,
      "style-src": ["'unsafe-inline'"],
      "img-src": ["'self'", "data:"],
      "font-src": ["'self'", "data:"],
      "connect-src": ["'self'"],
      "base-uri": ["'none'"],
      "form-action": ["'none'"],
      "frame-ancestors": ["'none'"]
    })
    assert.notMatch(text, /scalar\.com/)
    assert.include(text, '"withDefaultFonts":false')
    assert.isUndefined(headers["strict-transport-security"])
  })

  test("keeps answers with keys, invites and tokens out of caches", async (owner) => {
    const at = await newDeployment(owner)
    const start = {
      product: "shop",
      environment: "staging",
      baseUrl: "https://staging.shop.example.com",
      git: { branch: "main", sha: "9fceb02", dirty: false, subject: "Add the basket" },
      machine: { hostname: "ci-7", platform: "linux" },
      selection: { coverage: null, folders: [], caseIds: [] }
    }
    const invite = await at.send<{ token: string }>("POST", "invites", {
      json: { email: `${unique("ada")}@example.com`, role: "member" }
    })
    const accepted = { token: invite.body.token, name: "Ada" }
    const answers = [
      invite,
      await at.as(undefined).send("POST", "/v1/invites/accept", { json: accepted }),
      await at.send("POST", "/v1/api-keys", { json: { name: "ci" } }),
      await at.send("POST", "account-api-keys", { json: { name: "ci", role: "member" } }),
      await at.send("POST", "test-runs", { json: start })
    ]
    for (const { headers, status, text } of answers) {
      assert.oneOf(status, [200, 201], text)
      assert.match(text, /[a-z]tk_/)
      assert.strictEqual(headers["cache-control"], "no-store")
    }
  })
})

const port = await freePort()

onEachServer(
  "a server that is reached by https",
  (test) => {
    test("tells browsers to come by https alone, whatever the answer", async (owner) => {
      const direct = http(`http://127.0.0.1:${port}`, owner.key, owner.workspace)
      for (const path of ["/health", "/v1/me", "/nothing", "/docs"]) {
        const { headers } = await direct.send("GET", path)
        assert.strictEqual(headers["strict-transport-security"], "max-age=31536000", path)
      }
    })
  },
  { BASE_URL: "https://delivery.example.com", PORT: String(port) }
)
