import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { baseEnvironment } from "../../../server/test/support/ServerProcess.ts"

/** The command as a process of a user with a home of their own. */

/** The built command. */
export const main = inject("cliMain")

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** Default: the home. */
  readonly cwd?: string
  /** Where its standard output goes. Default: a pipe, read as `out`. */
  readonly output?: number
}

/** A command that goes on. */
export interface Running {
  readonly child: ChildProcess
  readonly out: () => string
  readonly err: () => string
  /** Waits until its output matches. Fails with all of it if it ends before. */
  readonly until: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Its exit code. */
  readonly code: Promise<number | null>
}

export interface Home {
  readonly directory: string
  /** Runs `delivery` in the home. */
  readonly delivery: (args: ReadonlyArray<string>, options?: Options) => Promise<Ended>
  /** Starts `delivery` in the home. */
  readonly start: (args: ReadonlyArray<string>, options?: Options) => Running
  /** Runs a script that finds `delivery` in its path, and ends with its first failure. */
  readonly script: (text: string, options?: Options) => Promise<Ended>
  readonly remove: () => void
}

const running = (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: Readonly<Record<string, string>>,
  input: string,
  output?: number
): Running => {
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", output ?? "pipe", "pipe"] })
  const [stdin, stdout, stderr] = [child.stdin!, child.stdout, child.stderr!]
  let [out, err, hasEnded] = ["", "", false]
  stdout?.setEncoding("utf8").on("data", (text: string) => (out += text))
  stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
  // A command that ends without reading closes the pipe.
  stdin.on("error", () => {})
  stdin.end(input)
  const code = (once(child, "close") as Promise<[number | null]>).then(([code]) => {
    hasEnded = true
    child.emit("over")
    return code
  })
  const until = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(out + err)
      if (found !== null) return found
      if (hasEnded) throw new Error(`The command has ended before it printed ${pattern}:\n${out}${err}`)
      const news = [stdout ?? [], stderr].flat().map((one) => once(one, "data"))
      await Promise.race([...news, once(child, "over")])
    }
  }
  return { child, out: () => out, err: () => err, until, code }
}

const ended = async (...given: Parameters<typeof running>): Promise<Ended> => {
  const { code, err, out } = running(...given)
  const ended = (await code) ?? -1
  return { code: ended, out: out(), err: err() }
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
    delivery: (args, { cwd = directory, env = {}, input = "", output } = {}) =>
      ended(process.execPath, [main, ...args], cwd, { ...environment, ...env }, input, output),
    start: (args, { env = {}, input = "" } = {}) =>
      running(process.execPath, [main, ...args], directory, { ...environment, ...env }, input),
    script: (text, { env = {}, input = "" } = {}) =>
      ended("sh", ["-e", "-c", text], directory, { ...environment, ...env }, input),
    remove: () => rmSync(directory, { recursive: true, force: true })
  }
}
