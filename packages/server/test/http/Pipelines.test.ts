import { Context, Layer } from "effect"
import { once } from "node:events"
import type { Socket } from "node:net"
import { assert } from "vitest"
import { ClientLimits } from "../../src/http/SlowClients.ts"
import {
  eventually,
  finishRun,
  type Http,
  newDeployment,
  newWorkspace,
  onServers,
  openSocket,
  startRun,
  withClockOnServers
} from "../support/Http.ts"
import { openStream } from "../support/EventStream.ts"
import { type Servers, servers } from "../support/Servers.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Connections that send requests before they have the answers to those before (docs/contract.md, Conventions). */

const defaults = Context.get(Context.empty(), ClientLimits)

const limited = (limits: Partial<ClientLimits>): Servers =>
  servers.map(([name, server]) => [
    name,
    (environment) =>
      Layer.provide(
        server({ METRICS: "true", ...environment }),
        Layer.succeed(ClientLimits, { ...defaults, ...limits })
      )
  ])

const requestOf = (http: Http, path: string, method = "GET", body = "", ...headers: ReadonlyArray<string>) =>
  [
    `${method} ${path.startsWith("/") ? path : `/v1/workspaces/${http.workspace}/${path}`} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${http.key}`,
    `Content-Length: ${body.length}`,
    ...headers,
    "",
    body
  ].join("\r\n")

/** What comes on the connection. */
const receive = (socket: Socket) => {
  let text = ""
  socket.setEncoding("latin1").on("data", (part: string) => (text += part))
  // The server may end it while the client still sends.
  socket.on("error", () => {}).once("end", () => socket.destroy())
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  const statuses = () => Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status))
  return { text: () => text, statuses, closed }
}

/** How many requests of the endpoint were answered, or given up by their client. */
const counted = async (http: Http, endpoint: string, status: number): Promise<number> => {
  const { text } = await http.send("GET", "/metrics")
  const line = new RegExp(
    `^delivery_http_requests_total\\{endpoint="${endpoint}",status="${status}"[^}]*\\} (\\d+)`,
    "m"
  )
  return Number(line.exec(text)?.[1] ?? 0)
}

onServers(limited({ pipelinedMillis: 300 }), "requests of one connection", (test) => {
  test("are answered in their order, up to the limit, and one more is refused as the last", async (owner) => {
    const at = await newWorkspace(owner)
    const socket = openSocket(at)
    const { closed, statuses, text } = receive(socket)
    const eight = requestOf(at, "products").repeat(8)
    socket.write(eight)
    await eventually(
      () => Promise.resolve(statuses()),
      ({ length }) => length === 8
    )
    const body = JSON.stringify({ slug: "late", name: "Late", type: "library" })
    const post = requestOf(at, "products", "POST", body, "Content-Type: application/json")
    socket.write(eight + post + post)
    await closed
    assert.deepStrictEqual(statuses(), [...Array.from({ length: 16 }, () => 200), 400])
    const refused = text().slice(text().lastIndexOf("HTTP/1.1 "))
    assert.match(refused, /^connection: close\r$/im)
    assert.include(refused, "More than 8 requests of this connection wait for their answers.")
    assert.deepStrictEqual(await at.get("products"), { products: [] })
  })

  test("are few behind an answer that goes on, and the connection ends", async (owner) => {
    const at = await newWorkspace(owner)
    const before = await counted(at, "system.openapi", 200)
    const socket = openSocket(at)
    const { closed, statuses } = receive(socket)
    socket.write(requestOf(at, "events/stream"))
    await once(socket, "data")
    socket.write(requestOf(at, "/openapi.json").repeat(400))
    await closed
    assert.deepStrictEqual(statuses(), [200])
    assert.isAtMost((await counted(at, "system.openapi", 200)) - before, 7)
  })
})

withClockOnServers(limited({}), "requests of one connection that wait", (test) => {
  // No time passes: none of them gives up by itself.
  test("are given up when it ends, also those whose answers would have to wait, and do nothing later", async (owner) => {
    const at = await newDeployment(owner)
    const { number } = await startRun(at, { locked: true })
    const socket = openSocket(at)
    receive(socket)
    const changes = Array.from({ length: 8 }, (_, n) => {
      const body = JSON.stringify({ version: `v${n}`, waitMs: 30_000 })
      return requestOf(at, "deployments/shop/staging", "PATCH", body, "Content-Type: application/json")
    })
    socket.write(changes.join(""))
    const waiting = (count: number) =>
      eventually(
        async () => (await scrape(at.baseUrl)).value("delivery_release_waiters"),
        (found) => found === count
      )
    await waiting(8)
    socket.destroy()
    await waiting(0)
    await eventually(
      () => counted(at, "deployments.update", 499),
      (count) => count === 8
    )
    await finishRun(at, number)
    assert.isNull((await at.get<{ version: string | null }>("deployments/shop/staging")).version)
    assert.deepStrictEqual(await at.get("deployments/shop/staging/history"), { releases: [] })
  })
})

onServers(limited({ unreadBytes: 4_000_000, bodyWindowMillis: 400 }), "answers that wait for another", (test) => {
  test("count as unread, and their connection ends first", async (owner) => {
    const at = await newWorkspace(owner)
    const other = await openStream(at)
    const socket = openSocket(at)
    const { closed, statuses } = receive(socket)
    socket.write(requestOf(at, "events/stream"))
    await once(socket, "data")
    socket.write(requestOf(at, "/openapi.json").repeat(7))
    await closed
    assert.deepStrictEqual(statuses(), [200])
    await at.post("products", { slug: "shop", name: "Shop", type: "library" })
    await other.next()
    other.close()
  })
})
