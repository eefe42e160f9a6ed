import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { freePort } from "../../server/src/cli/FreePort.ts"
import { apiKey, useService } from "./support/Service.ts"

/** What the command says to those who have set something wrong. */

const junit = join(import.meta.dirname, "junit/pytest.xml")
const publish = ["runs", "publish", junit, "--product", "shop", "--environment", "staging"]

describe("delivery, set up in a wrong way", () => {
  const service = useService()
  const said = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
    const ended = await service.home().delivery(args, { env: { DELIVERY_API_KEY: apiKey, ...env } })
    assert.strictEqual(ended.out, "")
    return [ended.code, ended.err]
  }

  it("names the service that cannot be reached, and why", async () => {
    const refused = `http://127.0.0.1:${await freePort()}`
    for (const args of [["runs", "list"], publish, ["agent", "connect", "--client", "claude"]]) {
      assert.deepStrictEqual(await said([...args, "--url", refused]), [
        4,
        `${refused} cannot be reached: connection refused (ECONNREFUSED).\n`
      ])
    }
    const [code, line] = await said(["runs", "list", "--url", "http://delivery.invalid"])
    assert.strictEqual(code, 4)
    assert.match(String(line), /^http:\/\/delivery\.invalid cannot be reached: host not found \(E\w+\)\.\n$/)
    const secure = service.baseUrl.replace("http:", "https:")
    assert.deepStrictEqual(await said(["runs", "list", "--url", secure]), [
      4,
      `${secure} cannot be reached: no TLS there (ERR_SSL_WRONG_VERSION_NUMBER).\n`
    ])
  })

  it("refuses an address of the API, and says of another path that there is one", async () => {
    const wrong = "is not an http(s) URL such as https://delivery.example.com, without a user, a query or /v1.\n"
    for (const args of [["runs", "list"], publish, ["secrets", "list", "--product", "shop"]]) {
      assert.deepStrictEqual(await said([...args, "--url", `${service.baseUrl}/v1`]), [
        2,
        `The address of the service (from --url) ${wrong}`
      ])
    }
    const elsewhere = `${service.baseUrl}/w/main`
    for (const args of [["runs", "list"], publish]) {
      assert.deepStrictEqual(await said(args, { DELIVERY_URL: elsewhere }), [
        2,
        `This path does not exist. The address of the service, ${elsewhere}, has a path. Without one, it is ${service.baseUrl}.\n`
      ])
    }
  })

  it("names the address that the service has instead", async () => {
    const old = createServer((request, answer) => {
      request.resume()
      answer.writeHead(308, { location: `${service.baseUrl}${request.url}` }).end()
    }).listen(0, "127.0.0.1")
    service.afterwards(() => old.close())
    await once(old, "listening")
    const url = `http://127.0.0.1:${(old.address() as AddressInfo).port}`
    for (const args of [["runs", "list"], publish]) {
      assert.deepStrictEqual(await said([...args, "--url", url]), [
        2,
        `${url} is not the address of the service: it redirects to ${service.baseUrl}.\n`
      ])
    }
  })

  it("says what is wrong with what was never sent, and that something on the way answered", async () => {
    const secret = ["secrets", "set", "LD_PRELOAD", "--product", "shop", "--environment", "staging"]
    const ended = await service.home().delivery(secret, { env: { DELIVERY_API_KEY: apiKey }, input: "evil.so" })
    assert.deepStrictEqual(
      [ended.code, ended.err],
      [2, "Expected a name other than of a variable that changes which code a process runs.\n"]
    )
    const gateway = createServer((request, answer) => {
      request.resume()
      answer.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>")
    }).listen(0, "127.0.0.1")
    service.afterwards(() => gateway.close())
    await once(gateway, "listening")
    const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
    assert.deepStrictEqual(await said(["runs", "list", "--url", url]), [
      4,
      `${url} cannot be reached: something on the way answered 502.\n`
    ])
  })

  it("says what stands where something else is needed", async () => {
    assert.deepStrictEqual(await said(["runs", "list"], { DELIVERY_API_KEY: `dtk_${"a".repeat(38)}Wxyz` }), [
      2,
      "DELIVERY_API_KEY has the token of a deployment (dtk_…). An API key begins with ctk_.\n"
    ])
    assert.deepStrictEqual(await said(["login", "--url", "localhost:4700", "--with-key"]), [
      2,
      "The address of the service localhost:4700 is not an http(s) URL such as https://delivery.example.com, without a user, a query or /v1. One is http://localhost:4000.\n"
    ])
    const withPassword = await said(["login", "--url", "https://ana:canary@host", "--with-key"])
    assert.notInclude(String(withPassword[1]), "canary")
    const directory = ["runs", "publish", ".", "--product", "shop", "--environment", "staging"]
    assert.deepStrictEqual(await said([...directory, "--url", service.baseUrl]), [
      1,
      ". is not published: it is a directory: name the files of results in it.\n"
    ])
    assert.deepStrictEqual(await said(["secrets", "run", "--watch-interval", "1", "--", "true"]), [
      2,
      "--watch-interval needs --watch.\n"
    ])
  })

  it("fails where its output cannot be written", async () => {
    const full = openSync("/dev/full", "w")
    service.afterwards(() => closeSync(full))
    for (const args of [
      ["runs", "list"],
      ["runs", "list", "--json"]
    ]) {
      const ended = await service.home().delivery(args, {
        env: { DELIVERY_API_KEY: apiKey, DELIVERY_URL: service.baseUrl },
        output: full
      })
      assert.deepStrictEqual([ended.code, ended.err], [1, "Standard output cannot be written.\n"], args.join(" "))
    }
  })

  it("prints what a service says without obeying it", async () => {
    const hostile = createServer((request, answer) => {
      const message = "bad \u001b]0;OWNED\u0007\u001b[2J\u202E\u009b31m"
      request.resume()
      answer.writeHead(403, { "content-type": "application/json" })
      answer.end(JSON.stringify({ _tag: "Forbidden", message, reason: "x" }))
    }).listen(0, "127.0.0.1")
    service.afterwards(() => hostile.close())
    await once(hostile, "listening")
    const url = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`
    for (const args of [["status"], ["tickets", "list"], ["runs", "show", "1"], ["login", "--device"], publish]) {
      const ended = await service.home().delivery([...args, "--url", url], { env: { DELIVERY_API_KEY: apiKey } })
      assert.match(ended.err + ended.out, /bad/, args.join(" "))
      assert.notMatch(ended.err + ended.out, /[^\P{C}\n]/u, args.join(" "))
    }
  })

  it("ends at once when it is interrupted while it waits for an answer", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1")
    service.afterwards(() => (silent.closeAllConnections(), silent.close()))
    await once(silent, "listening")
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const env = { DELIVERY_API_KEY: apiKey, DELIVERY_URL: url }
    for (const args of [["runs", "list"], publish]) {
      const asked = once(silent, "request")
      const running = service.home().start(args, { env })
      await asked
      running.child.kill("SIGINT")
      assert.deepStrictEqual([await running.code, running.out() + running.err()], [130, ""])
    }
  })

  it("shows no key that was given as an argument", async () => {
    const token = `dtk_${"a".repeat(38)}Wxyz`
    const job = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqb2IifQ.c2lnbmF0dXJl"
    for (const secret of [apiKey, token, job]) {
      for (const args of [
        [secret],
        ["runs", "show", secret],
        ["runs", "list", "--result", secret],
        ["status", secret]
      ]) {
        const [code, err] = await said(args)
        assert.strictEqual(code, 2)
        assert.notInclude(err, secret.slice(4))
        assert.include(err, `${secret.slice(0, secret === job ? 3 : 4)}…`)
      }
    }
  })

  it.skipIf(process.platform !== "linux")(
    "says that it cannot store a profile where there can be no file",
    async () => {
      const login = ["login", "--url", service.baseUrl, "--workspace", "main"]
      const env = { XDG_CONFIG_HOME: "/proc/none" }
      assert.deepInclude(await service.home().delivery(login, { env, input: apiKey }), {
        code: 1,
        err: "/proc/none/delivery/profiles.json cannot be written.\n"
      })
    }
  )
})
