import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { assert } from "vitest"
import type { Http } from "../support/Http.ts"

/** An agent as the official client of MCP has it. */

interface Link {
  readonly type: string
  readonly text: string
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
}

export interface AgentAnswer {
  readonly isError: boolean
  readonly text: string
  /** The links beside the text. */
  readonly links: ReadonlyArray<Link>
  readonly structured: unknown
}

export const connectAgent = async ({ baseUrl }: Http, token: string) => {
  const client = new Client({ name: "test", version: "1.0.0" })
  const transport = new StreamableHTTPClientTransport(new URL("/agent/mcp", baseUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } }
  })
  await client.connect(transport)
  const call = async (name: string, args: object = {}): Promise<AgentAnswer> => {
    const result = await client.callTool({ name, arguments: { ...args } })
    const [content, ...links] = result.content as ReadonlyArray<Link>
    return { isError: result.isError === true, text: content!.text, links, structured: result.structuredContent }
  }
  /** What a tool answers that succeeds. */
  const read = async <A>(name: string, args: object = {}): Promise<A> => {
    const { isError, structured, text } = await call(name, args)
    assert.isFalse(isError, text)
    return structured as A
  }
  /** The reason why a call is refused, such as `Forbidden` or `NotFound`. */
  const refused = async (name: string, args: object = {}): Promise<string> => {
    const { isError, text } = await call(name, args)
    assert.isTrue(isError, text)
    return /\((\w+)\)$/.exec(text)?.[1] ?? text.split(":")[0]!
  }
  const resource = async (uri: string) => {
    const { contents } = await client.readResource({ uri })
    return contents[0] as {
      readonly uri: string
      readonly mimeType: string
      readonly text?: string
      readonly blob?: string
    }
  }
  return { client, call, read, refused, resource }
}

export type AgentConnection = Awaited<ReturnType<typeof connectAgent>>
