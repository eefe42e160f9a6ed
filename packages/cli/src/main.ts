#!/usr/bin/env node
import * as CommandLine from "@delivery/domain/CommandLine"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Effect, Exit, Layer, type Runtime } from "effect"
import { Command } from "effect/cli"
import { agent } from "./Agent.ts"
import { deployments } from "./Deployments.ts"
import { exitCodeOf, messageOf } from "./Failure.ts"
import { runs } from "./Runs.ts"
import { secrets } from "./Secrets.ts"
import { Json } from "./Settings.ts"
import * as Platform from "./Platform.ts"
import { login, logout, status } from "./SignIn.ts"
import { tickets } from "./Tickets.ts"
import manifest from "../package.json" with { type: "json" }

const delivery = Command.make("delivery").pipe(
  Command.withDescription("The command line of the Workspace Delivery Service"),
  Command.withSubcommands([login, logout, status, runs, deployments, secrets, tickets, agent]),
  Command.withGlobalFlags([Json])
)

/** The commands of the host, which `delivery-server` has. */
const host = import.meta.filename.endsWith(".js") ? "delivery-server" : "pnpm delivery"
const elsewhere = Object.fromEntries(
  ["api-key", "fixtures", "person", "serve", "vault"].map((command) => [
    command,
    `This command is not for clients. On the host of the service, use: ${host} ${command}`
  ])
)

const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? exitCodeOf(exit.cause) : 0)

Command.run(delivery, { version: manifest.version }).pipe(
  CommandLine.reportFailure(messageOf),
  Effect.provide(Layer.merge(Platform.layer, CommandLine.layer(elsewhere))),
  NodeRuntime.runMain({ ...CommandLine.runOptions, teardown })
)
