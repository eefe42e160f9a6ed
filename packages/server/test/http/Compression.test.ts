import { createHook } from "node:async_hooks"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { assert } from "vitest"
import { type Http, newDeployment, onEachServer, startRun } from "../support/Http.ts"

/** Answers that are compressed where the client allows it (docs/contract.md, Conventions). */

/** An answer as it was sent. Its head must say what its body is. */
const fetchRaw = async (caller: Http, path: string, encoding: string | undefined, method = "GET") => {
  const outgoing = caller.open(method, path, encoding === undefined ? {} : { "accept-encoding": encoding })
  outgoing.end()
  const [response] = (await once(outgoing, "response")) as [IncomingMessage]
  const chunks = await response.toArray()
  return { headers: response.headers, status: response.statusCode, bytes: Buffer.concat(chunks as Array<Buffer>) }
}

const decoders = { br: brotliDecompressSync, gzip: gunzipSync } as const

onEachServer("an answer", (test) => {
  test("is compressed where the client allows it, and longer than a kilobyte", async (owner) => {
    const at = await newDeployment(owner)
    for (let i = 0; i < 12; i++) await at.post("products", { slug: `p${i}`, name: `Product ${i}`, type: "library" })
    const plain = await fetchRaw(at, "products", undefined)
    assert.isAbove(plain.bytes.length, 1_024)
    assert.isUndefined(plain.headers["content-encoding"])
    for (const [accepted, encoding] of [
      ["gzip", "gzip"],
      ["br", "br"],
      ["gzip, deflate, br;q=0.5", "br"],
      ["gzip;q=0, br;q=0", undefined],
      ["identity", undefined],
      ["nonsense", undefined]
    ] as const) {
      const { bytes, headers } = await fetchRaw(at, "products", accepted)
      assert.strictEqual(headers["content-encoding"], encoding, accepted)
      assert.include(String(headers.vary), "Accept-Encoding")
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["content-length"], String(bytes.length))
      if (encoding === undefined) assert.deepStrictEqual(bytes, plain.bytes)
      else {
        assert.isBelow(bytes.length, plain.bytes.length / 2)
        assert.deepStrictEqual(decoders[encoding](bytes), plain.bytes)
      }
    }
    const one = await fetchRaw(at, "products/p1", "gzip")
    assert.isUndefined(one.headers["content-encoding"])
    assert.strictEqual((await fetchRaw(at, "products", "gzip", "HEAD")).bytes.length, 0)
    const page = await fetchRaw(at, "/docs", "br")
    assert.include(brotliDecompressSync(page.bytes).toString(), "<!doctype html>")
  })

  test("that never changes is compressed once for each encoding", async (owner) => {
    let compressions = 0
    const hook = createHook({
      init: (_, type) => {
        if (type === "ZLIB") compressions++
      }
    }).enable()
    const encodings = Array.from({ length: 5 }, () => ["gzip", "br"] as const).flat()
    const answers = await Promise.all(encodings.map((encoding) => fetchRaw(owner, "/openapi.json", encoding)))
    hook.disable()
    assert.strictEqual(compressions, 2)
    const plain = await fetchRaw(owner, "/openapi.json", undefined)
    assert.isUndefined(plain.headers["content-encoding"])
    for (const [index, { bytes, headers }] of answers.entries()) {
      const encoding = encodings[index]!
      assert.strictEqual(headers["content-encoding"], encoding)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["content-length"], String(bytes.length))
      assert.include(String(headers.vary), "Accept-Encoding")
      assert.deepStrictEqual(bytes, answers[index % 2]!.bytes)
      assert.deepStrictEqual(decoders[encoding](bytes), plain.bytes)
    }
    assert.lengthOf(new Set(answers.map(({ headers }) => headers["x-request-id"])), answers.length)
  })

  test("is sent as it is where it may hold a secret, and where it is a file", async (owner) => {
    const at = await newDeployment(owner)
    for (let i = 0; i < 12; i++) await at.post("products/shop/secrets", { name: `SECRET_${i}` })
    const { number } = await startRun(at)
    const file = `test-runs/${number}/files/report.json`
    await at.send("PUT", file, {
      body: JSON.stringify("a".repeat(5_000)),
      headers: { "content-type": "application/json" }
    })
    for (const path of ["products/shop/secrets", "vault", file]) {
      const { bytes, headers, status } = await fetchRaw(at, path, "gzip, br")
      assert.strictEqual(status, 200, path)
      assert.isAbove(bytes.length, 1_024, path)
      assert.isUndefined(headers["content-encoding"], path)
    }
  })
})
