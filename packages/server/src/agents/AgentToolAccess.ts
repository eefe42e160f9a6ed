import { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import { isAtLeast } from "@delivery/domain/identity/Role"
import { Effect, Layer } from "effect"
import { McpSchema, McpServer, type Tool, type Toolkit } from "effect/ai"
import * as AgentToolHandlers from "./AgentToolHandlers.ts"
import { AgentTools } from "./AgentTools.ts"
import { inTurn, notDone, type Result, sizeOf } from "./McpBatches.ts"
import { OfferedTools } from "./OfferedTools.ts"

/** Which tools and resources a sign-in has (docs/contract.md, MCP). */

type Offered = OfferedTools["Service"]

/** Whether the caller has the tool: a sign-in by the server's URL has those of the inbox alone. */
const mayUse = (offered: Offered, tool: string) => Effect.map(hasComputer, (has) => has || offered.isByServerUrl(tool))

const hasComputer = Effect.map(AgentCaller, ({ computer }) => computer !== null)

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

/** Adds links to the resources that the answer is about, in revisions of the protocol that have links. */
const withLinks = (
  offered: Offered,
  tool: string,
  result: Result
): Effect.Effect<Result, never, McpSchema.McpRequestContext> =>
  Effect.map(McpSchema.McpRequestContext, ({ protocolVersion }) => {
    if (!("content" in result) || result.isError === true || protocolVersion === withoutLinks) return result
    const links = offered
      .linksOf(tool, result.structuredContent)
      .map((link) => ({ type: "resource_link" as const, ...link }))
    return links.length === 0
      ? result
      : new McpSchema.CallToolResult({ ...result, content: [...result.content, ...links] })
  })

/** The revision of the protocol whose results have no links. */
const withoutLinks = "2025-03-26"

const limited = (call: ReturnType<Registration["handle"]>): ReturnType<Registration["handle"]> =>
  call.pipe(
    Effect.map(withinLimit),
    Effect.catchTag("InvalidParams", (error) => Effect.fail(withFewIssues(error)))
  )

// The services of a request are in the context of its calls; the type of registrations does not say so.
// @effect-diagnostics unsafeEffectTypeAssertion:off
/** Before a tool reads what it was called with, so that each refused call answers alike. */
const refusing =
  (offered: Offered) =>
  (server: McpServer.McpServer["Service"]): McpServer.McpServer["Service"] => ({
    ...server,
    addTool: ({ handle, ...registration }) => {
      const { name } = registration.tool
      const call = (payload: unknown) =>
        Effect.flatMap(limited(handle(payload)), (result) => withLinks(offered, name, result))
      return server.addTool({
        ...registration,
        handle: (payload) =>
          Effect.flatMap(mayUse(offered, name), (may) =>
            may ? inTurn(call(payload)) : Effect.succeed(notOffered)
          ) as ReturnType<typeof handle>
      })
    }
  })

/** Registers tools, of this room or of a higher one, as those of a sign-in. */
export const registered = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>
): Layer.Layer<never, never, McpServer.ToolkitRequirements<Tools> | OfferedTools> =>
  Layer.effectDiscard(
    Effect.flatMap(OfferedTools, (offered) => {
      for (const tool of Object.values<Tool.Any>(toolkit.tools)) offered.offer(tool)
      return Effect.updateService(McpServer.registerToolkit(toolkit), McpServer.McpServer, refusing(offered))
    })
  ) as Layer.Layer<never, never, McpServer.ToolkitRequirements<Tools> | OfferedTools>

/** Lists do not name what the caller has not; a call of such a tool has an answer. */
const visible = McpServer.visibility(
  Effect.map(OfferedTools, (offered) => ({ method, target }: McpServer.MiddlewareOptions) => {
    if (method === "tools/list") return mayUse(offered, target)
    return method.startsWith("resources/") ? hasComputer : Effect.succeed(true)
  })
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
export const needsWiderScope = (offered: Offered, messages: unknown): Effect.Effect<boolean, never, AgentCaller> =>
  Effect.map(
    AgentCaller,
    ({ computer, scope, workspace }) =>
      scope === "read" &&
      computer !== null &&
      isAtLeast(workspace.role, "member") &&
      (Array.isArray(messages) ? messages : [messages]).some((message) => callsWriting(offered, message))
  )

const callsWriting = (offered: Offered, message: unknown): boolean => {
  const { method, params } = fieldsOf(message)
  return method === "tools/call" && offered.needsWriteScope(String(fieldsOf(params)["name"]))
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
