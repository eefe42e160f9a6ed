import type { SignedUrl } from "@delivery/domain/runs/SignedUrl"
import { hash } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { assert } from "vitest"
import {
  type Answer,
  eventually,
  type Http,
  join,
  newDeployment,
  onEachServer,
  refusal,
  sendRequest,
  startRun,
  withClockOnEachServer
} from "../support/Http.ts"

/** The origin of files that others wrote, and the URLs that are signed for it (docs/contract.md, The origin of files). */

const content = "0123456789"

/** A run with a file, in a workspace of its own. */
const runWith = async (owner: Http, path: string, body = content) => {
  const workspace = await newDeployment(owner)
  const { number } = await startRun(workspace)
  const put = (text: string) =>
    workspace.send("PUT", `test-runs/${number}/files/${path.split("/").map(encodeURIComponent).join("/")}`, {
      body: text,
      headers: { "content-type": "application/zip" }
    })
  assert.strictEqual((await put(body)).status, 201)
  const sign = (by: Http = workspace, file = path) =>
    by.send<SignedUrl>("POST", `test-runs/${number}/signed-urls`, { json: { path: file } })
  return { workspace, number, put, sign }
}

type Headers = Readonly<Record<string, string>>

/** Asks for a URL as a browser does: at the same server, by its host, without a credential unless one is given. */
const visit = <A>(http: Http, url: string, headers: Headers = {}, method = "GET"): Promise<Answer<A>> => {
  const { host, pathname, search } = new URL(url)
  return http.as(undefined).send(method, `${pathname}${search}`, { headers: { host, ...headers } })
}

/** Opens a URL as a person does, who reads what is answered. */
const open = async (http: Http, url: string) => {
  const { host, pathname, search } = new URL(url)
  const outgoing = http.as(undefined).open("GET", `${pathname}${search}`, { host, accept: "text/html" })
  outgoing.end()
  const [response] = (await once(outgoing, "response")) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, text: await text(response) }
}

const app = "https://app.example.com"

