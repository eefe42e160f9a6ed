import type { StoredFile } from "@delivery/domain/runs/StoredFile"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { assert } from "vitest"
import {
  type Answer,
  answerOf,
  type ErrorBody,
  eventually,
  finishRun,
  type Http,
  newDeployment,
  onEachServer,
  startRun
} from "../support/Http.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Files of runs as HTTP has them: heads, parts, conditions, and uploads that are refused or broken off. */

const send = <A = ErrorBody>(
  http: Http,
  method: string,
  path: string,
  body?: Buffer | string,
  headers: Readonly<Record<string, string>> = {}
): Promise<Answer<A>> => http.send<A>(method, path, { body, headers })

const upload = (http: Http, path: string, body: Buffer | string, headers: Readonly<Record<string, string>> = {}) =>
  send<StoredFile>(http, "PUT", path, body, { "content-type": "text/plain", ...headers })

/** An upload of which the body is yet to be sent; the answer may come before. */
const begin = (http: Http, path: string, headers: Readonly<Record<string, string>>) => {
  const call = http.open("PUT", path, headers)
  call.on("error", () => {})
  const answered = answerOf<ErrorBody>(call)
  answered.catch(() => {})
  return { call, answered }
}

/** An error without its body. */
const statusOfHead = async (http: Http, path: string): Promise<number | undefined> => {
  const [response] = (await once(http.open("HEAD", path).end(), "response")) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex")
const text = "0123456789"

onEachServer(
  "files of test runs over HTTP",
  (test) => {
    test("are stored and replaced", async (owner) => {
      const http = await newDeployment(owner)
      const path = `test-runs/${(await startRun(http)).number}/files/a/b%20c.txt`
      const created = await upload(http, path, text)
      assert.strictEqual(created.status, 201)
      assert.deepStrictEqual(created.body, {
        path: "a/b c.txt",
        size: 10,
        contentType: "text/plain",
        sha256: sha256(text),
        createdAt: created.body.createdAt
      })
      assert.strictEqual(created.headers["etag"], `"${sha256(text)}"`)
      const replaced = await upload(http, path, "another", { "content-type": "text/html" })
      assert.strictEqual(replaced.status, 200)
      const read = await send(http, "GET", path)
      assert.strictEqual(read.bytes.toString(), "another")
      assert.deepInclude(read.headers, {
        "content-type": "text/html",
        "content-length": "7",
        etag: `"${sha256("another")}"`,
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'",
        "content-disposition": "attachment",
        "last-modified": new Date(replaced.body.createdAt).toUTCString()
      })
    })

    test("have paths of many segments, with slashes as they are or encoded", async (owner) => {
      const http = await newDeployment(owner)
      const files = `test-runs/${(await startRun(http)).number}/files/`
      const long = Array.from({ length: 50 }, (_, i) => `part ${i} ü`).join("/")
      assert.isBelow(long.length, 513)
      const encoded = encodeURIComponent(long)
      assert.strictEqual((await upload(http, files + encoded, text)).body.path, long)
      assert.strictEqual((await send(http, "GET", files + encoded.replaceAll("%2F", "/"))).bytes.toString(), text)
      assert.strictEqual((await upload(http, `${files}a%252Fb`, text)).body.path, "a%2Fb")
      assert.strictEqual((await send(http, "GET", `${files}a/b`)).status, 404)
      const longest = "x".repeat(512)
      assert.strictEqual((await upload(http, files + longest, text)).status, 201)
      assert.strictEqual((await upload(http, `${files}${longest}x`, text)).status, 400)
      for (const wrong of ["a//b", "%2e", "a/%2e%2e/b", "a%5Cb", "a%00b", "a%0Ab", "a/"]) {
        assert.strictEqual((await upload(http, files + wrong, text)).status, 400, wrong)
        assert.strictEqual((await send(http, "GET", files + wrong)).status, 400, wrong)
      }
    })

    test("keep every byte of large ones", async (owner) => {
      const http = await newDeployment(owner)
      const path = `test-runs/${(await startRun(http)).number}/files/large`
      const bytes = randomBytes(8_000_003)
      const { body } = await upload(http, path, bytes)
      assert.strictEqual(body.sha256, sha256(bytes))
      assert.isTrue((await send(http, "GET", path)).bytes.equals(bytes))
      const part = await send(http, "GET", path, undefined, { range: "bytes=7999999-" })
      assert.isTrue(part.bytes.equals(bytes.subarray(7_999_999)))
    })

    test("are answered in parts", async (owner) => {
      const http = await newDeployment(owner)
      const path = `test-runs/${(await startRun(http)).number}/files/f`
      const {
        headers: { etag },
        body: { createdAt }
      } = await upload(http, path, text)
      const ask = (headers: Record<string, string>) =>
        send(http, "GET", path, undefined, headers).then((answer) => [
          answer.status,
          answer.bytes.toString(),
          answer.headers["content-range"]
        ])
      assert.deepStrictEqual(await ask({ range: "bytes=2-4" }), [206, "234", "bytes 2-4/10"])
      assert.deepStrictEqual(await ask({ range: "bytes=-3" }), [206, "789", "bytes 7-9/10"])
      assert.deepStrictEqual(await ask({ range: "bytes=8-100" }), [206, "89", "bytes 8-9/10"])
      assert.deepStrictEqual(await ask({ range: "bytes=0-1,3-4" }), [200, text, undefined])
      assert.deepStrictEqual(await ask({ range: "nonsense" }), [200, text, undefined])
      assert.deepStrictEqual(await ask({ range: "bytes=2-4", "if-range": etag! }), [206, "234", "bytes 2-4/10"])
      assert.deepStrictEqual(await ask({ range: "bytes=2-4", "if-range": '"other"' }), [200, text, undefined])
      const date = new Date(createdAt).toUTCString()
      assert.deepStrictEqual(await ask({ range: "bytes=2-4", "if-range": date }), [206, "234", "bytes 2-4/10"])

      const beyond = await send<{ _tag: string; message: string }>(http, "GET", path, undefined, { range: "bytes=10-" })
      assert.deepStrictEqual([beyond.status, beyond.headers["content-range"]], [416, "bytes */10"])
      assert.strictEqual(beyond.body._tag, "InvalidInput")
      assert.strictEqual(beyond.headers["x-content-type-options"], "nosniff")
    })

    test("are not sent to a client that has them", async (owner) => {
      const http = await newDeployment(owner)
      const path = `test-runs/${(await startRun(http)).number}/files/f`
      const {
        headers: { etag }
      } = await upload(http, path, text)
      for (const known of [etag!, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const answer = await send(http, "GET", path, undefined, { "if-none-match": known, range: "bytes=0-1" })
        assert.deepStrictEqual([answer.status, answer.bytes.length, answer.headers["etag"]], [304, 0, etag])
      }
      assert.strictEqual((await send(http, "GET", path, undefined, { "if-none-match": '"x"' })).status, 200)
    })

    test("have heads without bodies", async (owner) => {
      const http = await newDeployment(owner)
      const path = `test-runs/${(await startRun(http)).number}/files/f`
      const {
        headers: { etag }
      } = await upload(http, path, text)
      const head = await send(http, "HEAD", path, undefined, { range: "bytes=0-1" })
      assert.deepStrictEqual([head.status, head.bytes.length], [200, 0])
      assert.deepInclude(head.headers, { "content-length": "10", "content-type": "text/plain", etag })
      assert.strictEqual((await send(http, "HEAD", path, undefined, { "if-none-match": etag! })).status, 304)
      assert.strictEqual(await statusOfHead(http, `${path}x`), 404)
    })

    test("are rejected without a valid length, before they are read", async (owner) => {
      const http = await newDeployment(owner)
      const path = `test-runs/${(await startRun(http)).number}/files/f`
      const chunked = begin(http, path, { "transfer-encoding": "chunked" })
      chunked.call.write("part")
      const refused = await chunked.answered
      chunked.call.destroy()
      assert.deepStrictEqual([refused.status, refused.body.message], [400, "Content-Length: The header is required."])

      const large = begin(http, path, { "content-length": "104857601" })
      large.call.flushHeaders()
      const tooLarge = await large.answered
      large.call.destroy()
      assert.strictEqual(tooLarge.status, 400)
      assert.match(tooLarge.body.message, /at most 104857600 bytes/)
      assert.strictEqual((await send(http, "GET", path)).status, 404)
    })

    test("may be empty and without a type", async (owner) => {
      const http = await newDeployment(owner)
      const path = `test-runs/${(await startRun(http)).number}/files/empty`
      const stored = await send<StoredFile>(http, "PUT", path, Buffer.alloc(0))
      assert.deepInclude(stored.body, { size: 0, contentType: "application/octet-stream", sha256: sha256("") })
      const read = await send(http, "GET", path)
      assert.deepStrictEqual([read.status, read.headers["content-length"]], [200, "0"])
      assert.strictEqual((await send(http, "GET", path, undefined, { range: "bytes=0-" })).status, 416)
    })

    test("are absent if their upload is aborted", async (owner) => {
      const http = await newDeployment(owner)
      const path = `test-runs/${(await startRun(http)).number}/files/f`
      const { call } = begin(http, path, { "content-length": "1000000" })
      const running = (count: number) =>
        eventually(
          async () => (await scrape(owner.baseUrl)).value("delivery_uploads_running"),
          (now) => now === count
        )
      call.write(randomBytes(500_000))
      await running(1)
      call.destroy()
      await running(0)
      assert.strictEqual((await send(http, "GET", path)).status, 404)
      assert.strictEqual((await upload(http, path, text)).status, 201)
    })

    test("are accepted while the run is running", async (owner) => {
      const http = await newDeployment(owner)
      const { number } = await startRun(http)
      const run = `test-runs/${number}`
      await upload(http, `${run}/files/f`, text)
      await finishRun(http, number)
      const late = await upload(http, `${run}/files/g`, text)
      assert.deepStrictEqual([late.status, (late as Answer as Answer<ErrorBody>).body.reason], [409, "not_running"])
      assert.strictEqual((await send(http, "GET", `${run}/files/f`)).status, 200)
      assert.strictEqual((await upload(http, "test-runs/999999/files/f", text)).status, 404)
    })
  },
  { METRICS: "true" }
)
