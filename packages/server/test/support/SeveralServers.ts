import { Effect, Layer } from "effect"
import { layerServer } from "../../src/App.ts"
import { freePort } from "../../src/cli/FreePort.ts"
import { Settings } from "../../src/Config.ts"
import * as Logs from "../../src/http/Logs.ts"
import { http } from "./Http.ts"
import { dataDir } from "./Servers.ts"

/** The key of the owner at the servers that share a database. */
const ownerKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

/** Another server on a database, for tests of several; its owner. It ends with the scope. */
export const startServerOn = Effect.fnUntraced(function* (
  url: string,
  environment: Readonly<Record<string, string>> = {}
) {
  const port = yield* Effect.promise(() => freePort())
  const baseUrl = `http://127.0.0.1:${port}`
  const settings = Settings.layer({
    PORT: String(port),
    BASE_URL: baseUrl,
    DATABASE_URL: url,
    DATA_DIR: yield* dataDir,
    VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
    BOOTSTRAP_API_KEY: ownerKey,
    LOG_LEVEL: "none",
    WEBSITE: "false",
    ...environment
  })
  yield* Layer.build(Layer.fresh(layerServer).pipe(Layer.provide(Logs.layer), Layer.provide(settings)))
  return http(baseUrl, ownerKey, "main")
})
