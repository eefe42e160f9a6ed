import type { Workspace } from "@delivery/domain/identity/Workspace"
import { maxFileBytes, type StoredFile } from "@delivery/domain/runs/StoredFile"
import { createHash, hash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join as joinPath } from "node:path"
import { Readable } from "node:stream"
import { afterAll, assert } from "vitest"
import {
  accountKey,
  type Answer,
  answerOf,
  assertTimestamp,
  attempt,
  eventually,
  finishRun,
  getRun,
  type Http,
  join,
  newDeployment,
  onEachServer,
  onServers,
  refusal,
  report,
  sendBytes,
  startRun,
  type Test
} from "../support/Http.ts"
import { startS3 } from "../support/S3Server.ts"
import { layerPostgresServer } from "../support/Servers.ts"

/** Files of test runs (docs/contract.md, Files). */

const DATA_DIR = mkdtempSync(joinPath(tmpdir(), "delivery-files-"))
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }))

const s3 = await startS3()
afterAll(s3.stop)

const sha256 = (content: string | Buffer) => hash("sha256", content)

/** The files of a run that has started. */
const newRun = async (owner: Http) => {
  const workspace = await newDeployment(owner)
  const { number } = await startRun(workspace)
  return { workspace, number, files: `test-runs/${number}/files` }
}

const put = (http: Http, path: string, body: string | Buffer | Readable, headers: Record<string, string> = {}) =>
  http.send<StoredFile>("PUT", path, { body, headers })

const stored = async (http: Http, path: string, body: string, headers: Record<string, string> = {}) => {
  const answer = await put(http, path, body, headers)
  assert.oneOf(answer.status, [200, 201], answer.text)
  return answer
}

const read = (http: Http, path: string, headers: Record<string, string> = {}) => http.send("GET", path, { headers })

/** An upload that the server has begun to read: it asks for the body. */
const begin = async (http: Http, path: string, length: number) => {
  const upload = http.open("PUT", path, { "content-length": String(length), expect: "100-continue" })
  const answer = answerOf<StoredFile>(upload)
  upload.flushHeaders()
  await once(upload, "continue")
  return { upload, answer }
}

const assertRefused = (http: Http, path: string, answer: Answer, expected: string) =>
  assert.strictEqual(refusal(answer), expected, `${http.workspace} ${path} ${answer.text}`)

