#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

// An older one lacks modules that the program loads, and would print a stack trace of its own.
if (major > 22 || (major === 22 && minor >= 19)) {
  // Node 22 calls SQLite, which locks the data directory, an experiment, and would say so on every command.
  const warn = process.emitWarning.bind(process) as (...given: ReadonlyArray<unknown>) => void
  process.emitWarning = ((...given: ReadonlyArray<unknown>) => {
    if (!String(given[0]).startsWith("SQLite is an experimental feature")) warn(...given)
  }) as typeof process.emitWarning
  const { enableCompileCache } = process.getBuiltinModule("node:module")
  const { homedir } = process.getBuiltinModule("node:os")
  const { join } = process.getBuiltinModule("node:path")
  // In a directory of the user, since whoever can write there can change what runs.
  const caches = process.env["XDG_CACHE_HOME"] || (homedir() === "" ? "" : join(homedir(), ".cache"))
  if (caches !== "") enableCompileCache(join(caches, "delivery"))
  const built = import.meta.filename.endsWith(".ts") ? (await import("./Built.ts")).builtMain() : undefined
  if (built === undefined) await import("./Program.ts")
  else await import(built)
} else {
  console.error(`delivery-server needs Node 22.19 or newer. This is Node ${process.versions.node}.`)
  process.exitCode = 2
}
