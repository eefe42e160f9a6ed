import { Context, Layer } from "effect"
import type { Tool } from "effect/ai"
import { isByServerUrl, type Link, linksOf, toolNeedsWriteScope } from "./AgentTools.ts"

/** The tools that are registered, of this room and of higher ones, and what is known of each. */
export class OfferedTools extends Context.Service<
  OfferedTools,
  {
    readonly offer: (tool: Tool.Any) => void
    /** Whether a sign-in by the server's URL has the tool. */
    readonly isByServerUrl: (name: string) => boolean
    readonly needsWriteScope: (name: string) => boolean
    /** The resources that what the tool answered is about. */
    readonly linksOf: (name: string, answer: unknown) => ReadonlyArray<Link>
  }
>()("@delivery/server/agents/OfferedTools") {
  static readonly layer = Layer.sync(OfferedTools, () => {
    const tools = new Map<string, Tool.Any>()
    const is = (name: string, holds: (tool: Tool.Any) => boolean) => {
      const tool = tools.get(name)
      return tool !== undefined && holds(tool)
    }
    return OfferedTools.of({
      offer: (tool) => void tools.set(tool.name, tool),
      isByServerUrl: (name) => is(name, isByServerUrl),
      needsWriteScope: (name) => is(name, toolNeedsWriteScope),
      linksOf: (name, answer) => {
        const tool = tools.get(name)
        return tool === undefined ? [] : linksOf(tool, answer)
      }
    })
  })
}
