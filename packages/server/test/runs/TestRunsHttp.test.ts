import { assert, describe, layer } from "@effect/vitest"
import type { StoredFile } from "@delivery/domain/runs/StoredFile"
import type { StartedTestRun, TestRun, TestRunPage } from "@delivery/domain/runs/TestRun"
import { Effect, Redacted } from "effect"
import { createLocalJWKSet, jwtVerify } from "jose"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { type ClientRequest, type IncomingMessage, request } from "node:http"
import { DeliveryServer } from "../../src/cli/TestServer.ts"
import { unique } from "../identity/Scene.ts"
import { servers } from "../support/Servers.ts"
import { finishBody, git, machine, report, selection } from "./Scene.ts"

/** Test runs and their files over a real socket. */

interface Answer<Body = unknown> {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: Buffer
  readonly body: Body
}

const read = async (response: IncomingMessage): Promise<Answer<never>> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true && bytes[0] === 0x7b
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as Record<string, string>,
    bytes,
    body: (isJson ? JSON.parse(bytes.toString()) : undefined) as never
  }
}

/** Sends a request just as it is given; the answer may come before the body is sent. */
const begin = (
  method: string,
  path: string,
  headers: Record<string, string>
): Effect.Effect<{ readonly call: ClientRequest; readonly answered: Promise<Answer<never>> }, never, DeliveryServer> =>
  Effect.map(DeliveryServer, ({ apiKey, baseUrl, workspace }) => {
    const { hostname, port } = new URL(baseUrl)
    const call = request({
      hostname,
      port,
      method,
      // As it stands: a URL would lose its dots.
      path: `/v1/workspaces/${workspace}${path}`,
      headers: { authorization: `Bearer ${Redacted.value(apiKey)}`, ...headers }
    })
    const answered = once(call, "response").then(([response]) => read(response as IncomingMessage))
    answered.catch(() => {})
    return { call, answered }
  })

const send = Effect.fnUntraced(function* <Body = unknown>(
  method: string,
  path: string,
  content?: Buffer | string | object,
  headers: Record<string, string> = {}
) {
  const isRaw = content === undefined || typeof content === "string" || Buffer.isBuffer(content)
  const bytes = Buffer.from(isRaw ? (content ?? "") : JSON.stringify(content))
  const length = content === undefined ? {} : { "content-length": String(bytes.length) }
  const type = isRaw ? {} : { "content-type": "application/json" }
  const { answered, call } = yield* begin(method, path, { ...type, ...length, ...headers })
  call.on("error", () => {})
  call.end(bytes)
  return (yield* Effect.promise(() => answered)) as Answer<Body>
})

const upload = (path: string, content: Buffer | string, headers: Record<string, string> = {}) =>
  send<StoredFile>("PUT", path, content, { "content-type": "text/plain", ...headers })

/** A new deployed product, and the body that starts a run of it. */
const makeDeployed = Effect.fnUntraced(function* (fields: { readonly fixtureUrl?: string } = {}) {
  const [product, environment] = [unique("product"), unique("environment")]
  yield* send("POST", "/products", { slug: product, name: product, type: "website" })
  yield* send("POST", "/environments", { slug: environment, name: environment, class: "non-production" })
  const deployment = { product, environment, baseUrl: "https://shop.example", ...fields }
  assert.strictEqual((yield* send("POST", "/deployments", deployment)).status, 201)
  return { product, environment, baseUrl: "https://preview.example", git, machine, selection }
})

const startRun = Effect.gen(function* () {
  const started = yield* send<StartedTestRun>("POST", "/test-runs", yield* makeDeployed())
  assert.strictEqual(started.status, 201)
  return started.body.number
})

const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex")
const text = "0123456789"

