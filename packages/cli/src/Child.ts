import { type ChildProcess, spawn } from "node:child_process"
import { constants } from "node:os"
import { isatty } from "node:tty"
import { Failure } from "./Failure.ts"

/** The process that `delivery secrets run` starts: it has the standard streams and the signals of the command. */

/** What a shell answers for a command that a signal has ended. */
const codeOfSignal = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/** As shells and `env` have them: the command cannot be run, or is not there. */
const [cannotRun, notFound] = [126, 127]

const startFailure = (command: string, error: NodeJS.ErrnoException): Failure => {
  if (error.code === "ENOENT") {
    return new Failure({ message: `${command} is not there, or its interpreter is not.`, exitCode: notFound })
  }
  const why =
    error.code === "E2BIG"
      ? "its arguments and its environment, which the secrets are part of, are larger than the system allows"
      : (error.code ?? error.message)
  return new Failure({ message: `${command} cannot be started: ${why}.`, exitCode: cannotRun })
}

export interface Started {
  /** Its exit code, or 128 and the number of the signal that ended it. */
  readonly ended: Promise<number>
  readonly kill: (signal: NodeJS.Signals) => void
}

export interface StartOptions {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly environment: NodeJS.ProcessEnv
  /** Whether it has the standard input of the command. */
  readonly hasInput: boolean
}

/** Rejects with a `Failure` if it cannot be started. Node gives a child no descriptors but the three streams. */
export const start = ({ args, command, environment, hasInput }: StartOptions): Promise<Started> =>
  new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(startFailure(command, error as NodeJS.ErrnoException))
    let child: ChildProcess
    try {
      child = spawn(command, [...args], {
        env: environment,
        stdio: [hasInput ? "inherit" : "ignore", "inherit", "inherit"]
      })
    } catch (error) {
      return fail(error)
    }
    const ended = new Promise<number>((resolve) =>
      child.once("exit", (code, signal) => resolve(signal === null ? (code ?? 1) : codeOfSignal(signal)))
    )
    child.once("error", fail)
    child.once("spawn", () => resolve({ ended, kill: (signal) => void child.kill(signal) }))
  })

/** What a terminal sends to all processes in front of it. */
const ofTerminal = new Set<NodeJS.Signals>(["SIGINT", "SIGQUIT"])
const forwarded: ReadonlyArray<NodeJS.Signals> = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGWINCH",
  "SIGCONT"
]
/** Those that end a process which does nothing about them, and are meant to. */
const ending = new Set<NodeJS.Signals>(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])

/** Passes signals on to the process of the moment. */
export class Signals {
  #child: Started | undefined
  #received: NodeJS.Signals | undefined
  #whenReceived: () => void = () => {}
  /** Ends with the first signal that ends processes and comes while none of them runs or is to go on. */
  readonly stopped = new Promise<void>((resolve) => {
    this.#whenReceived = resolve
  })
  #isBetween = true

  constructor() {
    const isAtTerminal = isatty(0)
    for (const signal of forwarded) {
      process.on(signal, () => {
        if (this.#isBetween && ending.has(signal)) {
          this.#received ??= signal
          this.#whenReceived()
        }
        // Whoever sits at a terminal has sent it to the child as well. Twice would mean something else.
        if (!(isAtTerminal && ofTerminal.has(signal))) this.#child?.kill(signal)
      })
    }
  }

  /** The exit code of a signal that came between two processes. */
  get code(): number | undefined {
    return this.#received === undefined ? undefined : codeOfSignal(this.#received)
  }

  /** From now on, signals are those of this process. */
  runs(child: Started): void {
    this.#child = child
    this.#isBetween = false
    if (this.#received !== undefined) child.kill(this.#received)
  }

  /** The process is being replaced: a signal that would end it now ends the command, too. */
  replaces(): void {
    this.#isBetween = true
  }
}
