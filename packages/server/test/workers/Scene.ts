import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { eventually, http, type Http } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** Servers of several processes on a real PostgreSQL. */

export const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const vaultKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`

/** A client with a connection of its own, which it keeps as long as the server lets it. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #baseUrl: string
  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }
  /** The status; fails where no answer comes. */
  send(method: string, path: string, json?: unknown): Promise<number> {
    return new Promise((resolve, reject) => {
      const body = json === undefined ? undefined : JSON.stringify(json)
      const outgoing = request(
        `${this.#baseUrl}${path}`,
        {
          agent: this.#agent,
          method,
          headers: {
            authorization: `Bearer ${apiKey}`,
            ...(body === undefined ? {} : { "content-type": "application/json", "content-length": body.length })
          }
        },
        (response) => {
          response.resume()
          response.on("error", reject)
          response.on("end", () => resolve(response.statusCode!))
        }
      )
      outgoing.on("error", reject)
      outgoing.end(body)
    })
  }
  close(): void {
    this.#agent.destroy()
  }
}

export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export const product = (slug: string) => ({ slug, name: slug, type: "library" })
export const productsOf = async (owner: Http): Promise<ReadonlyArray<string>> =>
  (await owner.get<{ products: ReadonlyArray<{ slug: string }> }>("products")).products.map(({ slug }) => slug)

/** What the tests of a suite start; it ends with each test. */
export const useWorkers = () => {
  const cleanups: Array<() => Promise<unknown> | void> = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  })

  const newEnvironment = async (): Promise<Record<string, string>> => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "delivery-workers-"))
    cleanups.push(() => rmSync(DATA_DIR, { recursive: true, force: true }))
    const { drop, url: DATABASE_URL } = await openDatabase()
    cleanups.push(drop)
    return { DATABASE_URL, DATA_DIR, VAULT_KEYS: vaultKeys, BOOTSTRAP_API_KEY: apiKey, DATABASE_POOL: "4" }
  }

  /** A server all of whose workers answer, and their processes by number. */
  const start = async (workers: number, environment: Record<string, string> = {}) => {
    const server = await startServer({ ...(await newEnvironment()), ...environment }, ["--workers", String(workers)])
    cleanups.push(() => server.end())
    const processes = () =>
      new Map(
        [...server.output().matchAll(/Worker (\d+) \(process (\d+)\) is ready/g)].map(
          ([, number, pid]) => [Number(number), Number(pid)] as const
        )
      )
    if (workers > 1) {
      await eventually(
        async () => [...processes()],
        (known) => known.length === workers
      )
    }
    return { server, processes, owner: http(server.baseUrl, apiKey, "main") }
  }

  const client = (server: ServerProcess): Client => {
    const client = new Client(server.baseUrl)
    cleanups.push(() => client.close())
    return client
  }

  return { cleanups, newEnvironment, start, client }
}
