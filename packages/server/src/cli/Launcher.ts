import { Effect, Schedule } from "effect"
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { platform } from "node:os"
import { basename } from "node:path"
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

/** The names of a program and of its first argument, which is a script where the program is Node. */
const namesOf = (command: string): ReadonlyArray<string> =>
  command
    .split(/[\s\0]+/)
    .slice(0, 2)
    .map((word) => basename(word))

const isManager = ({ command }: Process): boolean =>
  namesOf(command).some((name) => /^(npm|npx|pnpm)(-cli)?(\.[cm]?js)?$/.test(name))

/** Node that watches the sources, and starts the server again when it ends; `pnpm dev`, which runs it beside the website. */
const isWatcher = ({ command }: Process): boolean =>
  /[\s\0]--watch([\s\0]|$)|website\/dev\/dev\.ts([\s\0]|$)/.test(command)

const isShell = ({ command }: Process): boolean => /^(sh|bash|dash|zsh)$/.test(namesOf(command)[0] ?? "")

interface Ancestor {
  readonly pid: number
  readonly isManager: boolean
  readonly isWatcher: boolean
}

/** This process' ancestors as far as they are package managers and what these run their scripts by, nearest first. */
const lineOf = async (pid: number): Promise<ReadonlyArray<Ancestor>> => {
  const found = pid > 1 ? await inspect(pid).catch(() => undefined) : undefined
  if (found === undefined || !(isManager(found) || isWatcher(found) || isShell(found))) return []
  return [{ pid, isManager: isManager(found), isWatcher: isWatcher(found) }, ...(await lineOf(found.parent))]
}

/** The same up to the outermost package manager. Empty if there is none. */
const launchers = async (): Promise<ReadonlyArray<Ancestor>> => {
  const line = await lineOf(process.ppid)
  return line.slice(0, line.findLastIndex((ancestor) => ancestor.isManager) + 1)
}

const interval = platform() === "linux" ? "500 millis" : "3 seconds"

/** Sends SIGTERM to a process, which may have ended meanwhile. */
const terminate = (pid: number): void => {
  try {
    process.kill(pid, "SIGTERM")
  } catch {
    // It has ended.
  }
}

/**
 * Ends this process as SIGTERM does, once one of the processes that launched it has ended. A watcher ends first: it would
 * start another server.
 */
export const endWithLauncher = (environment: Readonly<Record<string, string | undefined>>): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (environment["npm_lifecycle_event"] === undefined) return
    const first = yield* Effect.promise(launchers)
    if (first.length === 0) return
    const hasEnded = Effect.map(
      Effect.promise(() => lineOf(process.ppid)),
      (now) => first.some(({ pid }, index) => pid !== now[index]?.pid)
    )
    yield* Effect.repeat(hasEnded, { schedule: Schedule.spaced(interval), until: (ended) => ended })
    yield* Effect.sync(() => {
      for (const ancestor of first) if (ancestor.isWatcher) terminate(ancestor.pid)
      terminate(process.pid)
    })
  })
