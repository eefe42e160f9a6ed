import { AgentAuthorization, AnyScope, needsWriteScope } from "@delivery/domain/agents/AgentAuthorization"
import { DeliveryApi } from "@delivery/domain/Api"
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Arbitrary, Context, Effect, Schema } from "effect"
import type { Tool } from "effect/ai"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { AgentTools, toolNeedsWriteScope } from "../../src/agents/AgentTools.ts"
import { RunTools } from "../../src/flow/RunTools.ts"
import { type Http, join, newWorkspace, onEachServer, refresh, registerAgent } from "../support/Http.ts"

/**
 * Every endpoint that takes access tokens, and every tool, as the API and the toolkit list them: what changes something
 * is refused to a token that may only read, unless it is annotated with `AnyScope`. Whatever is added is tested here,
 * too.
 */

const endpoints: ReadonlyArray<readonly [name: string, endpoint: HttpApiEndpoint.Top]> = (() => {
  const found: Array<readonly [string, HttpApiEndpoint.Top]> = []
  HttpApi.reflect(DeliveryApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, middleware }) => {
      const name = `${group.identifier}.${endpoint.identifier}`
      if ([...middleware].some(({ key }) => key === AgentAuthorization.key))
        found.push([name, endpoint as HttpApiEndpoint.Top])
    }
  })
  return found
})()

const tools: ReadonlyArray<Tool.Any> = [AgentTools, RunTools].flatMap(({ tools }) => Object.values<Tool.Any>(tools))

/** A value that the schema takes, as JSON. */
const sample = (schema: Schema.Top): unknown => {
  const codec = Schema.toCodecJson(schema) as unknown as Schema.Codec<unknown>
  const [value] = Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(codec), { count: 1, seed: 1 }))
  return Schema.encodeSync(codec)(value)
}

describe("endpoints and tools for agents", () => {
  it("lists what a token of any scope may change", () => {
    const hasAnyScope = ({ annotations }: { readonly annotations: Context.Context<never> }) =>
      Context.get(annotations, AnyScope)
    assert.deepStrictEqual(
      endpoints.filter(([, endpoint]) => hasAnyScope(endpoint)).map(([name]) => name),
      ["agent.reportSession", "agent.endSession", "agentInbox.take", "agentInbox.complete", "agentInbox.decline"]
    )
    assert.deepStrictEqual(
      tools.filter(hasAnyScope).map(({ name }) => name),
      ["take_message", "complete_message", "decline_message", "report_session"]
    )
  })
})

/** An agent of a member with a token that may only read. */
const reader = async (owner: Http) => {
  const member = await join(await newWorkspace(owner), "member")
  const { body } = await refresh(owner, await registerAgent(member), { scope: "read" })
  return { token: body.access_token, as: owner.as(body.access_token) }
}

const isRefused = (text: string) => text.includes("insufficient_scope")

onEachServer("A token that may only read", (test) => {
  test("is refused at exactly the endpoints that need the scope write", async (owner) => {
    const { as } = await reader(owner)
    for (const [name, endpoint] of endpoints) {
      const [payload] = [...endpoint.payload.values()]
      const { body, status } = await as.send(
        endpoint.method,
        endpoint.path.replaceAll(/:\w+/g, "none"),
        payload === undefined ? {} : { json: sample(payload.schemas[0]) }
      )
      assert.notStrictEqual(status, 400, `${name}: ${JSON.stringify(body)}`)
      assert.strictEqual(status === 403 && isRefused(JSON.stringify(body)), needsWriteScope(endpoint), name)
    }
  })

  test("is refused at exactly the tools that need the scope write", async (owner) => {
    const { token } = await reader(owner)
    const client = new Client({ name: "test", version: "1.0.0" })
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(
      new StreamableHTTPClientTransport(new URL("/agent/mcp", owner.baseUrl), { requestInit: { headers } })
    )
    for (const tool of tools) {
      const isWriting = toolNeedsWriteScope(tool)
      const answer = await client
        .callTool({
          name: tool.name,
          // Such a call is refused before it is read.
          arguments: isWriting ? {} : (sample(tool.parametersSchema as Schema.Top) as Record<string, unknown>)
        })
        .catch((error: unknown) => error)
      if (isWriting) {
        assert.instanceOf(answer, StreamableHTTPError, tool.name)
        assert.isTrue(answer.code === 403 && isRefused(answer.message), answer.message)
      } else {
        const { content } = answer as { readonly content: ReadonlyArray<{ readonly text: string }> }
        assert.notInclude(content[0]!.text, "InvalidParams", tool.name)
      }
    }
    await client.close()
  })
})
