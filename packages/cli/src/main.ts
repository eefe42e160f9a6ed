#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit } from "effect"
import { Command } from "effect/cli"
import { agent, operatorMessage } from "./Agent.ts"
import manifest from "../package.json" with { type: "json" }

const delivery = Command.make("delivery").pipe(
  Command.withDescription("The command line of the Workspace Delivery Service"),
  Command.withSubcommands([agent])
)

Command.run(delivery, { version: manifest.version }).pipe(
  Effect.tapCause((cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const message = operatorMessage(cause) ?? Cause.pretty(cause)
    return message === "" ? Effect.void : Console.error(message)
  }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    // A command that was told to stop and did has not failed.
    teardown: (exit, onExit) => onExit(Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? 1 : 0)
  })
)
