import { callOf, createClient, exchangeCiToken } from "@delivery/client"
import { requestSecrets } from "@delivery/client/deploy"
import { createClient as createWebClient } from "@delivery/client/web"
import { once } from "node:events"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, createServer, type Server } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort } from "./support/server.ts"

/** What the clients say where no service answers: why, in words, and which request it was. */

let closing: Server
let urls: Readonly<Record<"refused" | "unknownHost" | "closed" | "noTls", string>>

beforeAll(async () => {
  closing = createServer((socket) => void socket.once("data", () => socket.destroy())).listen(0, "127.0.0.1")
  await once(closing, "listening")
  const { port } = closing.address() as AddressInfo
  urls = {
    refused: `http://127.0.0.1:${await freePort()}`,
    unknownHost: "http://delivery.invalid",
    closed: `http://127.0.0.1:${port}`,
    noTls: `https://127.0.0.1:${port}`
  }
})

afterAll(() => void closing.close())

const apiKey = "ctk_keyThatNobodyMayRead"

/** How each client fails at an address. */
const calls: Readonly<Record<string, (baseUrl: string) => Promise<unknown>>> = {
  createClient: (baseUrl) => createClient({ baseUrl, apiKey }).me.get(),
  "createClient of /web": (baseUrl) => createWebClient({ baseUrl, apiKey }).me.get(),
  requestSecrets: (baseUrl) => requestSecrets({ baseUrl, token: "dtk_tokenThatNobodyMayRead" }),
  exchangeCiToken: (baseUrl) =>
    exchangeCiToken({ baseUrl, workspace: "main", environment: { DELIVERY_ID_TOKEN: "idTokenThatNobodyMayRead" } })
}

const failureOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => error as Error
  )

describe.each(Object.keys(calls))("%s, where no service answers", (name) => {
  it.each([
    ["refused", "connection refused (ECONNREFUSED)"],
    ["unknownHost", /host not found \((?:ENOTFOUND|EAI_AGAIN)\)/],
    ["closed", /other side closed|ECONNRESET/],
    ["noTls", /TLS connection/]
  ] as const)("says why: %s", async (kind, reason) => {
    const error = await failureOf(calls[name]!(urls[kind]))
    expect(error.message).toMatch(reason)
    expect(error.message).not.toContain("NobodyMayRead")
  })
})

describe("a service that has another address", () => {
  it.each([301, 302, 303, 307, 308])("is named, and nothing is asked there: %s", async (status) => {
    let asked = 0
    const there = createHttpServer((_, answer) => {
      asked++
      answer.writeHead(401).end()
    }).listen(0, "127.0.0.1")
    await once(there, "listening")
    const origin = `http://127.0.0.1:${(there.address() as AddressInfo).port}`
    const here = createHttpServer((request, answer) => {
      answer.writeHead(status, { location: `${origin}${request.url}` }).end()
    }).listen(0, "127.0.0.1")
    await once(here, "listening")
    const baseUrl = `http://127.0.0.1:${(here.address() as AddressInfo).port}`
    const error = await failureOf(createClient({ baseUrl, apiKey }).me.get())
    expect(error.message).toContain(`it redirects to ${origin}`)
    expect(callOf(error)).toMatchObject({ path: "/v1/me", status })
    expect(asked).toBe(0)
    here.close()
    there.close()
  })
})

describe("an error of a client", () => {
  it("has its cause, and names the request", async () => {
    const error = await failureOf(createClient({ baseUrl: urls.refused, apiKey }).me.get())
    expect(error.message).toContain(`GET ${urls.refused}/v1/me`)
    expect(error.cause).toMatchObject({ cause: { code: "ECONNREFUSED" } })
    expect(callOf(error)).toEqual({ method: "GET", path: "/v1/me" })
    const plain = await failureOf(createWebClient({ baseUrl: urls.refused, apiKey }).me.get())
    expect(plain.message).toContain(`GET ${urls.refused}/v1/me`)
    expect(plain.cause).toMatchObject({ cause: { code: "ECONNREFUSED" } })
    expect(JSON.stringify(plain)).not.toContain(apiKey)
  })

  it("tells of whatever else by the message of its last cause", async () => {
    const failing = (cause: unknown) => {
      const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }))
      return failureOf(createClient({ baseUrl: urls.refused, apiKey, fetch }).me.get())
    }
    const expired = Object.assign(new Error("certificate has expired"), { code: "CERT_HAS_EXPIRED" })
    expect((await failing(expired)).message).toContain("Transport: certificate has expired (GET ")
    const several = Object.assign(new AggregateError([]), { code: "ETIMEDOUT" })
    expect((await failing(several)).message).toContain("Transport: timed out (ETIMEDOUT) (GET ")
  })
})

describe("an address that is not a service's", () => {
  it.each([
    "https://delivery.example.com/v1",
    "https://delivery.example.com/v1/workspaces/main",
    "https://a.example?x=1"
  ])("is refused at once: %s", async (baseUrl) => {
    expect(() => createClient({ baseUrl, apiKey })).toThrow(/^baseUrl: /)
    expect(() => createWebClient({ baseUrl })).toThrow(/^baseUrl: /)
  })

  it("is not one with a path of a proxy", () => {
    expect(() => createClient({ baseUrl: "https://proxy.example/delivery/", apiKey })).not.toThrow()
    expect(() => createWebClient({ baseUrl: "https://proxy.example/delivery/" })).not.toThrow()
  })
})
