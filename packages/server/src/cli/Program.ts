import "effect/schema/SchemaJITCompiler/enable"
import * as CommandLine from "@delivery/domain/CommandLine"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { version } from "../Config.ts"
import { apiKey, backup, cases, fixtures, person, restore, signInLink, vault, verify } from "./HostCommands.ts"
import { isInstalled } from "./Installed.ts"
import { operatorMessage } from "./OperatorMessage.ts"
import { serve } from "./Serve.ts"

const delivery = Command.make("delivery-server").pipe(
  Command.withDescription("The Workspace Delivery Service: the commands of its host (`pnpm delivery` in a clone)"),
  Command.withSubcommands([serve, signInLink, apiKey, person, cases, fixtures, vault, backup, restore, verify])
)

/** What signs coding agents in runs on their computers. It is a program of its own, without a server. */
const agent = isInstalled ? "delivery agent" : "pnpm exec node packages/cli/src/main.ts agent"
const elsewhere = { agent: `This command runs on the host of the service. For coding agents, use: ${agent}` }

/** Behind a command, `--version` asks nothing about the program: it would not do what it was told to, and say that all is well. */
const isCommand = /^\w/.test(process.argv[2] ?? "")

/** Keys are shown once: whoever cannot see one must hear of it. The console itself says nothing. */
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") return
  process.exitCode = 1
  console.error("Standard output cannot be written: what was to be printed is lost.")
})

Command.run(delivery, { version }).pipe(
  CommandLine.reportFailure(operatorMessage(process.env)),
  Effect.provide(Layer.merge(NodeServices.layer, CommandLine.layer(elsewhere, isCommand))),
  NodeRuntime.runMain({
    ...CommandLine.runOptions,
    // A command that was stopped may have failed by that.
    teardown: (exit, onExit) =>
      CommandLine.runOptions.teardown(exit, (code) => onExit(code || Number(process.exitCode ?? 0)))
  })
)
