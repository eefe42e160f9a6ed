import { Data, Effect } from "effect"
import { spawn } from "node:child_process"
import { constants, setPriority } from "node:os"

class BuildFailed extends Data.TaggedError("BuildFailed")<{ readonly message: string }> {}

/** The directory that a script of `packages/website/build` makes. A process of its own does it, after all that is more urgent. */
export const build = (script: string) =>
  Effect.callback<string, BuildFailed>((resume) => {
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "pipe"] })
    if (child.pid !== undefined) {
      try {
        setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
      } catch {
        // It builds as fast as anything else, then.
      }
    }
    const printed = { out: "", problem: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed.out += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (printed.problem += text))
    child.on("error", (error) => resume(new BuildFailed({ message: error.message })))
    child.on("close", (code) => {
      const directory = printed.out.trim().split("\n").at(-1)
      if (code === 0 && directory !== undefined && directory !== "") return resume(Effect.succeed(directory))
      return resume(new BuildFailed({ message: `It ended with ${code}: ${printed.problem.slice(-4_000)}` }))
    })
    return Effect.sync(() => child.kill())
  })
