import { Layer } from "effect"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert } from "vitest"
import { ClientLimits } from "../../src/http/SlowClients.ts"
import {
  answerOf,
  answerOn,
  attempt,
  type ErrorBody,
  finishRun,
  type Http,
  newDeployment,
  onServers,
  openSocket,
  report,
  startRun
} from "../support/Http.ts"
import { startS3 } from "../support/S3Server.ts"
import { layerPostgresServer, type Servers } from "../support/Servers.ts"

/** Clients that send or read as slowly as they can (docs/operations.md, Limits), with limits that tests can wait for. */

const limits: ClientLimits = {
  headersMillis: 600,
  bodyWindowMillis: 800,
  bodyBytes: 1000,
  bodyMillis: 2500,
  arrivingBytes: 512 * 1024 * 1024,
  unreadMillis: 800,
  unreadBytes: 256 * 1024 * 1024,
  pipelined: 8,
  pipelinedMillis: 10_000
}

const s3 = await startS3()
afterAll(s3.stop)

const limited = (limits: ClientLimits, servers: Servers): Servers =>
  servers.map(([name, server]) => [
    name,
    (environment) => Layer.provide(server(environment), Layer.succeed(ClientLimits, limits))
  ])

/** Writes a piece of the text at a time, for as long as the other side takes it. */
const trickle = async (socket: Socket, text: string, bytes: number, pause: number) => {
  for (let i = 0; i < text.length && socket.writable && !socket.readableEnded; i += bytes) {
    socket.write(text.slice(i, i + bytes))
    await sleep(pause)
  }
}

