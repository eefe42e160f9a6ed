import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { type Http, http } from "../../../server/test/support/Http.ts"
import { type ServerProcess, startServer } from "../../../server/test/support/ServerProcess.ts"
import { type Home, newHome } from "./Home.ts"

/** The key of the first owner. */
export const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

export interface Service {
  readonly baseUrl: string
  /** The first owner, in the workspace `main`. */
  readonly owner: () => Http
  /** A user's home, until the tests end. */
  readonly home: () => Home
  /** The environment of a caller, so that nothing need be stored. */
  readonly as: (caller: Http) => Record<string, string>
  /** Ends the process, and starts another one on the same port with the same data. */
  readonly restart: (whileAway: () => Promise<void>) => Promise<void>
  /** Does this after the tests. */
  readonly afterwards: (remove: () => unknown) => void
}

/** A service in a process of its own, on a socket, for the tests of the `describe` that asks for it. */
export const useService = (): Service => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-cli-"))
  const settings = { DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey, LOG_LEVEL: "warn" }
  const removals: Array<() => unknown> = []
  let server: ServerProcess
  beforeAll(async () => {
    server = await startServer(settings)
  })
  afterAll(async () => {
    await server.end()
    rmSync(dataDir, { recursive: true, force: true })
    for (const remove of removals) await remove()
  })
  return {
    get baseUrl() {
      return server.baseUrl
    },
    owner: () => http(server.baseUrl, apiKey, "main"),
    home: () => {
      const home = newHome()
      removals.push(home.remove)
      return home
    },
    as: ({ key, workspace }) => ({
      DELIVERY_URL: server.baseUrl,
      DELIVERY_API_KEY: key!,
      DELIVERY_WORKSPACE: workspace
    }),
    restart: async (whileAway) => {
      await server.end("SIGTERM")
      await whileAway()
      server = await startServer({ ...settings, PORT: new URL(server.baseUrl).port })
    },
    afterwards: (remove) => void removals.push(remove)
  }
}
