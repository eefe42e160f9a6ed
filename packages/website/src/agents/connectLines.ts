import type { Lines } from "../ui/Ways.tsx"

/** How a coding agent is connected, by its client, as docs/operations.md has it. Pure. */

interface Target {
  readonly serviceUrl: string
  readonly slug: string
}

interface Way {
  readonly name: string
  readonly lines: ReadonlyArray<Lines>
}

const bridge = ({ serviceUrl, slug }: Target, client: string): Lines => ({
  label: "Or with its computer and branch. It then reads and changes tickets itself:",
  text: `npx @delivery/cli login --url ${serviceUrl} --workspace ${slug}\nnpx @delivery/cli agent connect --client ${client} --write`
})

const byUrl = "By the address of the server, from any computer. It takes messages with their tickets, and replies:"

export const connectWays = (target: Target): ReadonlyArray<Way> => {
  const url = `${target.serviceUrl}/agent/mcp`
  return [
    {
      name: "Claude Code",
      lines: [{ label: byUrl, text: `claude mcp add --transport http delivery ${url}` }, bridge(target, "claude")]
    },
    { name: "Codex", lines: [{ label: byUrl, text: `codex mcp add delivery --url ${url}` }, bridge(target, "codex")] },
    {
      name: "Cursor",
      lines: [
        { label: ".cursor/mcp.json", text: JSON.stringify({ mcpServers: { delivery: { url } } }, null, 2) },
        bridge(target, "cursor")
      ]
    },
    {
      name: "Another client",
      lines: [{ label: "The address of the server, for a client of MCP that signs in by OAuth:", text: url }]
    }
  ]
}
