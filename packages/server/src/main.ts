#!/usr/bin/env node
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit } from "effect"
import { Command } from "effect/cli"
import { version } from "./Config.ts"

// Agents' clients start a process for each session: those load no server.
const { commands, operatorMessage } =
  process.argv[2] === "agent" ? await import("./cli/Agent.ts") : await import("./cli/ServerCommands.ts")

const delivery = Command.make("delivery").pipe(
  Command.withDescription("The Workspace Delivery Service"),
  Command.withSubcommands(commands)
)

Command.run(delivery, { version }).pipe(
  Effect.tapCause((cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const message = operatorMessage(cause) ?? Cause.pretty(cause)
    return message === "" ? Effect.void : Console.error(message)
  }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    // A server that was told to stop and did has not failed.
    teardown: (exit, onExit) => onExit(Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? 1 : 0)
  })
)
