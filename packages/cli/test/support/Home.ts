import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { baseEnvironment } from "../../../server/test/support/ServerProcess.ts"

/** The command as a process of a user with a home of their own. */

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

export interface Home {
  readonly directory: string
  /** Runs `delivery` in the home. */
  readonly delivery: (args: ReadonlyArray<string>, options?: Options) => Promise<Ended>
  /** Runs a script that finds `delivery` in its path, and ends with its first failure. */
  readonly script: (text: string) => Promise<Ended>
  readonly remove: () => void
}

const ended = async (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: Readonly<Record<string, string>>,
  input: string
): Promise<Ended> => {
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] })
  const [out, err] = [[] as Array<Buffer>, [] as Array<Buffer>]
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
  // A command that ends without reading closes the pipe.
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  const [code] = (await once(child, "close")) as [number]
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }
}

export const newHome = (): Home => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-home-"))
  const bin = join(directory, "bin")
  mkdirSync(bin)
  writeFileSync(join(bin, "delivery"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
  chmodSync(join(bin, "delivery"), 0o755)
  const environment = {
    ...baseEnvironment,
    HOME: directory,
    XDG_CONFIG_HOME: join(directory, "config"),
    PATH: `${bin}:${baseEnvironment["PATH"]}`
  }
  return {
    directory,
    delivery: (args, { env = {}, input = "" } = {}) =>
      ended(process.execPath, [main, ...args], directory, { ...environment, ...env }, input),
    script: (text) => ended("sh", ["-e", "-c", text], directory, environment, ""),
    remove: () => rmSync(directory, { recursive: true, force: true })
  }
}
