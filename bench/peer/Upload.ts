import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"

/**
 * The peer of the upload benchmark: `node:http` with `stream.pipeline` into a file. With `?durable`, it also hashes the
 * bytes and waits for the disk, as the service does before it acknowledges.
 */
const directory = mkdtempSync(join(tmpdir(), "delivery-peer-"))
process.once("exit", () => rmSync(directory, { recursive: true, force: true }))
process.once("SIGTERM", () => process.exit(0))

let count = 0
const server = createServer(async (request, response) => {
  const handle = await open(join(directory, String(count++ % 4)), "w")
  if (request.url?.includes("durable") === true) {
    const hash = createHash("sha256")
    const tap = new Transform({
      transform(chunk: Buffer, _, done) {
        hash.update(chunk)
        done(null, chunk)
      }
    })
    await pipeline(request, tap, handle.createWriteStream({ flush: true }))
    response.end(hash.digest("hex"))
  } else {
    await pipeline(request, handle.createWriteStream())
    response.end("stored")
  }
})
server.listen(Number(process.env["PORT"]), "127.0.0.1")
