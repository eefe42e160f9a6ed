import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { freePort } from "../packages/server/src/cli/FreePort.ts"

/** Starts and watches the processes that a benchmark compares. */

export interface Started {
  readonly baseUrl: string
  readonly pid: number
  readonly end: () => Promise<void>
}

/** Runs `script` with `PORT` set and waits until it answers anything at all. What it prints is dropped unless taken. */
export const start = async (
  script: string,
  args: ReadonlyArray<string>,
  environment: Record<string, string>,
  take?: (printed: Buffer) => void
): Promise<Started> => {
  const port = await freePort()
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, WEBSITE: "false", ...environment, PORT: String(port) },
    stdio: ["ignore", take === undefined ? "ignore" : "pipe", "inherit"]
  })
  if (take !== undefined) child.stdout!.on("data", take)
  const exited = once(child, "exit")
  const baseUrl = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${baseUrl}/ready`).then(
      (response) => response.status < 500,
      () => false
    )
  for (let i = 0; !(await answers()); i++) {
    if (child.exitCode !== null || i > 400) throw new Error(`${script} did not start.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    baseUrl,
    pid: child.pid!,
    end: async () => {
      child.kill("SIGTERM")
      await exited
    }
  }
}

const status = (pid: number, field: "VmHWM" | "VmRSS"): number => {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(match![1]) / 1024
}

/** MiB of memory that the process has now, and the most it had since `resetPeak` (Linux). */
export const memory = (pid: number) => ({ now: status(pid, "VmRSS"), peak: status(pid, "VmHWM") })

/** Makes the present memory the peak. */
export const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5")

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
