import { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import { isAtLeast } from "@delivery/domain/identity/Role"
import { Effect, Layer } from "effect"
import { McpSchema, McpServer, type Tool, type Toolkit } from "effect/ai"
import * as AgentToolHandlers from "./AgentToolHandlers.ts"
import { AgentTools, isByServerUrl, toolNeedsWriteScope } from "./AgentTools.ts"
import { inTurn, notDone, type Result, sizeOf } from "./McpBatches.ts"

/** Which tools a sign-in has (docs/contract.md, MCP). */

const tools = Object.values(AgentTools.tools)
const byServerUrl = new Set<string>(tools.filter(isByServerUrl).map(({ name }) => name))
const writing = new Set<string>(tools.filter(toolNeedsWriteScope).map(({ name }) => name))

/** Whether the caller has the tool: a sign-in by the server's URL has those of the inbox alone. */
const mayUse = (tool: string) => Effect.map(AgentCaller, ({ computer }) => computer !== null || byServerUrl.has(tool))

const notOffered = notDone(
  "Forbidden: A sign-in that was made with the server URL has only whoami and the tools of the inbox. (server_url)"
)

/** Characters of text that a result may have. What the tools fit into their answers is far less. */
const maxResult = 2 * 1024 * 1024

/** A result that is too long to send says so. */
const withinLimit = (result: Result): Result => (sizeOf(result) > maxResult ? tooLong : result)

const tooLong = notDone("TooManyRequests: The result is longer than 2 MiB. Ask for less of it.")

/** How many mistakes in its arguments a call is told. Each has a line, and one for its place. */
const maxIssues = 20

const withFewIssues = (error: McpSchema.InvalidParams): McpSchema.InvalidParams => {
  const lines = error.message.split("\n")
  if (lines.length <= 2 * maxIssues) return error
  return new McpSchema.InvalidParams({ message: lines.slice(0, 2 * maxIssues).join("\n") })
}

type Registration = Parameters<McpServer.McpServer["Service"]["addTool"]>[0]

const limited = (call: ReturnType<Registration["handle"]>): ReturnType<Registration["handle"]> =>
  call.pipe(
    Effect.map(withinLimit),
    Effect.catchTag("InvalidParams", (error) => Effect.fail(withFewIssues(error)))
  )

// The services of a request are in the context of its calls; the type of registrations does not say so.
// @effect-diagnostics unsafeEffectTypeAssertion:off
/** Before a tool reads what it was called with, so that each refused call answers alike. */
const refusing = (server: McpServer.McpServer["Service"]): McpServer.McpServer["Service"] => ({
  ...server,
  addTool: (registration) =>
    server.addTool({
      ...registration,
      handle: (payload) =>
        Effect.flatMap(mayUse(registration.tool.name), (may) =>
          may ? inTurn(limited(registration.handle(payload))) : Effect.succeed(notOffered)
        ) as ReturnType<typeof registration.handle>
    })
})

/** Registers tools, of this room or of a higher one, as those of a sign-in. */
export const registered = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>
): Layer.Layer<never, never, McpServer.ToolkitRequirements<Tools>> =>
  Layer.effectDiscard(
    Effect.updateService(McpServer.registerToolkit(toolkit), McpServer.McpServer, refusing)
  ) as Layer.Layer<never, never, McpServer.ToolkitRequirements<Tools>>

/** Lists do not name what the caller has not; a call of it has an answer. */
const visible = McpServer.visibility(({ method, target }) =>
  method === "tools/list" ? mayUse(target) : Effect.succeed(true)
)

/** The tools, registered, beside those of higher rooms. */
export const layer = <R>(others: Layer.Layer<never, never, R>) =>
  Layer.mergeAll(Layer.provide(registered(AgentTools), AgentToolHandlers.layer), others).pipe(
    Layer.provide(visible.layer)
  )

/**
 * Whether messages of MCP call a tool that the caller would have with a token of a wider scope: a token of the plugin that
 * may only read, of a member who may do more.
 */
export const needsWiderScope = (messages: unknown): Effect.Effect<boolean, never, AgentCaller> =>
  Effect.map(
    AgentCaller,
    ({ computer, scope, workspace }) =>
      scope === "read" &&
      computer !== null &&
      isAtLeast(workspace.role, "member") &&
      (Array.isArray(messages) ? messages : [messages]).some(callsWriting)
  )

const callsWriting = (message: unknown): boolean => {
  const { method, params } = fieldsOf(message)
  return method === "tools/call" && writing.has(String(fieldsOf(params)["name"]))
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
