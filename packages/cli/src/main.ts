#!/usr/bin/env node
import * as CommandLine from "@delivery/domain/CommandLine"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Exit, Layer, type Runtime } from "effect"
import { Command } from "effect/cli"
import { exitCodeOf, messageOf } from "./Failure.ts"
import { commandsFor, hasOwnVersion } from "./Groups.ts"
import { Json } from "./Settings.ts"
import * as Platform from "./Platform.ts"
import manifest from "../package.json" with { type: "json" }

/** No top-level await: in the bundle, the files of commands wait for the one that this module is in. */
const delivery = Effect.map(
  Effect.promise(() => commandsFor(process.argv.slice(2))),
  (commands) =>
    Command.make("delivery").pipe(
      Command.withDescription("The command line of the Workspace Delivery Service"),
      Command.withSubcommands(commands),
      Command.withGlobalFlags([Json])
    )
)

/** The commands of the host, which `delivery-server` has. */
const host = import.meta.filename.endsWith(".js") ? "delivery-server" : "pnpm delivery"
const elsewhere = Object.fromEntries(
  ["api-key", "fixtures", "person", "serve", "vault"].map((command) => [
    command,
    `This command is not for clients. On the host of the service, use: ${host} ${command}`
  ])
)

/** A command that ran another one has its exit code. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Number(process.exitCode ?? (Exit.isFailure(exit) ? exitCodeOf(exit.cause) : 0)))

Effect.flatMap(delivery, (command) => Command.run(command, { version: manifest.version })).pipe(
  CommandLine.reportFailure(messageOf),
  Effect.provide(Layer.merge(Platform.layer, CommandLine.layer(elsewhere, hasOwnVersion(process.argv.slice(2))))),
  NodeRuntime.runMain({ ...CommandLine.runOptions, teardown })
)
