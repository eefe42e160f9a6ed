#!/usr/bin/env node
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit } from "effect"
import { Command } from "effect/cli"
import { version } from "../Config.ts"
import { fixtures } from "./Fixtures.ts"
import { apiKey, person } from "./Persons.ts"
import { operatorMessage } from "./OperatorMessage.ts"
import { serve } from "./Serve.ts"
import { vault } from "./Vault.ts"

const delivery = Command.make("delivery-server").pipe(
  Command.withDescription("The Workspace Delivery Service"),
  Command.withSubcommands([serve, apiKey, person, fixtures, vault])
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
