import { Effect, Schedule } from "effect"
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { platform } from "node:os"
import { promisify } from "node:util"

/**
 * npx and pnpm end on SIGTERM without passing it on. The server that they started would keep running, with its port and
 * its database. So a server that was started by a script of package.json ends when one of them does.
 */

interface Process {
  readonly parent: number
  readonly command: string
}

const run = promisify(execFile)

/** A process, as the operating system describes it. Fails if it is gone. */
const inspect: (pid: number) => Promise<Process> =
  platform() === "linux"
    ? async (pid) => {
        const [status, command] = await Promise.all([
          readFile(`/proc/${pid}/status`, "utf8"),
          readFile(`/proc/${pid}/cmdline`, "utf8")
        ])
        return { parent: Number(/^PPid:\s*(\d+)$/m.exec(status)![1]), command }
      }
    : async (pid) => {
        const { stdout } = await run("ps", ["-o", "ppid=,command=", "-p", String(pid)])
        const [, parent, command] = /^\s*(\d+)\s+(.*)$/m.exec(stdout)!
        return { parent: Number(parent), command: command! }
      }

const isPackageManager = ({ command }: Process): boolean => /(^|[\s\0/])(npm|npx|pnpm)([\s\0.-]|$)/.test(command)

interface Ancestor {
  readonly pid: number
  readonly isManager: boolean
}

/** A process and its ancestors, nearest first. */
const lineOf = async (pid: number): Promise<ReadonlyArray<Ancestor>> => {
  const found = pid > 1 ? await inspect(pid).catch(() => undefined) : undefined
  return found === undefined ? [] : [{ pid, isManager: isPackageManager(found) }, ...(await lineOf(found.parent))]
}

/** The ancestors of this process up to the outermost npx, npm or pnpm, nearest first. Empty where there is none. */
const launchers = async (): Promise<ReadonlyArray<number>> => {
  const line = await lineOf(process.ppid)
  return line.slice(0, line.findLastIndex(({ isManager }) => isManager) + 1).map(({ pid }) => pid)
}

const interval = platform() === "linux" ? "500 millis" : "3 seconds"

/** Ends this process as SIGTERM does, once one of the processes that launched it has ended. */
export const endWithLauncher = (environment: Readonly<Record<string, string | undefined>>): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (environment["npm_lifecycle_event"] === undefined) return
    const first = yield* Effect.promise(launchers)
    const hasEnded = Effect.map(
      Effect.promise(launchers),
      (now) => now.length < first.length || first.some((pid, index) => pid !== now[index])
    )
    if (first.length === 0) return
    yield* Effect.repeat(hasEnded, { schedule: Schedule.spaced(interval), until: (ended) => ended })
    yield* Effect.sync(() => process.kill(process.pid, "SIGTERM"))
  })
