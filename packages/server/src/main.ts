#!/usr/bin/env node
import "effect/schema/SchemaJITCompiler/enable"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { serve } from "./cli/Serve.ts"

const delivery = Command.make("delivery").pipe(
  Command.withDescription("The Workspace Delivery Service"),
  Command.withSubcommands([serve])
)

Command.run(delivery, { version: "1.0.0" }).pipe(
  Effect.catchCause((cause) => {
    // What an operator can mend is one line; anything else is a fault and shows all it has.
    const error = Cause.squash(cause)
    const line = isOperatorError(error) ? error.message : Cause.pretty(cause)
    console.error(line)
    return Effect.sync(() => {
      process.exitCode = 1
    })
  }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
