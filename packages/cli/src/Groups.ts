import { Command } from "effect/cli"

/**
 * The commands of `delivery`, in the order of its help. The file of one is loaded where the arguments may name it. Elsewhere its
 * name and its description, which it has as well, are enough: most of what `--help` would take is to make flags that it does
 * not show.
 */
const groups = [
  {
    name: "login",
    description: "Sign in through a browser, or with an API key from standard input, and store it as a profile",
    load: async () => (await import("./SignIn.ts")).login
  },
  {
    name: "logout",
    description: "Delete a profile from this computer, and revoke its key if login has made it",
    load: async () => (await import("./SignIn.ts")).logout
  },
  {
    name: "status",
    description: "Show who you are to which service, and where each setting comes from",
    load: async () => (await import("./SignIn.ts")).status
  },
  {
    name: "runs",
    description: "Test runs: list, show, publish, end, retry, open, trace",
    load: async () => (await import("./Runs.ts")).runs
  },
  {
    name: "deployments",
    description: "Deployments: list, history, set-version, ready",
    load: async () => (await import("./Deployments.ts")).deployments
  },
  {
    name: "secrets",
    description: "Secrets: run, list, get, set, clear, import, export",
    load: async () => (await import("./Secrets.ts")).secrets
  },
  {
    name: "approvals",
    description: "Approvals of writes by a second person: request, list, approve, reject, end",
    load: async () => (await import("./Approvals.ts")).approvals
  },
  {
    name: "tickets",
    description: "Tickets: list, show, create, take",
    load: async () => (await import("./Tickets.ts")).tickets
  },
  {
    name: "agent",
    description: "Sign coding agents in on this computer, and connect them to the service",
    load: async () => (await import("./Agent.ts")).agent
  }
] as const

/**
 * Whether `--version` is of the command that the arguments name, and not a question about the command line, which would be
 * answered with 0 whatever the command would have done.
 */
export const hasOwnVersion = (args: ReadonlyArray<string>): boolean => {
  const command = args.findIndex((argument) => groups.some(({ name }) => name === argument))
  return command !== -1 && command < args.indexOf("--version")
}

/** What needs every command with its flags. */
const needsAll = (argument: string): boolean => argument === "--wizard" || argument.startsWith("--completions")

/** All commands, those whole that the arguments may name. */
export const commandsFor = (args: ReadonlyArray<string>) => {
  const isWhole = (name: string) => args.includes(name) || args.some(needsAll)
  return Promise.all(
    groups.map(async ({ description, load, name }) =>
      isWhole(name) ? await load() : Command.make(name).pipe(Command.withDescription(description))
    )
  )
}
