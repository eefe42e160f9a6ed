import { Effect } from "effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { rm } from "node:fs/promises"
import type { Server } from "node:http"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"

/** The part of the package that tests use; it brings no types. */
interface S3rver {
  readonly store: {
    readonly getResourcePath: (bucket: string, key: string, resource: string) => string
    existsObject: (bucket: string, key: string) => Promise<boolean>
    deleteObject: (bucket: string, key: string) => Promise<void>
    getObject: (bucket: string, key: string) => Promise<unknown>
    putObject: (object: {
      readonly bucket: string
      readonly key: string
      readonly metadata: unknown
      readonly content: AsyncIterable<Uint8Array> | Buffer
    }) => Promise<unknown>
  }
  readonly httpServer: Server
  readonly logger: { silent: boolean }
  readonly run: () => Promise<{ readonly port: number }>
  readonly close: () => Promise<void>
}

const require = createRequire(import.meta.url)
const S3rver = require("@20minutes/s3rver") as new (options: {
  readonly address: string
  readonly port: number
  readonly directory: string
  readonly silent: boolean
  readonly vhostBuckets: boolean
  readonly configureBuckets: ReadonlyArray<{ readonly name: string }>
}) => S3rver

/**
 * A server with S3's interface, in this process, with the bucket `files`. It checks signatures; its key is that of the
 * test environment (vitest.workspace.ts).
 */
export interface S3Server {
  readonly endpoint: string
  /** `FILES_URL` of that prefix. */
  readonly filesUrl: (prefix: string) => string
  /** The keys of all objects, sorted. */
  readonly keys: () => ReadonlyArray<string>
  /** For tests that disturb it. */
  readonly server: S3rver
  readonly stop: () => Promise<void>
}

const suffix = "._S3rver_object"

/** On that port of the loopback address, or a free one. */
export const startS3 = async (port = 0): Promise<S3Server> => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-s3-"))
  const server = new S3rver({
    address: "127.0.0.1",
    port,
    directory,
    silent: true,
    vhostBuckets: false,
    configureBuckets: [{ name: "files" }]
  })
  // S3 has no directories. This server has, and its own way of removing empty ones races with writes into them.
  server.store.deleteObject = async (bucket, key) => {
    for (const part of ["object", "object.md5", "metadata.json"]) {
      await rm(server.store.getResourcePath(bucket, key, part), { force: true })
    }
  }
  // Also once it is closed.
  server.logger.silent = true
  const address = await server.run()
  const endpoint = `http://127.0.0.1:${address.port}`
  return {
    endpoint,
    filesUrl: (prefix) => `s3://files/${prefix}?endpoint=${endpoint}`,
    keys: () =>
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((file) => file.isFile() && file.name.endsWith(suffix))
        .map((file) => relative(join(directory, "files"), join(file.parentPath, file.name.slice(0, -suffix.length))))
        .toSorted(),
    server,
    stop: async () => {
      const closed = server.close()
      server.httpServer.closeAllConnections()
      await closed
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

/** The same, until the scope closes. */
export const makeS3 = Effect.acquireRelease(
  Effect.promise(() => startS3()),
  (s3) => Effect.promise(s3.stop)
)
