/**
 * `pnpm dev`: the server, restarted when one of its sources changes, and the website with hot reload, at one port (`PORT`, else
 * 4000). Vite has the port: it serves the website itself, and passes everything else on to the server behind it.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createServer } from "vite"
import { freePort } from "../../server/src/cli/FreePort.ts"

const port = Number(process.env["PORT"] ?? 4000)
const inner = await freePort()

/** What Vite answers: the pages, and the files that they are made of. */
const ofWebsite = "(?:w(?:[/?]|$)|design|src/|build/|@|node_modules/|packages/|icon\\.svg|$)"

const vite = await createServer({
  configFile: join(import.meta.dirname, "../vite.config.ts"),
  server: {
    port,
    strictPort: true,
    proxy: { [`^/(?!${ofWebsite})`]: { target: `http://localhost:${inner}`, xfwd: false } }
  },
  logLevel: "warn"
})
await vite.listen()

const server = spawn(
  process.execPath,
  [
    "--watch",
    "--watch-preserve-output",
    // Not `main.ts`, which may load the built command: what is watched are the sources.
    join(import.meta.dirname, "../../server/src/cli/Program.ts"),
    "serve",
    ...process.argv.slice(2)
  ],
  {
    env: { BASE_URL: `http://localhost:${port}`, ...process.env, PORT: String(inner), WEBSITE: "elsewhere" },
    stdio: "inherit"
  }
)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal))
const [code] = (await once(server, "exit")) as [number | null]
await vite.close()
process.exitCode = code ?? 0
