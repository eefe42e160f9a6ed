#!/usr/bin/env node
import * as CommandLine from "@delivery/domain/CommandLine"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { agent, operatorMessage } from "./Agent.ts"
import manifest from "../package.json" with { type: "json" }

const delivery = Command.make("delivery").pipe(
  Command.withDescription("The command line of the Workspace Delivery Service for coding agents"),
  Command.withSubcommands([agent])
)

/** The commands of the host, which `delivery-server` has. */
const host = import.meta.filename.endsWith(".js") ? "delivery-server" : "pnpm delivery"
const elsewhere = Object.fromEntries(
  ["api-key", "fixtures", "person", "serve", "vault"].map((command) => [
    command,
    `This command is for coding agents. On the host of the service, use: ${host} ${command}`
  ])
)

Command.run(delivery, { version: manifest.version }).pipe(
  CommandLine.reportFailure(operatorMessage),
  Effect.provide(Layer.merge(NodeServices.layer, CommandLine.layer(elsewhere))),
  NodeRuntime.runMain(CommandLine.runOptions)
)
