import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { hostname } from "node:os"
import { connectionFlags } from "./Settings.ts"

/** `delivery agent`: signs coding agents in on this computer, and connects them to the service. */

/** What the commands do. It is loaded where one runs, since it needs the whole API. */
const work = Effect.promise(() => import("./AgentWork.ts"))

/** The flags that name a sign-in. */
const signInFlags = {
  client: Flag.Literals("client", ["claude", "codex", "cursor"]).pipe(Flag.withDescription("The coding agent")),
  directory: Flag.String("directory").pipe(
    Flag.optional,
    Flag.withDescription("Directory for sign-ins. Default: delivery/agents in XDG_CONFIG_HOME or ~/.config")
  )
}

/** Registers the client on this computer and stores its tokens. */
const connect = Command.make(
  "connect",
  {
    ...signInFlags,
    computer: Flag.String("computer").pipe(
      Flag.withDefault(hostname()),
      Flag.withDescription("Name of this computer, shown to members. Default: its host name")
    ),
    keyFile: Flag.String("key-file").pipe(
      Flag.optional,
      Flag.withDescription(
        "File that holds your API key. Default: DELIVERY_API_KEY (the key itself), then that of `delivery login`"
      )
    ),
    write: Flag.Boolean("write").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Write the client's MCP configuration instead of printing what to do")
    )
  },
  (flags) => Effect.flatMap(work, ({ connect }) => connect(flags))
).pipe(Command.withDescription("Sign a coding agent in on this computer"))

/** Ends the sign-in, at the server and on this computer. */
const disconnect = Command.make("disconnect", signInFlags, (flags) =>
  Effect.flatMap(work, ({ disconnect }) => disconnect(flags))
).pipe(Command.withDescription("Sign a coding agent out on this computer"))

/** What clients start. */
const mcp = Command.make("mcp", signInFlags, (flags) => Effect.flatMap(work, ({ mcp }) => mcp(flags))).pipe(
  Command.withDescription("Serve MCP over standard input and output. Coding agents start this command themselves")
)

export const agent = Command.make("agent").pipe(
  Command.withDescription("Sign coding agents in on this computer, and connect them to the service"),
  Command.withSubcommands([connect, disconnect, mcp]),
  Command.withGlobalFlags(connectionFlags)
)
