#!/usr/bin/env node
import "effect/schema/SchemaJITCompiler/enable"
import { reportFailure, runOptions } from "@delivery/domain/CommandLine"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
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
  reportFailure(operatorMessage),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain(runOptions)
)