const filesOfTestRuns = (test: Test<[owner: Http]>, server: string): void => {
  test("a new file is answered with 201 and its digest, and read back as it was sent", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const content = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const { body, headers, status } = await put(workspace, `${files}/checkout/trace.zip`, content, {
      "content-type": "application/zip; x=1"
    })
    assert.strictEqual(status, 201)
    assert.deepStrictEqual(body, {
      path: "checkout/trace.zip",
      size: 256,
      contentType: "application/zip; x=1",
      sha256: sha256(content),
      createdAt: body.createdAt
    })
    assertTimestamp(body.createdAt)
    assert.strictEqual(headers.etag, `"${sha256(content)}"`)

    const found = await read(workspace, `${files}/checkout/trace.zip`)
    assert.strictEqual(found.status, 200)
    assert.deepStrictEqual(found.bytes, content)
    assert.deepInclude(found.headers, {
      "content-type": "application/zip; x=1",
      "content-length": "256",
      etag: headers.etag,
      "last-modified": new Date(body.createdAt).toUTCString(),
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff"
    })
    const { id } = await workspace.get<Workspace>("")
    assert.deepStrictEqual((await read(workspace.in(id), `${files}/checkout/trace.zip`)).bytes, content)
  })

  test("a file sent again is replaced whole and answered with 200", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const first = await put(workspace, `${files}/a`, "first content", { "content-type": "text/plain" })
    const second = await put(workspace, `${files}/a`, "second", { "content-type": "text/html" })
    assert.deepStrictEqual([first.status, second.status], [201, 200])
    assert.deepInclude(second.body, { path: "a", size: 6, contentType: "text/html", sha256: sha256("second") })
    assert.strictEqual(second.headers.etag, `"${sha256("second")}"`)
    const found = await read(workspace, `${files}/a`)
    assert.strictEqual(found.text, "second")
    assert.deepInclude(found.headers, { "content-type": "text/html", etag: second.headers.etag })
    assert.strictEqual((await put(workspace, `${files}/a`, "second")).status, 200)
  })

  test("a file without a content type is application/octet-stream, and an empty one is a file too", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const { body, status } = await put(workspace, `${files}/empty`, "")
    assert.strictEqual(status, 201)
    assert.deepInclude(body, { size: 0, contentType: "application/octet-stream", sha256: sha256("") })
    const found = await read(workspace, `${files}/empty`)
    assert.deepStrictEqual([found.status, found.text, found.headers["content-length"]], [200, "", "0"])
    assert.strictEqual(found.headers["content-type"], "application/octet-stream")
    assertRefused(workspace, "empty", await read(workspace, `${files}/empty`, { range: "bytes=0-" }), "416 Range")
  })

  test("a malformed content type becomes application/octet-stream", async (owner) => {
    const { files, workspace } = await newRun(owner)
    for (const type of ["html", "text/plain, text/html", 'text/html; charset="x', "text/html; <script>"]) {
      const { body } = await stored(workspace, `${files}/a`, "<p>", { "content-type": type })
      assert.strictEqual(body.contentType, "application/octet-stream", type)
      const { headers } = await read(workspace, `${files}/a`)
      assert.strictEqual(headers["content-type"], "application/octet-stream")
      assert.strictEqual(headers["content-disposition"], "attachment")
    }
  })

  test("files of many paths and publishers of one path at once are each stored whole", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const contents = Array.from({ length: 24 }, (_, i) => String(i).repeat(50_000 + i))
    const answers = await Promise.all(contents.map((content, i) => put(workspace, `${files}/${i % 12}`, content)))
    assert.lengthOf(
      answers.filter(({ status }) => status === 201),
      12
    )
    assert.lengthOf(
      answers.filter(({ status }) => status === 200),
      12
    )
    for (let i = 0; i < 12; i++) {
      const { headers, text } = await read(workspace, `${files}/${i}`)
      assert.include([contents[i], contents[i + 12]], text)
      assert.strictEqual(headers.etag, `"${sha256(text)}"`)
    }
  })

  test("a file of 100 MiB is accepted; one byte more is rejected at the headers", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const length = { "content-length": String(maxFileBytes + 1) }
    const before = workspace.open("PUT", `${files}/large`, length)
    const refused = answerOf(before)
    before.flushHeaders()
    assertRefused(workspace, "large", await refused, "400 Content-Length")
    assert.strictEqual((await read(workspace, `${files}/large`)).status, 404)

    const digest = createHash("sha256")
    const mebibyte = 1024 * 1024
    const body = Readable.from(
      (function* () {
        for (let i = 0; i < maxFileBytes; i += mebibyte) {
          const chunk = Buffer.alloc(mebibyte, i / mebibyte)
          digest.update(chunk)
          yield chunk
        }
      })()
    )
    const answer = await put(workspace, `${files}/large`, body, { "content-length": String(maxFileBytes) })
    assert.strictEqual(answer.status, 201)
    assert.deepInclude(answer.body, { size: maxFileBytes, sha256: digest.digest("hex") })
    const end = await read(workspace, `${files}/large`, { range: `bytes=${maxFileBytes - mebibyte - 1}-` })
    assert.strictEqual(end.headers["content-range"], `bytes 103809023-104857599/${maxFileBytes}`)
    assert.deepStrictEqual(end.bytes, Buffer.concat([Buffer.of(98), Buffer.alloc(mebibyte, 99)]))
  })

  test("a body without a length, or with a wrong one, is refused and nothing is stored", async (owner) => {
    const { files, workspace } = await newRun(owner)
    assertRefused(workspace, "a", await put(workspace, `${files}/a`, Readable.from(["abc"])), "400 Content-Length")
    const none = workspace.open("PUT", `${files}/a`, { "transfer-encoding": "chunked" })
    const refused = answerOf(none)
    none.flushHeaders()
    assertRefused(workspace, "a", await refused, "400 Content-Length")
    const head = (length: string) =>
      `PUT /v1/workspaces/${workspace.workspace}/${files}/a HTTP/1.1\r\nHost: localhost\r\n` +
      `Authorization: Bearer ${workspace.key}\r\nContent-Length: ${length}\r\n\r\nabc`
    for (const length of ["4", "1000", "-3", "abc", "3.0", "3, 4", "0x3"]) {
      assertRefused(workspace, length, await sendBytes(workspace, head(length)), "400")
    }
    assert.strictEqual((await read(workspace, `${files}/a`)).status, 404)
  })

  test("an aborted upload leaves the previous file in place", async (owner) => {
    const { files, number, workspace } = await newRun(owner)
    await stored(workspace, `${files}/old`, "as before")
    for (const path of ["old", "new"]) {
      const { answer, upload } = await begin(workspace, `${files}/${path}`, 1000)
      upload.write("only a part")
      upload.destroy()
      assert.strictEqual(await answer.catch((error: NodeJS.ErrnoException) => error.code), "ECONNRESET")
    }
    assert.strictEqual((await read(workspace, `${files}/old`)).text, "as before")
    assert.strictEqual((await read(workspace, `${files}/new`)).status, 404)
    await stored(workspace, `${files}/new`, "at the second attempt")
    await finishRun(workspace, number)
    assert.strictEqual((await read(workspace, `${files}/new`)).text, "at the second attempt")
  })

  if (server === "PostgreSQL") {
    test("an aborted or replaced upload leaves nothing on disk", async (owner) => {
      const { files, number, workspace } = await newRun(owner)
      const { id } = await getRun(workspace, number)
      const onDisk = async () => {
        const entries = readdirSync(joinPath(DATA_DIR, "files"), { recursive: true, withFileTypes: true })
        return entries.filter((entry) => entry.isFile() && entry.parentPath.includes(id)).length
      }
      const { answer, upload } = await begin(workspace, `${files}/a`, 1000)
      upload.write("only a part")
      await eventually(onDisk, (count) => count === 1)
      upload.destroy()
      await answer.catch(() => {})
      await eventually(onDisk, (count) => count === 0)
      await stored(workspace, `${files}/a`, "first")
      await stored(workspace, `${files}/a`, "second")
      await eventually(onDisk, (count) => count === 1)
      assert.strictEqual((await read(workspace, `${files}/a`)).text, "second")
    })
  }

  if (server === "PostgreSQL and S3") {
    test("an aborted or replaced upload leaves nothing in S3", async (owner) => {
      const { files, number, workspace } = await newRun(owner)
      const { id } = await getRun(workspace, number)
      const inS3 = async () => s3.keys().filter((key) => key.startsWith(`files/${id}/`)).length
      const puts: Array<string> = []
      const count = (request: IncomingMessage, response: ServerResponse) => {
        if (request.method !== "PUT") return
        puts.push("begun")
        response.once("close", () => puts.push(response.statusCode === 200 ? "stored" : "broken off"))
      }
      s3.server.httpServer.prependListener("request", count)
      const { answer, upload } = await begin(workspace, `${files}/a`, 5_000_000)
      upload.write(Buffer.alloc(2_000_000))
      await eventually(
        async () => puts,
        () => puts.length === 1
      )
      upload.destroy()
      await answer.catch(() => {})
      await eventually(
        async () => puts,
        () => puts.length === 2
      )
      s3.server.httpServer.removeListener("request", count)
      assert.deepStrictEqual(puts, ["begun", "broken off"])
      await eventually(inS3, (count) => count === 0)
      await stored(workspace, `${files}/a`, "first")
      await stored(workspace, `${files}/a`, "second")
      await eventually(inS3, (count) => count === 1)
      assert.strictEqual((await read(workspace, `${files}/a`)).text, "second")
    })

    test("a fault of S3 is a fault of the request alone, with its id, and leaves nothing", async (owner) => {
      const { files, number, workspace } = await newRun(owner)
      const { id } = await getRun(workspace, number)
      await stored(workspace, `${files}/a`, "content")
      const { store } = s3.server
      const { getObject, putObject } = store
      store.putObject = store.getObject = () => Promise.reject(new Error("S3 is broken"))
      const faults = [
        await put(workspace, `${files}/b`, Buffer.alloc(10)),
        await put(workspace, `${files}/b`, Buffer.alloc(3_000_000)),
        await read(workspace, `${files}/a`)
      ]
      Object.assign(store, { getObject, putObject })
      for (const fault of faults) {
        assert.strictEqual(fault.status, 500)
        assert.deepStrictEqual(fault.body, {
          _tag: "Internal",
          message: "Something went wrong.",
          requestId: fault.headers["x-request-id"]
        } as never)
      }
      assert.strictEqual(s3.keys().filter((key) => key.startsWith(`files/${id}/`)).length, 1)
      assert.strictEqual((await read(workspace, `${files}/a`)).text, "content")
      assert.strictEqual((await put(workspace, `${files}/b`, "works again")).status, 201)
    })
  }

  test("a large file is stored and read back, whole and in parts, also while it is broken off", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const content = randomBytes(3 * 1024 * 1024 + 1)
    const { body } = await put(workspace, `${files}/large`, content)
    assert.deepInclude(body, { size: content.length, sha256: sha256(content) })
    assert.isTrue(content.equals((await read(workspace, `${files}/large`)).bytes))
    const part = await read(workspace, `${files}/large`, { range: "bytes=1048570-2097160" })
    assert.strictEqual(part.status, 206)
    assert.isTrue(content.subarray(1_048_570, 2_097_161).equals(part.bytes))
    for (let i = 0; i < 10; i++) {
      const download = workspace.open("GET", `${files}/large`)
      download.on("error", () => {})
      const responded = once(download, "response")
      download.end()
      const [response] = (await responded) as [IncomingMessage]
      await once(response, "data")
      download.destroy()
    }
    assert.isTrue(content.equals((await read(workspace, `${files}/large`)).bytes))
  })

  test("paths keep their segments, are decoded once, and a %2F parts segments too", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const paths: ReadonlyArray<readonly [sent: string, path: string]> = [
      ["a/b/c.txt", "a/b/c.txt"],
      ["d%2Fe%2ff", "d/e/f"],
      ["%252F", "%2F"],
      ["%2561", "%61"],
      ["what%3F%23now", "what?#now"],
      ["with%20space+plus", "with space+plus"],
      ["%C3%A4/%E6%97%A5%E6%9C%AC.png", "ä/日本.png"],
      ["%F0%9F%A7%AA", "🧪"],
      ["e%CC%81", "e\u0301"],
      ["...", "..."],
      [".hidden/..also/x..", ".hidden/..also/x.."],
      ["a:b*c|d~e'f(g)", "a:b*c|d~e'f(g)"],
      ["query?x=1", "query"],
      ["x".repeat(512), "x".repeat(512)],
      [`${"y/".repeat(255)}yy`, `${"y/".repeat(255)}yy`],
      ["%E6%97%A5".repeat(512), "日".repeat(512)]
    ]
    for (const [sent, path] of paths) {
      const { body, status, text } = await put(workspace, `${files}/${sent}`, path)
      assert.deepStrictEqual([status, body?.path], [201, path], text)
    }
    for (const [sent, path] of paths) {
      const written = path.split("/").map(encodeURIComponent)
      assert.strictEqual((await read(workspace, `${files}/${sent}`)).text, path)
      assert.strictEqual((await read(workspace, `${files}/${written.join("/")}`)).text, path)
      assert.strictEqual((await read(workspace, `${files}/${written.join("%2F")}`)).text, path)
    }
    assert.strictEqual((await read(workspace, `${files}/%C3%A9`)).status, 404)
  })

  test("paths that could lead elsewhere are refused, of uploads and downloads, before anything else is asked", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const wrong = [
      "..",
      "../x",
      "a/../b",
      "a/..",
      ".",
      "./a",
      "a/.",
      "%2e%2e/x",
      "..%2F..%2Fetc%2Fpasswd",
      "%2E",
      "a//b",
      "/a",
      "a/",
      "%2Fa",
      "a%2F",
      "a\\b",
      "a%5Cb",
      "%00",
      "a%00b",
      "a%0Ab",
      "a%7F",
      "a%C2%85",
      "x".repeat(513),
      `${"y/".repeat(256)}y`,
      "%E6%97%A5".repeat(513)
    ]
    for (const path of wrong) {
      assertRefused(workspace, path, await put(workspace, `${files}/${path}`, "x"), "400 path")
      assertRefused(workspace, path, await read(workspace, `${files}/${path}`), "400 path")
      assertRefused(workspace, path, await read(owner.in("none"), `test-runs/9/files/${path}`), "400 path")
      assertRefused(workspace, path, await read(workspace.as("none"), `${files}/${path}`), "401")
    }
    assert.strictEqual((await getRun(workspace, 1)).state, "running")
  })

  test("one range is answered in part, and one beyond the end with its size", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const { headers: whole } = await stored(workspace, `${files}/digits`, "0123456789", {
      "content-type": "text/plain"
    })
    const parts = {
      "bytes=0-0": "0",
      "bytes=2-4": "234",
      "bytes=2-": "23456789",
      "bytes=0-": "0123456789",
      "bytes=9-9": "9",
      "bytes=5-99999999999": "56789",
      "bytes=-1": "9",
      "bytes=-4": "6789",
      "bytes=-99": "0123456789",
      "Bytes=3-3": "3"
    }
    for (const [range, text] of Object.entries(parts)) {
      const answer = await read(workspace, `${files}/digits`, { range })
      assert.deepStrictEqual([answer.status, answer.text], [206, text], range)
      const from = "0123456789".indexOf(text)
      assert.deepInclude(answer.headers, {
        "content-range": `bytes ${from}-${from + text.length - 1}/10`,
        "content-length": String(text.length),
        "content-type": "text/plain",
        etag: whole.etag,
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff"
      })
    }
    for (const range of ["bytes=10-", "bytes=10-12", "bytes=99999999999999999999-", "bytes=-0"]) {
      const answer = await read(workspace, `${files}/digits`, { range })
      assertRefused(workspace, range, answer, "416 Range")
      assert.deepInclude(answer.headers, { "content-range": "bytes */10", "x-content-type-options": "nosniff" })
    }
    for (const range of [
      "bytes=0-1,3-4",
      "bytes=0-1, -1",
      "bytes=4-2",
      "bytes=a-b",
      "bytes=-",
      "bytes=",
      "bytes",
      "items=0-1",
      "0-1",
      "bytes=1.5-2",
      "bytes=--1",
      ""
    ]) {
      const answer = await read(workspace, `${files}/digits`, { range })
      assert.deepStrictEqual([answer.status, answer.text], [200, "0123456789"], range)
      assert.isUndefined(answer.headers["content-range"])
    }
  })

  test("a file that the client has is not sent again", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const {
      headers: { etag }
    } = await stored(workspace, `${files}/a`, "content")
    for (const known of [etag!, `W/${etag}`, `"other", ${etag}`, `"a,b" ,${etag}`, "*"]) {
      for (const range of [{}, { range: "bytes=0-1" }, { range: "bytes=99-" }]) {
        const answer = await read(workspace, `${files}/a`, { "if-none-match": known, ...range })
        assert.deepStrictEqual([answer.status, answer.text], [304, ""], known)
        assert.deepInclude(answer.headers, { etag, "x-content-type-options": "nosniff" })
      }
    }
    for (const unknown of ['"other"', etag!.slice(1, -1), "", 'W/"other"']) {
      assert.strictEqual((await read(workspace, `${files}/a`, { "if-none-match": unknown })).status, 200, unknown)
    }
    await stored(workspace, `${files}/a`, "changed")
    assert.strictEqual((await read(workspace, `${files}/a`, { "if-none-match": etag! })).text, "changed")
  })

  test("a range of what the client has begun to read is a part, of anything else the whole", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const {
      body,
      headers: { etag }
    } = await stored(workspace, `${files}/a`, "0123456789")
    const ranged = async (ifRange: string) => {
      const { status, text } = await read(workspace, `${files}/a`, { range: "bytes=3-5", "if-range": ifRange })
      return [status, text]
    }
    const [part, whole] = [
      [206, "345"],
      [200, "0123456789"]
    ]
    assert.deepStrictEqual(await ranged(etag!), part)
    assert.deepStrictEqual(await ranged(new Date(body.createdAt).toUTCString()), part)
    for (const other of ['"other"', `W/${etag}`, new Date(0).toUTCString(), "*", "nonsense"]) {
      assert.deepStrictEqual(await ranged(other), whole, other)
    }
    const beyond = await read(workspace, `${files}/a`, { range: "bytes=99-", "if-range": '"other"' })
    assert.deepStrictEqual([beyond.status, beyond.text], whole)
  })

  test("HEAD answers what GET would, without the file", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const {
      headers: { etag }
    } = await stored(workspace, `${files}/a.html`, "<p>", { "content-type": "text/html" })
    const head = (headers = {}) => workspace.send("HEAD", `${files}/a.html`, { headers })
    const { "x-request-id": _, date: __, ...expected } = (await read(workspace, `${files}/a.html`)).headers
    const found = await head()
    assert.deepStrictEqual([found.status, found.text], [200, ""])
    assert.deepInclude(found.headers, expected)
    assert.strictEqual(found.headers["content-length"], "3")
    assert.strictEqual((await head({ range: "bytes=0-1" })).status, 200)
    assert.strictEqual((await head({ "if-none-match": etag! })).status, 304)
  })

  test("a browser runs no file, guesses no type, and shows only what cannot run", async (owner) => {
    const { files, workspace } = await newRun(owner)
    const shown = [
      "text/plain",
      "Text/Plain; charset=utf-8",
      "image/png",
      "image/jpeg",
      "IMAGE/WebP",
      "image/vnd.microsoft.icon",
      "video/webm",
      'video/mp4; codecs="avc1"',
      "audio/ogg"
    ]
    const saved = [
      "text/html",
      "Text/HTML; charset=utf-8",
      "application/xhtml+xml",
      "image/svg+xml",
      "IMAGE/SVG+XML",
      "image/unknown",
      "video/x+xml",
      "text/xml",
      "application/xml",
      "application/atom+xml",
      "multipart/x-mixed-replace; boundary=x",
      "text/rdf",
      "text/xsl",
      "text/javascript",
      "application/javascript",
      "text/css",
      "text/plainx",
      'text/plain; a=",text/html"',
      "application/pdf",
      "application/json",
      "application/zip",
      "application/octet-stream"
    ]
    for (const type of [...shown, ...saved]) {
      const etag = (await stored(workspace, `${files}/a`, "0123456789", { "content-type": type })).headers.etag!
      const answers = [
        await read(workspace, `${files}/a`),
        await read(workspace, `${files}/a`, { range: "bytes=0-1" }),
        await read(workspace, `${files}/a`, { range: "bytes=99-" }),
        await read(workspace, `${files}/a`, { "if-none-match": etag }),
        await workspace.send("HEAD", `${files}/a`)
      ]
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 206, 416, 304, 200]
      )
      assert.strictEqual(answers[0]!.headers["content-type"], type)
      for (const { headers } of answers) {
        assert.strictEqual(headers["x-content-type-options"], "nosniff", type)
        assert.strictEqual(headers["content-security-policy"], "sandbox; default-src 'none'", type)
        assert.strictEqual(headers["content-disposition"], shown.includes(type) ? undefined : "attachment", type)
      }
    }
  })

  test("everyone in the workspace reads a run's files; nobody else finds them", async (owner) => {
    const workspace = await newDeployment(owner)
    const publisher = await accountKey(workspace, "member")
    const { number } = await startRun(publisher)
    const path = `test-runs/${number}/files/a`
    await stored(publisher, path, "content")
    for (const reader of [workspace, await join(workspace, "viewer"), await accountKey(workspace, "viewer")]) {
      assert.strictEqual((await read(reader, path)).text, "content")
    }
    const other = await newDeployment(owner)
    await startRun(other)
    assertRefused(other, path, await read(other, path), "404 file")
    const foreign = (await join(other, "owner")).in(workspace.workspace)
    assertRefused(foreign, path, await read(foreign, path), "404 workspace")
    assertRefused(foreign, path, await put(foreign, path, "mine"), "404 workspace")
    assertRefused(foreign, path, await read(workspace.as(undefined), path), "401")
  })

  test("only the publisher uploads, while the run is running; for others the role is checked first", async (owner) => {
    const workspace = await newDeployment(owner)
    const publisher = await join(workspace, "member")
    const others = [
      workspace,
      await join(workspace, "admin"),
      await join(workspace, "member"),
      await accountKey(workspace, "admin")
    ]
    const viewer = await join(workspace, "viewer")
    for (const interrupted of [false, true]) {
      const { number } = await startRun(publisher)
      const path = `test-runs/${number}/files/a`
      const refuseOthers = async () => {
        for (const other of others) assertRefused(other, path, await put(other, path, "x"), "403 not_publisher")
        assertRefused(viewer, path, await put(viewer, path, "x"), "403 role_too_low")
      }
      await stored(publisher, path, "content")
      await refuseOthers()
      await finishRun(publisher, number, { interrupted })
      await refuseOthers()
      assertRefused(publisher, path, await put(publisher, path, "late"), "409 not_running")
      assert.strictEqual((await read(workspace, path)).text, "content")
    }
    const path = "test-runs/99/files/a"
    assertRefused(publisher, path, await put(publisher, path, "x"), "404 test run")
    assertRefused(workspace, path, await read(workspace, "test-runs/abc/files/a"), "404 file")
  })

  test("an upload that the end of its run overtakes is refused and not stored", async (owner) => {
    const { files, number, workspace } = await newRun(owner)
    await stored(workspace, `${files}/old`, "as before")
    const uploads = [await begin(workspace, `${files}/old`, 4), await begin(workspace, `${files}/new`, 4)]
    await finishRun(workspace, number)
    for (const { answer, upload } of uploads) {
      upload.end("late")
      assert.strictEqual(refusal(await answer), "409 not_running")
    }
    assert.strictEqual((await read(workspace, `${files}/old`)).text, "as before")
    assert.strictEqual((await read(workspace, `${files}/new`)).status, 404)
  })

  test("files that a finish names and nobody uploaded are not found, and make no finish fail", async (owner) => {
    const { files, number, workspace } = await newRun(owner)
    await stored(workspace, `${files}/there.txt`, "content")
    const names = ["there.txt", "missing.txt", "../odd", ""]
    const test = report("a", { files: names, attempt: attempt("failed", { files: names }) })
    await finishRun(workspace, number, { tests: [test] })
    const [entry] = (await getRun(workspace, number)).tests
    assert.deepStrictEqual([entry!.files, entry!.attempts[0]!.files], [names, names])
    assertRefused(workspace, "missing.txt", await read(workspace, `${files}/missing.txt`), "404 file")
    assert.strictEqual((await read(workspace, `${files}/there.txt`)).text, "content")
  })
}

onEachServer("files of test runs", filesOfTestRuns, { DATA_DIR })
onServers([["PostgreSQL and S3", layerPostgresServer]], "files of test runs", filesOfTestRuns, {
  FILES_URL: s3.filesUrl("files")
})