const head = (http: Http, method: string, path: string, ...headers: ReadonlyArray<string>) =>
  [
    `${method} /v1/workspaces/${http.workspace}/${path} HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    `Authorization: Bearer ${http.key}`,
    ...headers,
    "",
    ""
  ].join("\r\n")

/** The answer to a request whose body comes slowly, and how long it took in milliseconds. */
const sendSlowly = async (http: Http, request: string, body: string, bytes: number, pause: number) => {
  const started = performance.now()
  const socket = openSocket(http)
  const answered = answerOn(socket)
  socket.write(request)
  await trickle(socket, body, bytes, pause)
  return { ...(await answered), millis: performance.now() - started }
}

const tooSlow = (answer: { readonly status: number; readonly text: string }) => {
  assert.strictEqual(answer.status, 408, answer.text)
  assert.strictEqual((JSON.parse(answer.text) as ErrorBody).message, "The request arrived too slowly.")
}

/** A client that reads the beginning of an answer, and then nothing more until it is told to read the rest. */
const stopReading = async (http: Http, path: string) => {
  const request = http.open("GET", path, { connection: "close" })
  const responded = once(request, "response")
  request.end()
  const [response] = (await responded) as [IncomingMessage]
  await once(response, "readable")
  /** Answers how much came, and whether that is all. What the server has ended is noticed only by reading. */
  const readOn = async (pause = 0) => {
    const state = { read: 0, isWhole: false }
    try {
      for await (const chunk of response) {
        const before = state.read
        state.read += (chunk as Buffer).length
        if (Math.floor(before / 1_000_000) < Math.floor(state.read / 1_000_000)) await sleep(pause)
      }
      state.isWhole = response.complete
    } catch {
      // Broken off.
    }
    return state
  }
  return { readOn }
}

const onDisk: Servers[number] = ["PostgreSQL", layerPostgresServer]
const onS3: Servers[number] = [
  "PostgreSQL and S3",
  (environment) => layerPostgresServer({ ...environment, FILES_URL: s3.filesUrl("slow") })
]

onServers(limited(limits, [onDisk, onS3]), "slow clients", (test, name) => {
  test("headers that come byte by byte are refused in time, and nobody else waits", async (owner) => {
    const socket = openSocket(owner)
    const answered = answerOn(socket)
    const started = performance.now()
    const sending = trickle(socket, head(owner, "GET", "products").repeat(3), 1, 20)
    for (let i = 0; i < 10; i++) await owner.get("products")
    const answer = await answered
    tooSlow(answer)
    assert.isAbove(performance.now() - started, limits.headersMillis)
    await sending
  })

  test("a body that comes byte by byte is refused, and nothing of it is done", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number } = await startRun(workspace)
    const body = JSON.stringify({ slug: "slow", name: "x".repeat(2000), type: "library" })
    const type = "Content-Type: application/json"
    const slow = await Promise.all([
      sendSlowly(workspace, head(workspace, "POST", "products", type, `Content-Length: ${body.length}`), body, 1, 20),
      sendSlowly(
        workspace,
        head(workspace, "POST", "products", type, "Transfer-Encoding: chunked"),
        "1\r\n{\r\n",
        1,
        20
      ),
      sendSlowly(workspace, head(workspace, "PUT", `test-runs/${number}/files/a`, "Content-Length: 5000"), body, 1, 20),
      sendSlowly(workspace, head(workspace, "PUT", `test-runs/${number}/files/b`, "Content-Length: 5000"), "", 1, 20),
      workspace.get("products")
    ])
    for (const answer of slow.slice(0, 4)) tooSlow(answer as { status: number; text: string })
    const { products } = await workspace.get<{ products: ReadonlyArray<unknown> }>("products")
    assert.lengthOf(products, 1)
    for (const path of ["a", "b"]) {
      assert.strictEqual((await workspace.send("GET", `test-runs/${number}/files/${path}`)).status, 404)
    }
    assert.strictEqual((await workspace.send("PUT", `test-runs/${number}/files/a`, { body: "now" })).status, 201)
  })

  test("a slow upload may take longer than any other body", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number } = await startRun(workspace)
    const content = "0123456789".repeat(1750)
    const file = head(workspace, "PUT", `test-runs/${number}/files/a`, `Content-Length: ${content.length}`)
    const body = JSON.stringify({ slug: "slow", name: "x".repeat(17_500), type: "library" })
    const type = "Content-Type: application/json"
    const [stored, refused] = await Promise.all([
      sendSlowly(workspace, file, content, 500, 90),
      sendSlowly(workspace, head(workspace, "POST", "products", type, `Content-Length: ${body.length}`), body, 500, 90)
    ])
    assert.strictEqual(stored.status, 201, stored.text)
    assert.isAbove(stored.millis, limits.bodyMillis)
    tooSlow(refused)
    assert.strictEqual((await workspace.send("GET", `test-runs/${number}/files/a`)).text, content)
  })

  test("a client that reads nothing is let go, one that reads slowly is served, and a request may wait", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number, semaphores } = await startRun(workspace)
    const size = 30 * 1024 * 1024
    const path = `test-runs/${number}/files/large`
    assert.strictEqual((await workspace.send("PUT", path, { body: Buffer.alloc(size) })).status, 201)

    const stuck = await Promise.all(Array.from({ length: 5 }, () => stopReading(workspace, path)))
    const readSlowly = async () => {
      const { readOn } = await stopReading(workspace, path)
      const started = performance.now()
      assert.deepStrictEqual(await readOn(60), { read: size, isWhole: true })
      assert.isAbove(performance.now() - started, 2 * limits.unreadMillis)
    }
    const lease = async () => {
      const caller = workspace.as(semaphores.token)
      await caller.post("semaphores/one/leases", { capacity: 1 })
      const queued = await caller.send("POST", "semaphores/one/leases", {
        json: { capacity: 1, requestId: "second", waitMs: 2000 }
      })
      assert.strictEqual(queued.status, 202, queued.text)
    }
    await Promise.all([readSlowly(), lease(), sleep(3 * limits.unreadMillis)])
    for (const { readOn } of stuck) assert.isFalse((await readOn()).isWhole)
  })

  if (name === "PostgreSQL and S3") {
    test("a client is not blamed for a store that takes its time", async (owner) => {
      const workspace = await newDeployment(owner)
      const { number } = await startRun(workspace)
      const { putObject } = s3.server.store
      s3.server.store.putObject = async (object) => {
        await sleep(2 * limits.bodyWindowMillis)
        return await putObject.call(s3.server.store, object)
      }
      const upload = workspace.open("PUT", `test-runs/${number}/files/a`, { "content-length": String(30_000_000) })
      const answer = answerOf(upload)
      upload.end(Buffer.alloc(30_000_000))
      assert.strictEqual((await answer).status, 201)
      s3.server.store.putObject = putObject
    })
  }
})

onServers(
  limited({ ...limits, unreadMillis: 60_000, unreadBytes: 40 * 1024 * 1024 }, [onDisk]),
  "clients that do not read",
  (test) => {
    test("share a limit for their buffered answers, and clients that read are served", async (owner) => {
      const workspace = await newDeployment(owner)
      const { number } = await startRun(workspace)
      const errorStack = "x".repeat(10_000)
      await finishRun(workspace, number, {
        tests: Array.from({ length: 1500 }, (_, i) =>
          report(`case-${i}`, { attempt: attempt("failed", { errorMessage: "failed", errorStack }) })
        )
      })
      const path = `test-runs/${number}`
      const whole = (await workspace.send("GET", path)).bytes.length
      assert.isAbove(whole, 15_000_000)
      const stuck: Array<Awaited<ReturnType<typeof stopReading>>> = []
      for (let i = 0; i < 8; i++) stuck.push(await stopReading(workspace, path))
      await sleep(1500)
      const kept: Array<boolean> = []
      for (const { readOn } of stuck) kept.push((await readOn()).isWhole)
      assert.isFalse(kept[0], "the one that has read nothing for longest")
      assert.isAtLeast(kept.filter((isWhole) => !isWhole).length, 4)
      assert.strictEqual((await workspace.send("GET", path)).bytes.length, whole)
    })
  }
)

onServers(
  limited({ ...limits, bodyWindowMillis: 60_000, bodyMillis: 60_000, arrivingBytes: 4_000_000 }, [onDisk]),
  "clients that begin to send",
  (test) => {
    test("share a limit for what is not whole: those that stand still for longest are refused", async (owner) => {
      const workspace = await newDeployment(owner)
      const body = JSON.stringify({ slug: "shop", name: "x".repeat(900_000), type: "library" })
      const request = [
        `POST /v1/workspaces/${workspace.workspace}/products HTTP/1.1`,
        "Host: localhost",
        `Authorization: Bearer ${workspace.key}`,
        "Connection: close",
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        "",
        ""
      ].join("\r\n")
      const begin = () => {
        const socket = openSocket(workspace)
        const answered = answerOn(socket)
        socket.write(request + body.slice(0, -1))
        return { answered, finish: () => socket.write(body.slice(-1)) }
      }
      const stuck = Array.from({ length: 4 }, begin)
      // Until the server has seen that nothing more of the first comes.
      await sleep(1000)
      const later = Array.from({ length: 2 }, begin)
      const refused = await Promise.race(stuck.map(({ answered }) => answered))
      tooSlow(refused)
      for (const { finish } of [...stuck, ...later]) finish()
      const statuses = await Promise.all([...stuck, ...later].map(async ({ answered }) => (await answered).status))
      assert.deepStrictEqual(statuses.slice(4), [400, 400])
      assert.lengthOf(
        statuses.filter((status) => status === 408),
        2
      )
    })
  }
)
