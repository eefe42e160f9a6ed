import { createClient } from "@delivery/client"
import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { apiKey, open } from "./Bench.ts"
import { median, start } from "./Processes.ts"

/**
 * How long the command line takes to start, as npm packs it: `--help` beside Node that does nothing, and a child of `delivery
 * secrets run` beside the same child alone. In turn, after some that are not counted, since the first fills the cache of compiled
 * code. Run it with `pnpm bench:cli`. `BENCH_ROUNDS`.
 */
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 31)
const directory = mkdtempSync(join(tmpdir(), "delivery-bench-cli-"))
const packageOfCli = join(import.meta.dirname, "../packages/cli")
execFileSync(join(packageOfCli, "node_modules/.bin/rolldown"), ["--config", "--dir", join(directory, "dist")], {
  cwd: packageOfCli,
  stdio: "ignore"
})
writeFileSync(join(directory, "package.json"), JSON.stringify({ type: "module" }))
const delivery = join(directory, "dist/main.js")

const bench = await open()
try {
  const service = await start("packages/server/src/cli/main.ts", ["serve"], {
    ...bench.settings,
    BASE_URL: "http://127.0.0.1",
    LOG_LEVEL: "warn"
  })
  try {
    const client = createClient({ baseUrl: service.baseUrl, apiKey })
    const params = { slug: "main" }
    await client.environments.create({ params, payload: { slug: "live", name: "Live", class: "production" } })
    await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
    await client.deployments.create({ params, payload: { product: "shop", environment: "live" } })
    const place = { ...params, product: "shop", environment: "live" }
    const { token } = await client.deploymentTokens.create({ params: place, payload: { name: "bench" } })
    for (let index = 0; index < 20; index++) {
      const payload = { products: ["shop"], environments: ["live"], name: `SECRET_${index}`, value: "x".repeat(64) }
      await client.vault.assign({ params, payload })
    }
    const env = {
      PATH: process.env["PATH"],
      HOME: directory,
      DELIVERY_URL: service.baseUrl,
      DELIVERY_TOKEN: token
    }
    const subjects = {
      "node that does nothing": ["--eval", "0"],
      "delivery --help": [delivery, "--help"],
      "delivery secrets run -- node that does nothing": [
        delivery,
        "secrets",
        "run",
        "--",
        process.execPath,
        "--eval",
        "0"
      ]
    }
    const times = Object.entries(subjects).map(([name, args]) => ({ name, args, millis: [] as Array<number> }))
    for (let round = -3; round < rounds; round++) {
      // Backwards every other time: who comes first must not matter.
      for (const { args, millis } of round % 2 === 0 ? times : times.toReversed()) {
        const started = performance.now()
        await promisify(execFile)(process.execPath, args, { env })
        if (round >= 0) millis.push(performance.now() - started)
      }
    }
    const alone = times[0]!.millis
    console.log(
      `Node ${process.version}, ${rounds} rounds in turn, milliseconds; what is added is of the same round.\n\n` +
        "| Command | median | least | median added |\n|---|---|---|---|"
    )
    for (const { millis, name } of times) {
      const added = median(millis.map((value, round) => value - alone[round]!))
      console.log(
        `| ${name} | ${median(millis).toFixed(0)} | ${Math.min(...millis).toFixed(0)} | ${added.toFixed(0)} |`
      )
    }
  } finally {
    await service.end()
  }
} finally {
  await bench.close()
  rmSync(directory, { recursive: true, force: true })
}
