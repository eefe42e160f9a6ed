import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort } from "./support/server.ts"

const script = fileURLToPath(new URL("./support/uncaughtErrors.ts", import.meta.url))
const apiKey = "ctk_keyThatNobodyMayRead"
const token = "stk_tokenThatNobodyMayRead"

let server: Server
const received = new Set<string | undefined>()

beforeAll(async () => {
  server = createServer((request, response) => {
    received.add(request.headers.authorization)
    const answer = request.url!.split("/")[3]
    if (answer === "status") return void response.writeHead(418, { "content-type": "application/json" }).end("{}")
    response.writeHead(200, { "content-type": "application/json", "content-length": answer === "cut" ? 100 : 2 })
    if (answer !== "cut") return void response.end("[]")
    response.write("{")
    response.flushHeaders()
    setImmediate(() => response.destroy())
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
})

afterAll(() => void server.close())

const outputOf = (kind: string, closedUrl: string) => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { PATH: process.env["PATH"], DELIVERY_API_KEY: apiKey, RUN_TOKEN: token }
  return new Promise<{ readonly code: number | string | undefined; readonly stdout: string; readonly stderr: string }>(
    (resolve) =>
      execFile(process.execPath, [script, kind, baseUrl, closedUrl], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? undefined, stdout, stderr })
      )
  )
}

describe("an error that nobody catches", () => {
  it.each(["effects", "promises"])("does not print the key of the call, with %s", async (kind) => {
    const { code, stderr, stdout } = await outputOf(kind, `http://127.0.0.1:${await freePort()}`)
    expect(code).toBe(1)
    expect(stderr).toContain("Transport: connection refused (ECONNREFUSED)")
    expect(stderr).toContain("418")
    expect(stdout.split("\n").filter((line) => line.endsWith("failed"))).toHaveLength(11)
    expect(received).toContain(`Bearer ${apiKey}`)
    expect(received).toContain(`Bearer ${token}`)
    expect(stdout + stderr).not.toContain(apiKey)
    expect(stdout + stderr).not.toContain(token)
  })
})
