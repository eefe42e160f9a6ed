#!/usr/bin/env node
import { reportFailure, runOptions } from "@delivery/domain/CommandLine"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { agent, operatorMessage } from "./Agent.ts"
import manifest from "../package.json" with { type: "json" }

const delivery = Command.make("delivery").pipe(
  Command.withDescription("The command line of the Workspace Delivery Service"),
  Command.withSubcommands([agent])
)

Command.run(delivery, { version: manifest.version }).pipe(
  reportFailure(operatorMessage),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain(runOptions)
)
