#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

// An older one lacks modules that the program loads, and would print a stack trace of its own.
if (major > 22 || (major === 22 && minor >= 19)) {
  await import("./Program.ts")
} else {
  console.error(`delivery-server needs Node 22.19 or newer. This is Node ${process.versions.node}.`)
  process.exitCode = 2
}