for (const [name, server] of servers) {
  describe(`test runs on ${name}`, () => {
    layer(server(), { excludeTestServices: true })((it) => {
      it.effect("are started, read, listed and finished", () =>
        Effect.gen(function* () {
          const { baseUrl, workspace } = yield* DeliveryServer
          const body = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
          const started = yield* send<StartedTestRun>("POST", "/test-runs", body)
          assert.strictEqual(started.status, 201)
          const { fixture, number, url } = started.body
          assert.strictEqual(url, `${baseUrl}/w/${workspace}/test-runs/${number}`)

          const jwks = yield* Effect.promise(() => fetch(`${baseUrl}/.well-known/jwks.json`).then((r) => r.json()))
          const verified = yield* Effect.promise(() =>
            jwtVerify(fixture!.token, createLocalJWKSet(jwks as never), { issuer: baseUrl, audience: fixture!.url })
          )
          assert.strictEqual(verified.payload["scope"], fixture!.scope)
          assert.strictEqual(verified.payload.exp, Math.floor(Date.parse(fixture!.expiresAt) / 1000))

          const running = yield* send<TestRun>("GET", `/test-runs/${number}`)
          assert.deepInclude(running.body, { number, url, state: "running", tests: [], retries: [] })
          const finished = yield* send<TestRun>("POST", `/test-runs/${number}/finish`, finishBody())
          assert.strictEqual(finished.status, 200)
          assert.deepInclude(finished.body, { state: "finished", result: "failed" })
          assert.notProperty(finished.body, "tests")
          const again = yield* send<{ reason: string }>("POST", `/test-runs/${number}/finish`, finishBody())
          assert.deepStrictEqual([again.status, again.body.reason], [409, "not_running"])
          const read = yield* send<TestRun>("GET", `/test-runs/${number}`)
          assert.deepStrictEqual(
            read.body.tests.map((test) => test.caseId),
            ["b", "a"]
          )
          const listed = yield* send<TestRunPage>("GET", `/test-runs?product=${body.product}&mine=true&result=failed`)
          assert.deepStrictEqual(listed.body, { runs: [finished.body as never], nextCursor: null })
        })
      )

      it.effect("answer what is wrong with a request", () =>
        Effect.gen(function* () {
          const status = (path: string) => Effect.map(send("GET", path), (answer) => answer.status)
          for (const path of ["0", "x", "1.5", "-1", "99999999999", "2147483647", "2147483648", "%20"]) {
            assert.strictEqual(yield* status(`/test-runs/${path}`), 404, path)
          }
          for (const query of [
            "cursor=0",
            "cursor=x",
            "cursor=",
            "cursor=1.5",
            "result=",
            "mine=yes",
            "q=",
            "product="
          ]) {
            assert.strictEqual(yield* status(`/test-runs?${query}`), 400, query)
          }
          assert.strictEqual(yield* status("/test-runs?mine=false&cursor=2147483647"), 200)
          assert.strictEqual(yield* status("/test-runs?product=none"), 404)
        })
      )

      it.effect(
        "take 5,000 tests of the worst kind and no more",
        () =>
          Effect.gen(function* () {
            const number = yield* startRun
            const many = (count: number) => Array.from({ length: count }, (_, i) => report(`case ${i}`))
            const tooMany = yield* send("POST", `/test-runs/${number}/finish`, finishBody({ tests: many(5_001) }))
            assert.strictEqual(tooMany.status, 400)
            const twice = yield* send(
              "POST",
              `/test-runs/${number}/finish`,
              finishBody({ tests: [...many(2), ...many(1)] })
            )
            assert.strictEqual(twice.status, 400)
            const stack = `\u{1F4A5}${"x".repeat(5_000)}`
            const worst = many(5_000).map((test) => ({
              ...test,
              attempt: { ...finishBody().tests[1]!.attempt!, errorStack: stack }
            }))
            const finished = yield* send<TestRun>(
              "POST",
              `/test-runs/${number}/finish`,
              finishBody({ tests: worst as never })
            )
            assert.strictEqual(finished.status, 200)
            assert.strictEqual(finished.body.counts.failed, 5_000)
            const read = yield* send<TestRun>("GET", `/test-runs/${number}`)
            assert.strictEqual(read.body.tests.length, 5_000)
            assert.strictEqual(read.body.tests[4_999]?.attempts[0]?.errorStack, stack)
          }),
        60_000
      )
    })
  })

  describe(`files of test runs on ${name}`, () => {
    layer(server(), { excludeTestServices: true })((it) => {
      it.effect("are stored and replaced", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/a/b%20c.txt`
          const created = yield* upload(path, text)
          assert.strictEqual(created.status, 201)
          assert.deepStrictEqual(created.body, {
            path: "a/b c.txt",
            size: 10,
            contentType: "text/plain",
            sha256: sha256(text),
            createdAt: created.body.createdAt
          })
          assert.strictEqual(created.headers["etag"], `"${sha256(text)}"`)
          const replaced = yield* upload(path, "another", { "content-type": "text/html" })
          assert.strictEqual(replaced.status, 200)
          const read = yield* send("GET", path)
          assert.strictEqual(read.bytes.toString(), "another")
          assert.deepInclude(read.headers, {
            "content-type": "text/html",
            "content-length": "7",
            etag: `"${sha256("another")}"`,
            "accept-ranges": "bytes",
            "x-content-type-options": "nosniff",
            "content-security-policy": "sandbox",
            "last-modified": new Date(replaced.body.createdAt).toUTCString()
          })
        })
      )

      it.effect("have paths of many segments, with slashes as they are or encoded", () =>
        Effect.gen(function* () {
          const files = `/test-runs/${yield* startRun}/files/`
          const long = Array.from({ length: 50 }, (_, i) => `part ${i} ü`).join("/")
          assert.isBelow(long.length, 513)
          const encoded = encodeURIComponent(long)
          assert.strictEqual((yield* upload(files + encoded, text)).body.path, long)
          assert.strictEqual((yield* send("GET", files + encoded.replaceAll("%2F", "/"))).bytes.toString(), text)
          assert.strictEqual((yield* upload(`${files}a%252Fb`, text)).body.path, "a%2Fb")
          assert.strictEqual((yield* send("GET", `${files}a/b`)).status, 404)
          const longest = "x".repeat(512)
          assert.strictEqual((yield* upload(files + longest, text)).status, 201)
          assert.strictEqual((yield* upload(`${files}${longest}x`, text)).status, 400)
          for (const wrong of ["a//b", "%2e", "a/%2e%2e/b", "a%5Cb", "a%00b", "a%0Ab", "a/"]) {
            assert.strictEqual((yield* upload(files + wrong, text)).status, 400, wrong)
            assert.strictEqual((yield* send("GET", files + wrong)).status, 400, wrong)
          }
        })
      )

      it.effect("keep every byte of large ones", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/large`
          const bytes = randomBytes(8_000_003)
          const { body } = yield* upload(path, bytes)
          assert.strictEqual(body.sha256, sha256(bytes))
          assert.isTrue((yield* send("GET", path)).bytes.equals(bytes))
          const part = yield* send("GET", path, undefined, { range: "bytes=7999999-" })
          assert.isTrue(part.bytes.equals(bytes.subarray(7_999_999)))
        })
      )

      it.effect("are answered in parts", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/f`
          const {
            headers: { etag },
            body: { createdAt }
          } = yield* upload(path, text)
          const ask = (headers: Record<string, string>) =>
            Effect.map(send("GET", path, undefined, headers), (answer) => [
              answer.status,
              answer.bytes.toString(),
              answer.headers["content-range"]
            ])
          assert.deepStrictEqual(yield* ask({ range: "bytes=2-4" }), [206, "234", "bytes 2-4/10"])
          assert.deepStrictEqual(yield* ask({ range: "bytes=-3" }), [206, "789", "bytes 7-9/10"])
          assert.deepStrictEqual(yield* ask({ range: "bytes=8-100" }), [206, "89", "bytes 8-9/10"])
          assert.deepStrictEqual(yield* ask({ range: "bytes=0-1,3-4" }), [200, text, undefined])
          assert.deepStrictEqual(yield* ask({ range: "nonsense" }), [200, text, undefined])
          assert.deepStrictEqual(yield* ask({ range: "bytes=2-4", "if-range": etag! }), [206, "234", "bytes 2-4/10"])
          assert.deepStrictEqual(yield* ask({ range: "bytes=2-4", "if-range": '"other"' }), [200, text, undefined])
          const date = new Date(createdAt).toUTCString()
          assert.deepStrictEqual(yield* ask({ range: "bytes=2-4", "if-range": date }), [206, "234", "bytes 2-4/10"])

          const beyond = yield* send<{ _tag: string; message: string }>("GET", path, undefined, { range: "bytes=10-" })
          assert.deepStrictEqual([beyond.status, beyond.headers["content-range"]], [416, "bytes */10"])
          assert.strictEqual(beyond.body._tag, "InvalidInput")
          assert.strictEqual(beyond.headers["x-content-type-options"], "nosniff")
        })
      )

      it.effect("are not sent to whom has them", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/f`
          const {
            headers: { etag }
          } = yield* upload(path, text)
          for (const known of [etag!, `W/${etag}`, `"x", ${etag}`, "*"]) {
            const answer = yield* send("GET", path, undefined, { "if-none-match": known, range: "bytes=0-1" })
            assert.deepStrictEqual([answer.status, answer.bytes.length, answer.headers["etag"]], [304, 0, etag])
          }
          assert.strictEqual((yield* send("GET", path, undefined, { "if-none-match": '"x"' })).status, 200)
        })
      )

      it.effect("have heads without bodies", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/f`
          const {
            headers: { etag }
          } = yield* upload(path, text)
          const head = yield* send("HEAD", path, undefined, { range: "bytes=0-1" })
          assert.deepStrictEqual([head.status, head.bytes.length], [200, 0])
          assert.deepInclude(head.headers, { "content-length": "10", "content-type": "text/plain", etag })
          assert.strictEqual((yield* send("HEAD", path, undefined, { "if-none-match": etag! })).status, 304)
          assert.strictEqual((yield* send("HEAD", `${path}x`)).status, 404)
        })
      )

      it.effect("are sandboxed where a browser could run them", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/f`
          const policyOf = Effect.fnUntraced(function* (type: string) {
            yield* upload(path, text, { "content-type": type })
            const { headers } = yield* send("GET", path)
            assert.strictEqual(headers["x-content-type-options"], "nosniff")
            return headers["content-security-policy"]
          })
          for (const type of [
            "text/html",
            "TEXT/HTML; charset=utf-8",
            "image/svg+xml",
            "application/xml",
            "text/xml",
            "application/xhtml+xml",
            "text/xsl"
          ]) {
            assert.strictEqual(yield* policyOf(type), "sandbox", type)
          }
          for (const type of ["text/plain", "image/png", "application/zip", "application/json"]) {
            assert.strictEqual(yield* policyOf(type), undefined, type)
          }
        })
      )

      it.effect("are refused without a right length, before they are read", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/f`
          const chunked = yield* begin("PUT", path, { "transfer-encoding": "chunked" })
          chunked.call.on("error", () => {})
          chunked.call.write("part")
          const refused = (yield* Effect.promise(() => chunked.answered)) as Answer<{ message: string }>
          chunked.call.destroy()
          assert.deepStrictEqual(
            [refused.status, refused.body.message],
            [400, "Content-Length: The header is required"]
          )

          const large = yield* begin("PUT", path, { "content-length": "104857601" })
          large.call.on("error", () => {})
          large.call.flushHeaders()
          const tooLarge = (yield* Effect.promise(() => large.answered)) as Answer<{ message: string }>
          large.call.destroy()
          assert.strictEqual(tooLarge.status, 400)
          assert.match(tooLarge.body.message, /at most 104857600 bytes/)
          assert.strictEqual((yield* send("GET", path)).status, 404)
        })
      )

      it.effect("are empty too, and of no type", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/empty`
          const stored = yield* send<StoredFile>("PUT", path, Buffer.alloc(0))
          assert.deepInclude(stored.body, { size: 0, contentType: "application/octet-stream", sha256: sha256("") })
          const read = yield* send("GET", path)
          assert.deepStrictEqual([read.status, read.headers["content-length"]], [200, "0"])
          assert.strictEqual((yield* send("GET", path, undefined, { range: "bytes=0-" })).status, 416)
        })
      )

      it.effect("are not there when their upload is broken off", () =>
        Effect.gen(function* () {
          const path = `/test-runs/${yield* startRun}/files/f`
          const { call } = yield* begin("PUT", path, { "content-length": "1000000" })
          call.on("error", () => {})
          call.write(randomBytes(500_000))
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
          call.destroy()
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
          assert.strictEqual((yield* send("GET", path)).status, 404)
          assert.strictEqual((yield* upload(path, text)).status, 201)
        })
      )

      it.effect("are taken while the run runs", () =>
        Effect.gen(function* () {
          const run = `/test-runs/${yield* startRun}`
          yield* upload(`${run}/files/f`, text)
          yield* send("POST", `${run}/finish`, finishBody())
          const late = (yield* upload(`${run}/files/g`, text)) as Answer<unknown> as Answer<{ reason: string }>
          assert.deepStrictEqual([late.status, late.body.reason], [409, "not_running"])
          assert.strictEqual((yield* send("GET", `${run}/files/f`)).status, 200)
          assert.strictEqual((yield* upload("/test-runs/999999/files/f", text)).status, 404)
        })
      )
    })
  })
}
