import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { withDeployed } from "./Deployed.ts"
import { median } from "./Processes.ts"

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

try {
  await withDeployed({ products: ["shop"], secrets: 20 }, async ({ service, tokens: [token = ""] }) => {
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
  })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
