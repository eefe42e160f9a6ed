import type { AgentClient } from "@delivery/domain/agents/Agent"
import { Config, Effect, FileSystem, Option, Path, Result } from "effect"
import { Toml } from "effect/encoding"
import { homedir } from "node:os"
import { Failure } from "./Failure.ts"
import type { SignInName } from "./AgentSignIn.ts"

/** The bridge in a client's configuration: the command that the client starts, and its name there. */
interface McpServerEntry {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/**
 * The bridge for a sign-in, with the Node and the script that run now. The directory is always named, since clients pass
 * on little of the environment; Codex leaves out `XDG_CONFIG_HOME`.
 */
const entryOf = ({ client, directory, url, workspace }: SignInName): McpServerEntry => ({
  name: `delivery-${workspace}`,
  command: process.execPath,
  args: [
    process.argv[1]!,
    "agent",
    "mcp",
    "--client",
    client,
    "--url",
    url,
    "--workspace",
    workspace,
    "--directory",
    directory
  ]
})

const jsonOf = ({ args, command }: McpServerEntry) => ({ command, args })

/** Strings of JSON are basic strings of TOML, too. */
const tomlOf = ({ args, command, name }: McpServerEntry): string =>
  `[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = [${args.map((arg) => JSON.stringify(arg)).join(", ")}]\n`

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A JSON configuration with the entry, in place of one of the same name; undefined where the text is no configuration. */
export const withJsonEntry = (text: string, entry: McpServerEntry): string | undefined => {
  let config: unknown
  try {
    config = text.trim() === "" ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(config)) return undefined
  const servers = config["mcpServers"] ?? {}
  if (!isRecord(servers)) return undefined
  const merged = { ...config, mcpServers: { ...servers, [entry.name]: jsonOf(entry) } }
  return `${JSON.stringify(merged, undefined, 2)}\n`
}

/** The same in TOML. Everything else in it stays as it is, comments too. */
export const withTomlEntry = (text: string, entry: McpServerEntry): string | undefined => {
  if (Result.isFailure(Toml.parse(text))) return undefined
  const lines = text.split("\n")
  const table = lines.findIndex((line) => line.replaceAll(/[\s"']/g, "") === `[mcp_servers.${entry.name}]`)
  const next = lines.findIndex((line, index) => index > table && /^\s*\[/.test(line))
  const before = table === -1 ? lines : lines.slice(0, table)
  const after = table === -1 || next === -1 ? [] : lines.slice(next)
  const parts = [before.join("\n").trimEnd(), tomlOf(entry).trimEnd(), after.join("\n").trimEnd()]
  const changed = `${parts.filter((part) => part !== "").join("\n\n")}\n`
  return Result.isFailure(Toml.parse(changed)) ? undefined : changed
}

/** The file from which a client reads its MCP servers. */
const fileOf = Effect.fnUntraced(function* (client: AgentClient) {
  const path = yield* Path.Path
  switch (client) {
    case "claude":
      return ".mcp.json"
    case "cursor":
      return path.join(".cursor", "mcp.json")
    case "codex":
      return path.join(
        Option.getOrElse(yield* Config.option(Config.String("CODEX_HOME")), () => path.join(homedir(), ".codex")),
        "config.toml"
      )
  }
})

/** How to configure the client by hand. */
export const instructions = Effect.fnUntraced(function* (name: SignInName) {
  const entry = entryOf(name)
  const file = yield* fileOf(name.client)
  switch (name.client) {
    case "claude": {
      const parts = [entry.command, ...entry.args].map((part) => (/^[\w./:@=-]+$/.test(part) ? part : `'${part}'`))
      return `Add the server to Claude Code:\n\n  claude mcp add --scope user ${entry.name} -- ${parts.join(" ")}\n`
    }
    case "codex":
      return `Add this to ${file}:\n\n${tomlOf(entry)}`
    case "cursor":
      return `Add this to ${file}:\n\n${withJsonEntry("", entry)}`
  }
})

/** The client's configuration, where it still has the bridge. */
export const fileWithEntry = Effect.fnUntraced(function* (name: SignInName) {
  const file = yield* fileOf(name.client)
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(file).pipe(Effect.orElseSucceed(() => ""))
  const entry = entryOf(name)
  return text.includes(JSON.stringify(entry.name)) || text.includes(`mcp_servers.${entry.name}]`) ? file : undefined
})

/** Adds the bridge to the client's configuration, in place of one of the same name. Answers the path of the file. */
export const writeEntry = Effect.fnUntraced(function* (name: SignInName) {
  const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
  const file = yield* fileOf(name.client)
  const text = yield* fs.readFileString(file).pipe(
    Effect.catchIf(
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeed("")
    ),
    Effect.mapError((error) => new Failure({ message: `${file} cannot be read: ${error.message}` }))
  )
  const changed = (name.client === "codex" ? withTomlEntry : withJsonEntry)(text, entryOf(name))
  if (changed === undefined) {
    return yield* new Failure({ message: `${file} was not changed: it cannot be parsed.` })
  }
  yield* Effect.andThen(
    fs.makeDirectory(path.dirname(file), { recursive: true }),
    fs.writeFileString(file, changed)
  ).pipe(Effect.mapError((cause) => new Failure({ message: `${file} cannot be written: ${cause.message}` })))
  return file
})
