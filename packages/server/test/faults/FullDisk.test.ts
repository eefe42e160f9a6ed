import { execFileSync } from "node:child_process"
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { platform, tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { type ErrorBody, finishRun, http, newDeployment, startRun } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** A disk without room: uploads fail, each by itself, leave nothing, and work again once there is room. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const mebibyte = 1024 * 1024

/** How a disk becomes full: as a small file system, which root can mount, or for files above a size. */
interface Disk {
  readonly prepare: (files: string) => void
  /** From now on there is no room for a file of this size. */
  readonly fill: (server: ServerProcess, files: string) => void
  readonly free: (server: ServerProcess, files: string) => void
  readonly cleanUp: (files: string) => void
  readonly error: RegExp
}

const fileSystem: Disk = {
  prepare: (files) => {
    mkdirSync(files, { recursive: true })
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", files])
  },
  fill: (_, files) => {
    try {
      for (;;) appendFileSync(join(files, "filler"), Buffer.alloc(4096))
    } catch {
      // Full.
    }
  },
  free: (_, files) => rmSync(join(files, "filler")),
  cleanUp: (files) => void execFileSync("umount", [files]),
  error: /ENOSPC/
}

const fileSize: Disk = {
  prepare: () => {},
  fill: ({ pid }) => void execFileSync("prlimit", ["--pid", String(pid), `--fsize=${mebibyte / 2}:`]),
  free: ({ pid }) => void execFileSync("prlimit", ["--pid", String(pid), "--fsize=unlimited:"]),
  cleanUp: () => {},
  error: /EFBIG/
}

const canMount = (): boolean => {
  if (process.getuid?.() !== 0) return false
  const directory = mkdtempSync(join(tmpdir(), "delivery-mount-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", directory], { stdio: "ignore" })
    execFileSync("umount", [directory])
    return true
  } catch {
    return false
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const disks: ReadonlyArray<readonly [name: string, disk: Disk]> = [
  ...(canMount() ? ([["that is full", fileSystem]] as const) : []),
  ...(platform() === "linux" ? ([["with a limit of a file's size", fileSize]] as const) : [])
]

describe.each(disks)("a disk %s", (_, disk) => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-disk-"))
  const files = join(dataDir, "files")
  let drop = async () => {}
  let server: ServerProcess | undefined
  afterEach(async () => {
    await server?.end()
    disk.cleanUp(files)
    rmSync(dataDir, { recursive: true })
    await drop()
  })

  it("fails uploads with the request's id, leaves nothing of them, and concerns nothing else", async () => {
    disk.prepare(files)
    const database = await openDatabase()
    drop = database.drop
    server = await startServer({
      DATABASE_URL: database.url,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      DATA_DIR: dataDir
    })
    const workspace = await newDeployment(http(server.baseUrl, apiKey, "main"))
    const { number } = await startRun(workspace)
    const put = (path: string, size: number) =>
      workspace.send<ErrorBody>("PUT", `test-runs/${number}/files/${path}`, { body: Buffer.alloc(size, path) })
    const onDisk = () =>
      readdirSync(files, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && entry.name !== "filler"
      ).length

    assert.strictEqual((await put("a", mebibyte)).status, 201)
    disk.fill(server, files)
    // Some are too large for it at once, some one after the other; all are told.
    const refused = await Promise.all([put("b", 8 * mebibyte), put("c", mebibyte), put("a", 2 * mebibyte)])
    for (const answer of refused) {
      assert.strictEqual(answer.status, 500)
      assert.match(server.output(), disk.error)
      assert.include(server.output(), String(answer.headers["x-request-id"]))
    }
    assert.strictEqual(onDisk(), 1)

    const { bytes } = await workspace.send("GET", `test-runs/${number}/files/a`)
    assert.isTrue(bytes.equals(Buffer.alloc(mebibyte, "a")))
    await workspace.post("products", { slug: "beside", name: "Beside", type: "library" })
    assert.strictEqual((await workspace.send("GET", "/ready")).status, 200)

    disk.free(server, files)
    for (const path of ["b", "c"]) assert.strictEqual((await put(path, mebibyte)).status, 201)
    assert.strictEqual((await put("a", mebibyte)).status, 200)
    await finishRun(workspace, number)
    assert.strictEqual(onDisk(), 3)
  })
})

describe.runIf(canMount())("the embedded database on a disk that is full", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-disk-"))
  let server: ServerProcess | undefined
  afterEach(async () => {
    await server?.end()
    execFileSync("umount", [dataDir])
    rmSync(dataDir, { recursive: true })
  })

  it("rejects what it cannot store, still reads, recovers with free space, and has all that it acknowledged", async () => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=150m", "tmpfs", dataDir])
    const environment = { BOOTSTRAP_API_KEY: apiKey, DATA_DIR: dataDir, LOG_LEVEL: "none" }
    server = await startServer(environment)
    const workspace = () => http(server!.baseUrl, apiKey, "main")
    const acknowledged: Array<string> = []
    const create = async (slug: string) => {
      const body = { slug, name: slug.padEnd(100, "x"), type: "library" }
      const { status } = await workspace().send<ErrorBody>("POST", "products", { json: body })
      if (status === 201) acknowledged.push(slug)
      return status
    }
    const read = async () => {
      const { products } = await workspace().get<{ products: ReadonlyArray<{ slug: string }> }>("products")
      return products.map(({ slug }) => slug)
    }
    assert.strictEqual(await create("first"), 201)
    fileSystem.fill(server, dataDir)
    const statuses: Array<number> = []
    for (let i = 0; i < 1000 && statuses.filter((status) => status === 500).length < 20; i++) {
      statuses.push(await create(`full-${i}`))
    }
    assert.strictEqual(statuses.at(-1), 500)
    assert.sameMembers(await read(), acknowledged)
    fileSystem.free(server, dataDir)
    assert.strictEqual(await create("last"), 201)
    await server.end("SIGKILL")
    server = await startServer(environment)
    assert.sameMembers(await read(), acknowledged)
  })
})
