#!/usr/bin/env node
/**
 * What the package starts. Node keeps what it compiles of the command line, which is most of the time that a short command takes:
 * in a directory of the user, since whoever can write there can change what runs. Node 20 has no such cache. Nothing is imported
 * here, since that would be loaded before the cache is there.
 */
const isNewEnough: boolean = "getBuiltinModule" in process
if (isNewEnough) {
  const { enableCompileCache } = process.getBuiltinModule("node:module")
  const { homedir } = process.getBuiltinModule("node:os")
  const { join } = process.getBuiltinModule("node:path")

  const caches = process.env["XDG_CACHE_HOME"] || (homedir() === "" ? "" : join(homedir(), ".cache"))
  if (caches !== "") enableCompileCache?.(join(caches, "delivery"))

  await import("./main.ts")
} else {
  // An older one would print a stack trace of what it lacks.
  console.error(`delivery needs Node 20.16 or newer. This is Node ${process.versions.node}.`)
  process.exitCode = 2
}
