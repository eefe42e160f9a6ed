import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@delivery/client"
import { median, memory, resetPeak, start } from "./Processes.ts"
import { startRun } from "./Run.ts"

/**
 * Uploading 100 MiB: throughput of the service beside `node:http` with `stream.pipeline`, in turn, and how far the
 * service's memory rises. Run it with `pnpm bench:upload`.
 */
const bytes = 104_857_600
const rounds = 7
const chunk = Buffer.alloc(64 * 1024, "delivery ")

/** Sends `bytes` bytes and answers the seconds until the response has ended. */
const put = (url: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const outgoing = request(
      url,
      { method: "PUT", headers: { ...headers, "content-length": String(bytes) } },
      (response) => {
        response.resume()
        response.once("end", () =>
          response.statusCode! < 300
            ? resolve((performance.now() - started) / 1000)
            : reject(new Error(`${url} answered ${response.statusCode}`))
        )
      }
    )
    outgoing.once("error", reject)
    let sent = 0
    const send = () => {
      while (sent < bytes) {
        sent += chunk.length
        if (!outgoing.write(chunk)) {
          outgoing.once("drain", send)
          return
        }
      }
      outgoing.end()
    }
    send()
  })

const dataDir = mkdtempSync(join(tmpdir(), "delivery-bench-"))
const service = await start("packages/server/src/main.ts", ["serve"], {
  DATA_DIR: dataDir,
  BOOTSTRAP_API_KEY: "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo",
  LOG_LEVEL: "none"
})
const peer = await start("bench/peer/Upload.ts", [], {})
try {
  const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
  const client = createClient({ baseUrl: service.baseUrl, apiKey })
  const run = await startRun(client)
  const file = (name: string) => `${service.baseUrl}/v1/workspaces/main/test-runs/${run.number}/files/${name}`
  const headers = { authorization: `Bearer ${apiKey}` }

  const subjects = [
    ["service", (round: number) => put(file(`round-${round % 4}`), headers)],
    ["node:http pipeline", () => put(peer.baseUrl, {})],
    ["node:http pipeline, hashed and synced", () => put(`${peer.baseUrl}/?durable`, {})]
  ] as const
  for (const [, once] of subjects) await once(0)

  const seconds = subjects.map((): Array<number> => [])
  let rise = 0
  for (let round = 0; round < rounds; round++) {
    for (const [index, [, once]] of subjects.entries()) {
      resetPeak(service.pid)
      const before = memory(service.pid).now
      seconds[index]!.push(await once(round))
      if (index === 0) rise = Math.max(rise, memory(service.pid).peak - before)
    }
  }
  const mib = bytes / 1024 / 1024
  const own = seconds[0]!
  console.log(`Upload of ${mib} MiB, ${rounds} rounds in turn after one warm-up, medians [slowest..fastest]:`)
  for (const [index, [name]] of subjects.entries()) {
    const rates = seconds[index]!.map((s) => mib / s)
    const ratio = median(own.map((s, round) => seconds[index]![round]! / s))
    console.log(
      `  ${name.padEnd(40)} ${median(rates).toFixed(0).padStart(5)} MiB/s  ` +
        `[${Math.min(...rates).toFixed(0)}..${Math.max(...rates).toFixed(0)}]  service/this ${ratio.toFixed(2)}`
    )
  }
  console.log(`  The service's memory rose by ${rise.toFixed(1)} MiB at most during an upload.`)
} finally {
  await service.end()
  await peer.end()
  rmSync(dataDir, { recursive: true, force: true })
}
