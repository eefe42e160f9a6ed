import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Product } from "@delivery/domain/catalog/Product"
import type { Lease } from "@delivery/domain/runs/Semaphore"
import type { StartedTestRun, TestRun } from "@delivery/domain/runs/TestRun"
import { createHash, randomBytes, randomUUID } from "node:crypto"
import { Agent, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { assert } from "vitest"
import { type Answer, answerOf, assertRunNumbers, finishOf, http, registerAgent, report, runOf } from "./Http.ts"

/**
 * What a workspace's people, agents and CI do at once: reads, writes, runs with uploads, leases, calls that wait for a
 * lease or for a message. Every client keeps a connection, and goes to another server where it is refused. What was
 * acknowledged is noted, and what got no answer is in doubt; `verify` compares both with what a server then tells.
 */

const kinds = ["read", "write", "run", "lease", "waitForLease", "inbox", "send"] as const
export type Kind = (typeof kinds)[number]

/** One call, once it is over. */
export interface Call {
  readonly kind: Kind
  readonly id: string
  readonly path: string
  readonly millis: number
  /** Undefined where no whole answer came. */
  readonly answer: Answer | undefined
  /** Why there is none. */
  readonly failure: string | undefined
  /** Whether the answer had begun when it broke off. */
  readonly hasBegun: boolean
}

/** Nothing says whether it happened. */
class InDoubt extends Error {}

export interface MixedLoadOptions {
  readonly apiKey: string
  /** The servers that may be asked. Where there are none, clients wait. */
  readonly targets: () => ReadonlyArray<string>
  /** How many clients of each kind; none of those left out. */
  readonly clients: Partial<Record<Kind, number>>
  /** Milliseconds between two calls of a client. */
  readonly pauseMillis: number
  readonly onCall: (call: Call) => void
}

interface Run {
  readonly number: number
  isFinished: boolean
  triedToFinish: boolean
  readonly files: Map<string, { acknowledged: string | undefined; readonly inDoubt: Set<string> }>
}

/** Statuses that are answers to what the load asks. */
const expected = new Set([200, 201, 202, 204])

const testsPerRun = 3

export class MixedLoad {
  readonly #options: MixedLoadOptions
  readonly #agents = new Set<Agent>()
  #isOver = false
  #work: Promise<unknown> = Promise.resolve()
  #runToken = ""
  #holder: Lease | undefined
  #ticket = ""
  #signIns: ReadonlyArray<AgentSignIn> = []

  readonly products = new Map<string, { acknowledged: string; readonly inDoubt: Set<string> }>()
  readonly runs: Array<Run> = []
  /** Messages that were sent, and by whom they were taken. */
  readonly sent = new Set<string>()
  readonly taken: Array<string> = []

  constructor(options: MixedLoadOptions) {
    this.#options = options
  }

  /** Makes what the load needs, in the workspace `main` of a new server. */
  async prepare(): Promise<void> {
    const owner = http(this.#options.targets()[0]!, this.#options.apiKey, "main")
    await owner.post("products", { slug: "shop", name: "Shop", type: "website" })
    await owner.post("environments", { slug: "staging", name: "Staging", class: "non-production" })
    await owner.post("deployments", { product: "shop", environment: "staging", baseUrl: "https://shop.example" })
    const run = await owner.post<StartedTestRun>("test-runs", runOf())
    this.#runToken = run.semaphores.token
    this.runs.push({ number: run.number, isFinished: false, triedToFinish: false, files: new Map() })
    await owner.post("teams", { key: "LOAD", name: "Load", visibility: "open" })
    this.#ticket = (
      await owner.post<{ identifier: string }>("tickets", { team: "LOAD", title: "Pay by card" })
    ).identifier
    this.#signIns = await Promise.all(
      (["claude", "codex", "cursor"] as const).map((client) => registerAgent(owner, { client }))
    )
    for (let index = 0; index < (this.#options.clients.write ?? 0); index++) {
      await owner.post("products", { slug: `product-${index}`, name: "0", type: "library" })
      this.products.set(`product-${index}`, { acknowledged: "0", inDoubt: new Set() })
    }
    this.#holder = await owner
      .as(this.#runToken)
      .post<Lease>("semaphores/held/leases", { capacity: 1, ttlMs: 300_000, requestId: "holder" })
  }

  start(): void {
    const { clients } = this.#options
    this.#isOver = false
    this.#work = Promise.all(
      kinds.flatMap((kind) => Array.from({ length: clients[kind] ?? 0 }, (_, index) => this.#client(kind, index)))
    )
  }

  /** Ends the clients, those that wait in the middle of it. */
  async stop(): Promise<void> {
    this.#isOver = true
    const patience = setTimeout(() => {
      for (const agent of this.#agents) agent.destroy()
    }, 1_000)
    await this.#work
    clearTimeout(patience)
    for (const agent of this.#agents) agent.destroy()
    this.#agents.clear()
  }

  /** Gives the lease back that nobody got; its waiters get it in turn. */
  async release(baseUrl: string): Promise<void> {
    await http(baseUrl, this.#runToken, "main").delete(`semaphores/held/leases/${this.#holder!.lease}`)
  }

  /** Asks for the lease that calls wait for. */
  take(baseUrl: string, requestId: string, waitMs: number): Promise<Answer<Lease>> {
    const json = { capacity: 1, requestId, waitMs }
    return http(baseUrl, this.#runToken, "main").send("POST", "semaphores/held/leases", { json })
  }

  async #client(kind: Kind, index: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    this.#agents.add(agent)
    for (let turn = index; !this.#isOver; turn++) {
      const targets = this.#options.targets()
      const baseUrl = targets[turn % targets.length]
      const send = (method: string, path: string, init: Init = {}) =>
        this.#send(kind, agent, baseUrl!, method, path, init)
      // Stays with its server as long as that answers.
      try {
        while (baseUrl !== undefined && !this.#isOver && this.#options.targets().includes(baseUrl)) {
          await this.#act(kind, index, send)
          await sleep(this.#options.pauseMillis)
        }
      } catch (error) {
        if (!(error instanceof InDoubt)) throw error
      }
      await sleep(20)
    }
  }

  async #send(
    kind: Kind,
    agent: Agent,
    baseUrl: string,
    method: string,
    path: string,
    { bytes, json, key }: Init
  ): Promise<Answer> {
    const id = randomUUID()
    const body = json === undefined ? bytes : Buffer.from(JSON.stringify(json))
    const started = performance.now()
    const outgoing = request(baseUrl, {
      agent,
      method,
      path: path.startsWith("/") ? path : `/v1/workspaces/main/${path}`,
      headers: {
        authorization: `Bearer ${key ?? this.#options.apiKey}`,
        "x-request-id": id,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...(body === undefined ? {} : { "content-length": String(body.length) })
      }
    })
    let hasBegun = false
    outgoing.once("response", () => {
      hasBegun = true
    })
    const over = (answer: Answer | undefined, failure: string | undefined) =>
      this.#options.onCall({ kind, id, path, millis: performance.now() - started, answer, failure, hasBegun })
    const answering = answerOf(outgoing)
    outgoing.end(body)
    const answer = await answering.catch((error: NodeJS.ErrnoException) => {
      if (error.code === undefined) throw error
      // Who waits is cut off by the load itself in the end.
      if (!this.#isOver) over(undefined, error.code)
      throw new InDoubt()
    })
    over(answer, undefined)
    if (!expected.has(answer.status)) throw new InDoubt()
    return answer
  }

  async #act(kind: Kind, index: number, send: Send): Promise<void> {
    switch (kind) {
      case "read": {
        const paths = ["products/shop", "deployments", "test-runs", "test-runs/1", "tickets", "/v1/me"]
        await send("GET", paths[Math.floor(Math.random() * paths.length)]!)
        return
      }
      case "write": {
        const product = this.products.get(`product-${index}`)!
        const name = randomUUID()
        product.inDoubt.add(name)
        await send("PATCH", `products/product-${index}`, { json: { name } })
        product.acknowledged = name
        product.inDoubt.clear()
        return
      }
      case "run":
        return this.#publish(send)
      case "lease": {
        const init = { json: { capacity: 2, waitMs: 2_000, requestId: randomUUID() }, key: this.#runToken }
        const { body, status } = await send("POST", "semaphores/shared/leases", init)
        if (status === 202) return
        await sleep(2)
        await send("DELETE", `semaphores/shared/leases/${(body as Lease).lease}`, { key: this.#runToken })
        return
      }
      case "waitForLease": {
        const json = { capacity: 1, waitMs: 30_000, requestId: `waiter-${index}` }
        await send("POST", "semaphores/held/leases", { json, key: this.#runToken })
        return
      }
      case "inbox": {
        const key = this.#signIns[index % this.#signIns.length]!.access_token
        const { body } = await send("GET", "/agent/v1/inbox?wait=25", { key })
        if ((body as Messages).messages.length === 0) return
        const taken = await send("POST", "/agent/v1/inbox/take", { json: { limit: 1 }, key })
        for (const { id } of (taken.body as Messages).messages) {
          this.taken.push(id)
          await send("POST", `/agent/v1/messages/${id}/complete`, { json: { reply: "Done." }, key })
        }
        return
      }
      case "send": {
        const { agent } = this.#signIns[Math.floor(Math.random() * this.#signIns.length)]!
        const json = { agent, ticket: this.#ticket, ask: "build", note: "Please." }
        const { body } = await send("POST", "messages", { json })
        this.sent.add((body as AgentMessage).id)
      }
    }
  }

  async #publish(send: Send): Promise<void> {
    const { body } = await send("POST", "test-runs", { json: runOf() })
    const run: Run = {
      number: (body as StartedTestRun).number,
      isFinished: false,
      triedToFinish: false,
      files: new Map()
    }
    this.runs.push(run)
    // The last replaces the first.
    for (const path of ["trace.zip", "video.webm", "trace.zip"]) {
      const bytes = randomBytes(1_000 + Math.floor(Math.random() * 40_000))
      const file = run.files.get(path) ?? { acknowledged: undefined, inDoubt: new Set() }
      run.files.set(path, file)
      file.inDoubt.add(sha(bytes))
      await send("PUT", `test-runs/${run.number}/files/${path}`, { bytes })
      file.acknowledged = sha(bytes)
      file.inDoubt.clear()
    }
    run.triedToFinish = true
    const tests = Array.from({ length: testsPerRun }, (_, index) => report(`case-${index}`))
    await send("POST", `test-runs/${run.number}/finish`, { json: finishOf({ tests }) })
    run.isFinished = true
  }

  /** Compares what a server tells with what it acknowledged. Answers how many files are visible. */
  async verify(baseUrl: string): Promise<number> {
    const owner = http(baseUrl, this.#options.apiKey, "main")
    for (const [slug, { acknowledged, inDoubt }] of this.products) {
      assert.include([acknowledged, ...inDoubt], (await owner.get<Product>(`products/${slug}`)).name)
    }
    const numbers = await assertRunNumbers(owner)
    const acknowledged = this.runs.map(({ number }) => number)
    assert.lengthOf(new Set(acknowledged), acknowledged.length, "each number was given once")
    assert.includeMembers(numbers, acknowledged)

    let visible = 0
    for (const run of this.runs) {
      const stored = await owner.get<TestRun>(`test-runs/${run.number}`)
      if (run.isFinished) assert.strictEqual(stored.state, "finished", `run ${run.number} was acknowledged as finished`)
      if (!run.triedToFinish) assert.strictEqual(stored.state, "running")
      assert.strictEqual(stored.tests.length, stored.state === "finished" ? testsPerRun : 0)
      for (const [path, file] of run.files) {
        const { bytes, status } = await owner.send("GET", `test-runs/${run.number}/files/${path}`)
        if (status === 404) {
          assert.isUndefined(file.acknowledged, `${path} of run ${run.number} was acknowledged`)
          continue
        }
        assert.strictEqual(status, 200)
        assert.include([file.acknowledged, ...file.inDoubt], sha(bytes), `${path} of run ${run.number} is whole`)
        visible++
      }
    }
    assert.lengthOf(new Set(this.taken), this.taken.length, "each message was delivered once")
    for (const id of this.sent) await owner.get(`messages/${id}`)
    return visible
  }
}

interface Init {
  readonly json?: unknown
  readonly bytes?: Buffer
  /** Another than the owner's. */
  readonly key?: string
}

type Send = (method: string, path: string, init?: Init) => Promise<Answer>

interface Messages {
  readonly messages: ReadonlyArray<AgentMessage>
}

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")
