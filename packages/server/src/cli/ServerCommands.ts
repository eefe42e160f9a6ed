import type { Cause } from "effect"
import * as agent from "./Agent.ts"
import { fixtures } from "./Fixtures.ts"
import { operatorMessage as serverMessage } from "./OperatorMessage.ts"
import { serve } from "./Serve.ts"
import { vault } from "./Vault.ts"

/** Every command, with the server that most of them need. */
export const commands = [serve, fixtures, vault, ...agent.commands] as const

export const operatorMessage = (cause: Cause.Cause<unknown>): string | undefined =>
  serverMessage(cause) ?? agent.operatorMessage(cause)
