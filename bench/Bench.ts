import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startPostgres } from "../packages/server/test/support/PostgresServer.ts"

/** The owner's key at the servers of a benchmark. */
export const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

/** A PostgreSQL and a directory of a benchmark's own, and the settings of servers that share them. */
export const open = async (options?: Parameters<typeof startPostgres>[0]) => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-bench-"))
  const postgres = await startPostgres(options)
  return {
    directory,
    databaseUrl: postgres.url,
    settings: {
      DATABASE_URL: postgres.url,
      DATA_DIR: directory,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      // A benchmark of refusals sends them from one address.
      AUTH_FAILURE_LIMIT: "1000000/1"
    },
    close: async () => {
      await postgres.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
