import type { RegisteredClient } from "@delivery/domain/agents/OAuth"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join as joinPath } from "node:path"
import { assert } from "vitest"
import { eventually, onEachServer, signIn } from "../support/Http.ts"
import { freePort } from "../../src/cli/FreePort.ts"
import { type Check, tool } from "./McpConformance.ts"
import { decide } from "./OAuthScene.ts"

/** MCP's conformance suite of authorization servers: the metadata, and a sign-in by the server's URL. */

const connects = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
      .once("connect", () => resolve(socket.destroy() !== undefined))
      .once("error", () => resolve(false))
  })

/** Runs the suite, and opens the address that it prints, once. */
const run = async (args: ReadonlyArray<string>, open: (url: string) => Promise<void>) => {
  const output = mkdtempSync(joinPath(tmpdir(), "delivery-conformance-"))
  try {
    const child = spawn(process.execPath, [tool, "authorization", ...args, "-o", output], { timeout: 60_000 })
    let printed = ""
    let opened: Promise<void> | undefined
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text
      const url = /^(http\S+\/agent\/oauth\/authorize\?\S+)$/m.exec(printed)?.[1]
      if (url !== undefined) opened ??= open(url)
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text))
    const [code] = (await once(child, "close")) as [number | null]
    await opened
    const checks = readdirSync(output).flatMap(
      (directory) =>
        JSON.parse(readFileSync(joinPath(output, directory, "checks.json"), "utf8")) as ReadonlyArray<Check>
    )
    return { code, printed, checks }
  } finally {
    rmSync(output, { recursive: true, force: true })
  }
}

onEachServer("MCP's conformance suite of authorization servers", (test) => {
  test("passes in every check", async (owner) => {
    const port = await freePort()
    const { client_id } = await owner
      .as(undefined)
      .post<RegisteredClient>("/agent/oauth/register", { redirect_uris: ["http://127.0.0.1/callback"] })
    const session = await signIn(owner, "owner@example.com")
    const args = ["--url", owner.baseUrl, "--client-id", client_id, "--port", String(port)]
    const { checks, code, printed } = await run([...args, "--resource", `${owner.baseUrl}/agent/mcp`], async (url) => {
      const answer = await session.as(undefined).send("GET", url.slice(owner.baseUrl.length))
      const id = answer.headers.location!.split("#")[1]!
      const { body } = await decide(session, id, { allow: true, workspace: session.workspace })
      // The suite prints the address before it listens.
      await eventually(() => connects(port), Boolean)
      assert.isTrue((await fetch(body.location)).ok)
    })
    assert.strictEqual(code, 0, printed)
    assert.deepStrictEqual(checks.map(({ id, status }) => `${id}: ${status}`).toSorted(), [
      "authorization-code-grant: SUCCESS",
      "authorization-server-metadata-cimd: SUCCESS",
      "authorization-server-metadata: SUCCESS"
    ])
  })
})
