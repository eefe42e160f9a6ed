import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { freePort } from "../../src/cli/FreePort.ts"

/** The command `delivery-server`. */
export const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url))
/** The root of the repository. */
export const root = fileURLToPath(new URL("../../../..", import.meta.url))

/**
 * What a process has of the tests' environment: not the whole, since the test runner sets BASE_URL for itself, and the
 * machine may set others.
 */
export const baseEnvironment: Record<string, string> = {
  PATH: process.env["PATH"]!,
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"]!,
  // Its build takes seconds, and few tests look at it.
  WEBSITE: "false",
  // TEST_DATABASE_URL may name one of another machine.
  DATABASE_PLAINTEXT: "true"
}

export interface ServerProcess {
  readonly baseUrl: string
  readonly child: ChildProcess
  readonly pid: number
  /** Everything it has printed so far. */
  readonly output: () => string
  /** Ends it and waits; SIGKILL unless told. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** Starts a command at the root of the repository, in a process group of its own. */
export const startCommand = (
  command: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
) => {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...baseEnvironment, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  }
  const closed = once(child, "close") as Promise<[number | null]>
  return { child, output: () => output, code: async () => (await closed)[0] }
}

/** Runs `delivery-server serve`, with settings with which it ends by itself. */
export const serveUntilEnd = async (
  environment: Readonly<Record<string, string>>,
  flags: ReadonlyArray<string> = []
) => {
  const { code, output } = startCommand(process.execPath, [main, "serve", ...flags], environment)
  return { code: await code(), output: output() }
}

/** Whether a server is ready at a port. */
export const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/ready`).then(
    (response) => response.ok,
    () => false
  )

/** Starts `delivery serve` as a process of its own and waits until it is ready. Fails with its output if it ends. */
export const startServer = async (
  environment: Record<string, string>,
  flags: ReadonlyArray<string> = []
): Promise<ServerProcess> => {
  const port = environment["PORT"] ?? String(await freePort())
  const child = spawn(process.execPath, [main, "serve", ...flags], {
    // Tests try credentials that are not valid, from one address.
    env: { ...baseEnvironment, LOG_FORMAT: "json", AUTH_FAILURE_LIMIT: "1000000/1", ...environment, PORT: port },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  const take = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-5_000_000)
  }
  child.stdout.on("data", take)
  child.stderr.on("data", take)
  const exited = once(child, "exit")
  let hasExited = false
  child.once("exit", () => {
    hasExited = true
  })
  const baseUrl = `http://127.0.0.1:${port}`
  for (const deadline = Date.now() + 110_000; !(await answers(Number(port)));) {
    if (hasExited || Date.now() > deadline) {
      child.kill("SIGKILL")
      throw new Error(`The server did not start:\n${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    baseUrl,
    child,
    pid: child.pid!,
    output: () => output,
    end: async (signal = "SIGKILL") => {
      if (!hasExited) child.kill(signal)
      const [code] = (await exited) as [number | null]
      return code
    }
  }
}
