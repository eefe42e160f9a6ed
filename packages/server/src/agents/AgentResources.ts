import type { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import type { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { Context, Effect, Layer, type Scope } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { Settings } from "../Config.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { failingWithin } from "./AgentToolHandlers.ts"
import { inTurnAs } from "./McpBatches.ts"

/** Resources of `/agent/mcp` (docs/contract.md, MCP). Who may read them is decided by each, when it is read. */

type Contents = McpSchema.ReadResourceResult["contents"][number]

interface Described {
  /** According to RFC 6570. */
  readonly uriTemplate: string
  /** The same for the router: its parameters have at most 100 characters each. */
  readonly routerPath: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly read: (
    uri: string
  ) => Effect.Effect<Contents, InvalidInput | Forbidden | NotFound | Conflict, Caller | AgentCaller | Scope.Scope>
}

// The services of a request are in the context of its calls; the type of registrations does not say so.
// @effect-diagnostics unsafeEffectTypeAssertion:off
/** Registers resources whose addresses have a form. Reading takes turns, as tools that read do, and has their limit of time. */
export const registeredResources = ({ read, routerPath, ...described }: Described) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* McpServer.McpServer
      const turns = yield* ListTurns
      const within = failingWithin((yield* Settings).requestLimitMillis)
      const readInTurn = (uri: string) =>
        within(Effect.scoped(Effect.andThen(turns.take, read(uri)))).pipe(
          Effect.map((contents): McpSchema.ReadResourceResult => ({ contents: [contents] })),
          Effect.mapError(({ message }) => new McpSchema.InvalidParams({ message })),
          (call) => inTurnAs(call, kind)
        )
      yield* server.addResourceTemplate({
        template: new McpSchema.ResourceTemplate(described),
        routerPath,
        annotations: Context.empty(),
        // With the checks of who may read resources at all (AgentToolAccess.ts).
        services: yield* Effect.context<never>(),
        completions: {},
        handle: (uri) => readInTurn(uri) as Effect.Effect<McpSchema.ReadResourceResult, McpSchema.InvalidParams>
      })
    })
  )

const sizeOf = ({ contents }: McpSchema.ReadResourceResult): number =>
  contents.reduce((size, one) => size + ("text" in one ? one.text.length : Math.ceil((one.blob.length * 4) / 3)), 0)

const kind = { sizeOf, refuse: (message: string) => Effect.fail(new McpSchema.InvalidParams({ message })) }