withClockOnEachServer(
  "Signed URLs",
  (test) => {
    test("read the file without a credential, as downloads do, and for 5 minutes", async (owner, advance) => {
      const path = "checkout/pays; by card/trace #1%.zip"
      const { sign, workspace } = await runWith(owner, path)
      const signed = await sign()
      assert.strictEqual(signed.status, 200)
      assert.strictEqual(signed.headers["cache-control"], "no-store")
      const { expiresAt, traceViewerUrl, url } = signed.body
      assert.strictEqual(new URL(url).origin, `http://files.localhost:${new URL(owner.baseUrl).port}`)
      assert.strictEqual(traceViewerUrl, null)

      const answer = await visit(workspace, url, { origin: app, cookie: "__Host-session=wtk_none" })
      assert.deepStrictEqual([answer.status, answer.text], [200, content])
      assert.deepInclude(answer.headers, {
        "content-type": "application/zip",
        "content-length": "10",
        etag: `"${hash("sha256", content)}"`,
        "cache-control": "private, no-cache",
        "content-security-policy": "sandbox; default-src 'none'",
        "content-disposition": "attachment",
        "cross-origin-resource-policy": "same-origin",
        "x-content-type-options": "nosniff"
      })
      assert.notProperty(answer.headers, "set-cookie")
      assert.notProperty(answer.headers, "access-control-allow-origin")

      const part = await visit(workspace, url, { range: "bytes=2-4" })
      assert.deepStrictEqual([part.status, part.text, part.headers["content-range"]], [206, "234", "bytes 2-4/10"])
      assert.strictEqual((await visit(workspace, url, { range: "bytes=10-" })).status, 416)
      const head = await visit(workspace, url, {}, "HEAD")
      assert.deepStrictEqual([head.status, head.headers["content-length"], head.text], [200, "10", ""])
      const known = await visit(workspace, url, { "if-none-match": String(answer.headers.etag) })
      assert.strictEqual(known.status, 304)

      const left = Date.parse(expiresAt) - Number(new URL(url).searchParams.get("expires"))
      assert.strictEqual(left, 0)
      advance("299999 millis")
      assert.strictEqual((await visit(workspace, url)).status, 200)
      advance("1 millis")
      assert.strictEqual(refusal(await visit(workspace, url)), "403 expired_url")
      const read = await open(workspace, url)
      assert.strictEqual(read.status, 403)
      assert.match(read.text, /<h1 id="title">This link does not work<\/h1>[^]*works for 5 minutes/)
      assert.include(read.text, `<a href="${owner.baseUrl}">`)
    })

    test("are of one file of one run of one workspace, and of its content", async (owner) => {
      const { put, sign, workspace } = await runWith(owner, "a/trace.zip")
      const other = await runWith(owner, "a/trace.zip")
      const { url } = (await sign()).body
      const [, , , run] = new URL(url).pathname.split("/")
      const of = new URL((await other.sign()).body.url)
      const changed = (change: (url: URL) => void) => {
        const copy = new URL(url)
        change(copy)
        assert.notStrictEqual(copy.href, url)
        return copy.href
      }
      const signature = new URL(url).searchParams.get("signature")!
      const last = signature.at(-1)
      const wrong = {
        "another workspace": changed((one) => (one.pathname = of.pathname.replace(/\/\d+\//, `/${run}/`))),
        "another run": changed((one) => (one.pathname = one.pathname.replace(/\/\d+\//, "/999/"))),
        "another path": changed((one) => (one.pathname += "x")),
        "another content": changed((one) => one.searchParams.set("sha256", "0".repeat(64))),
        "a later time": changed((one) =>
          one.searchParams.set("expires", String(Number(one.searchParams.get("expires")) + 1))
        ),
        "the signature of another file": changed((one) =>
          one.searchParams.set("signature", of.searchParams.get("signature")!)
        ),
        "another signature": changed((one) =>
          one.searchParams.set("signature", (signature.startsWith("A") ? "B" : "A") + signature.slice(1))
        ),
        // Bits that say nothing: the same bytes in another spelling.
        "the same signature, spelt otherwise": changed((one) =>
          one.searchParams.set("signature", signature.slice(0, -1) + String.fromCharCode(last!.charCodeAt(0) + 1))
        ),
        "a padded signature": changed((one) => one.searchParams.set("signature", `${signature}=`)),
        "half a signature": changed((one) => one.searchParams.set("signature", signature.slice(0, 20))),
        "no signature": changed((one) => one.searchParams.delete("signature")),
        "a path that is none": changed((one) => (one.pathname = "/files/a")),
        "a path that cannot be decoded": changed((one) => (one.pathname += "%E0%A4%A"))
      }
      for (const [name, href] of Object.entries(wrong)) {
        assert.strictEqual(refusal(await visit(workspace, href)), "403 invalid_url", name)
      }
      assert.strictEqual((await visit(workspace, url)).text, content)
      assert.strictEqual((await put("replaced")).status, 200)
      assert.strictEqual(refusal(await visit(workspace, url)), "404 file")
      assert.strictEqual((await visit(workspace, (await sign()).body.url)).text, "replaced")
    })

    test("are for whoever may read the file, and of files that are there", async (owner) => {
      const { sign, workspace } = await runWith(owner, "trace.zip")
      assert.strictEqual((await sign(await join(workspace, "viewer"))).status, 200)
      assert.strictEqual(refusal(await sign(workspace.as("ctk_no"))), "401")
      assert.strictEqual(refusal(await sign(workspace, "other.zip")), "404 file")
      assert.strictEqual(refusal(await sign(workspace, "../trace.zip")), "400 path")
      assert.strictEqual(refusal(await sign(workspace, "")), "400 path")
    })
  },
  { CORS_ORIGINS: app }
)

onEachServer(
  "The origin of files",
  (test) => {
    const originOf = ({ baseUrl }: Http) => `http://files.localhost:${new URL(baseUrl).port}`

    test("answers nothing of the service, whoever asks", async (owner) => {
      const origin = originOf(owner)
      const { host } = new URL(origin)
      for (const path of [
        "/",
        "/v1/me",
        "/v1/workspaces/main",
        "//v1/me",
        "/trace-viewer/../v1/me",
        "/files/../v1/me",
        "/auth/v1/methods",
        "/sign-in",
        "/authorize",
        "/w/main",
        "/icon.svg",
        "/inter.woff2",
        "/docs",
        "/openapi.json",
        "/health",
        "/ready",
        "/metrics",
        "/.well-known/jwks.json",
        "/deploy/v1/secrets"
      ]) {
        const answer = await owner.send("GET", path, { headers: { host, origin: app } })
        assert.strictEqual(answer.status, 404, path)
        assert.notProperty(answer.headers, "access-control-allow-origin")
        assert.notProperty(answer.headers, "set-cookie")
        assert.strictEqual((await owner.send("POST", path, { headers: { host }, json: {} })).status, 404, path)
      }
      const preflight = { host, origin: app, "access-control-request-method": "GET" }
      const answer = await owner.send("OPTIONS", "/v1/me", { headers: preflight })
      assert.strictEqual(answer.status, 404)
      assert.notProperty(answer.headers, "access-control-allow-methods")
      // The authority of the target is what counts (RFC 9112, section 3.2.2).
      const { host: ownHost } = new URL(owner.baseUrl)
      const absolute = await sendRequest(
        owner,
        `GET ${origin}/v1/me HTTP/1.1\r\nhost: ${ownHost}\r\nconnection: close\r\n\r\n`
      )
      assert.strictEqual(absolute.status, 404)
      const lost = await open(owner, `${origin}/v1/me`)
      assert.match(lost.text, /<h1 id="title">There is no such file<\/h1>/)
    })

    test("is known by its host, in any case, and no other host answers its files", async (owner) => {
      const { sign } = await runWith(owner, "trace.zip")
      const url = new URL((await sign()).body.url)
      const ask = (host: string) =>
        owner.as(undefined).send("GET", `${url.pathname}${url.search}`, { headers: { host } })
      for (const host of [url.host, url.host.toUpperCase()]) assert.strictEqual((await ask(host)).text, content, host)
      for (const host of [
        new URL(owner.baseUrl).host,
        "files.localhost",
        `${url.hostname}.:${url.port}`,
        "localhost"
      ]) {
        assert.strictEqual((await ask(host)).status, 404, host)
      }
    })

    test("has Playwright's trace viewer for files of this server, with its notices", async (owner) => {
      const { sign, workspace } = await runWith(owner, "trace.zip")
      const viewer = (await sign()).body.traceViewerUrl!
      const answer = await eventually(
        () => open(workspace, viewer),
        ({ status }) => status !== 503
      )
      assert.strictEqual(answer.status, 200)
      assert.include(answer.text, "<title>Playwright Trace Viewer</title>")
      const policy = String(answer.headers["content-security-policy"])
      assert.match(policy, /script-src 'self' 'sha256-[^']+';/)
      for (const part of ["default-src 'none'", "connect-src 'self';", "frame-ancestors 'none'"]) {
        assert.include(policy, part)
      }
      const at = (path: string) => `${originOf(owner)}/trace-viewer/${path}`
      const worker = await visit(workspace, at("sw.bundle.js"), { "accept-encoding": "br" })
      assert.deepInclude(worker.headers, { "cache-control": "no-cache", "content-encoding": "br" })
      assert.include(String(worker.headers["content-security-policy"]), "connect-src 'self';")
      const script = /src="\.\/(index\.[^"]+\.js)"/.exec(answer.text)![1]!
      assert.match(String((await visit(workspace, at(script))).headers["cache-control"]), /immutable/)
      assert.include((await visit(workspace, at("LICENSE"))).text, "Apache License")
      assert.include((await visit(workspace, at("NOTICE"))).text, "Microsoft Corporation")

      for (const trace of [
        "",
        "https://evil.example/trace.zip",
        `${originOf(owner)}/files/a/1/b?signature=x`,
        "data:,"
      ]) {
        const refused = await visit(workspace, at(`?${new URLSearchParams({ trace })}`))
        assert.strictEqual(refusal(refused), "403 invalid_url", trace)
      }
      assert.strictEqual((await visit(workspace, at(""))).status, 403)
      assert.strictEqual((await visit(workspace, at("index.html"))).status, 403)
      assert.strictEqual((await visit(workspace, at("package.json"))).status, 404)
      const { pathname, search } = new URL(viewer)
      assert.strictEqual((await owner.send("GET", `${pathname}${search}`)).status, 404)
      assert.strictEqual((await owner.send("GET", "/trace-viewer/sw.bundle.js")).status, 404)
    })
  },
  { CORS_ORIGINS: app, WEBSITE: "true", METRICS: "true" }
)

onEachServer(
  "A server without an origin for files",
  (test) => {
    test("signs no URL", async (owner) => {
      const { sign } = await runWith(owner, "trace.zip")
      assert.strictEqual(refusal(await sign()), "409 no_files_origin")
      const host = `files.localhost:${new URL(owner.baseUrl).port}`
      assert.strictEqual((await owner.send("GET", "/health", { headers: { host } })).status, 200)
    })
  },
  { FILES_ORIGIN: "false" }
)
