import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3"
import { createClient } from "@delivery/client"
import { median, memory, resetPeak, start } from "./Processes.ts"
import { startRun } from "./Run.ts"

/**
 * Uploading 100 MiB: throughput of the service beside `node:http` with `stream.pipeline`, in turn, and how far the
 * service's memory rises; the same of the service over S3, beside S3's client alone. Run it with `pnpm bench:upload`.
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

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const directory = mkdtempSync(join(tmpdir(), "delivery-bench-"))

const startService = async (name: string, environment: Record<string, string>) => {
  const started = await start("packages/server/src/cli/main.ts", ["serve"], {
    DATA_DIR: join(directory, name),
    BOOTSTRAP_API_KEY: apiKey,
    LOG_LEVEL: "none",
    ...environment
  })
  const run = await startRun(createClient({ baseUrl: started.baseUrl, apiKey }))
  const files = `${started.baseUrl}/v1/workspaces/main/test-runs/${run.number}/files`
  const headers = { authorization: `Bearer ${apiKey}` }
  return { ...started, upload: (round: number) => put(`${files}/round-${round % 4}`, headers) }
}

interface Subject {
  readonly name: string
  readonly once: (round: number) => Promise<number>
}

/** Measures the service beside the others, in turn. */
const compare = async (service: Subject & { readonly pid: number }, ...others: ReadonlyArray<Subject>) => {
  const subjects = [service, ...others]
  for (const { once } of subjects) await once(0)

  const seconds = subjects.map((): Array<number> => [])
  let rise = 0
  for (let round = 0; round < rounds; round++) {
    for (const [index, { once }] of subjects.entries()) {
      resetPeak(service.pid)
      const before = memory(service.pid).now
      seconds[index]!.push(await once(round))
      if (index === 0) rise = Math.max(rise, memory(service.pid).peak - before)
    }
  }
  const mib = bytes / 1024 / 1024
  const own = seconds[0]!
  console.log(`Upload of ${mib} MiB, ${rounds} rounds in turn after one warm-up, medians [slowest..fastest]:`)
  for (const [index, { name }] of subjects.entries()) {
    const rates = seconds[index]!.map((s) => mib / s)
    const ratio = median(own.map((s, round) => seconds[index]![round]! / s))
    console.log(
      `  ${name.padEnd(40)} ${median(rates).toFixed(0).padStart(5)} MiB/s  ` +
        `[${Math.min(...rates).toFixed(0)}..${Math.max(...rates).toFixed(0)}]  service/this ${ratio.toFixed(2)}`
    )
  }
  console.log(`  The service's memory rose by ${rise.toFixed(1)} MiB at most during an upload.`)
}

const onDisk = async () => {
  const service = await startService("disk", {})
  const peer = await start("bench/peer/Upload.ts", [], {})
  try {
    await compare(
      { name: "service", once: service.upload, pid: service.pid },
      { name: "node:http pipeline", once: () => put(peer.baseUrl, {}) },
      { name: "node:http pipeline, hashed and synced", once: () => put(`${peer.baseUrl}/?durable`, {}) }
    )
  } finally {
    await service.end()
    await peer.end()
  }
}

const onS3 = async () => {
  const key = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" }
  const s3 = await start("bench/peer/S3.ts", [], {})
  const service = await startService("s3", { ...key, FILES_URL: `s3://files?endpoint=${s3.baseUrl}` })
  const client = new S3Client({
    endpoint: s3.baseUrl,
    forcePathStyle: true,
    region: "us-east-1",
    requestChecksumCalculation: "WHEN_REQUIRED",
    credentials: { accessKeyId: key.AWS_ACCESS_KEY_ID, secretAccessKey: key.AWS_SECRET_ACCESS_KEY }
  })
  const putObject = async (round: number) => {
    const started = performance.now()
    const Body = Readable.from(Array.from({ length: bytes / chunk.length }, () => chunk))
    const object = { Bucket: "files", Key: `peer/round-${round % 4}`, Body, ContentLength: bytes }
    await client.send(new PutObjectCommand(object))
    return (performance.now() - started) / 1000
  }
  try {
    await compare(
      { name: "service over S3", once: service.upload, pid: service.pid },
      { name: "S3's client to the same S3", once: putObject }
    )
  } finally {
    await service.end()
    await s3.end()
  }
}

try {
  await onDisk()
  await onS3()
} finally {
  rmSync(directory, { recursive: true, force: true })
}
