import { isBuiltin } from "node:module"
import { defineConfig, type Plugin } from "rolldown"

const prefix = "\0node-builtin:"

/** Modules of Node that take milliseconds to load, and that most commands call no function of. */
const calledLate = new Set(["node:crypto", "node:readline"])

const builtin = (id: string): string => `process.getBuiltinModule(${JSON.stringify(id)})`

/** The functions of a module of Node as functions that load it. What else is imported of it loads it at once. */
const lateExports = (id: string): string =>
  Object.entries(process.getBuiltinModule(id) as object)
    .map(([name, value]) =>
      typeof value === "function" && !/^[A-Z]/.test(name)
        ? `export const ${name} = (...args) => ${builtin(id)}.${name}(...args)`
        : `export const ${name} = /* @__PURE__ */ (() => ${builtin(id)}.${name})()`
    )
    .join("\n")

/** Modules of Node are loaded with the first module that needs them. An import of a file loads them all at its start. */
const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  resolveId: (id) => (isBuiltin(id) ? { id: `${prefix}${id}`, moduleSideEffects: false } : undefined),
  load: (id) => {
    if (!id.startsWith(prefix)) return undefined
    const name = id.slice(prefix.length)
    return calledLate.has(name) ? lateExports(name) : `module.exports = ${builtin(name)}`
  }
}

/**
 * Few files with all that they need, so that npm installs nothing else. The first is short and turns on the cache of compiled
 * code, which holds for those after it; what one command needs, such as the typed client, only it loads.
 */
export default defineConfig({
  input: { main: "src/start.ts", command: "src/main.ts" },
  platform: "node",
  plugins: [lazyBuiltins],
  output: {
    dir: "dist",
    format: "esm",
    minify: true,
    chunkFileNames: "[name].js",
    codeSplitting: {
      groups: [{ name: "core", tags: ["$initial"], test: (id) => !id.endsWith("/src/start.ts") }]
    }
  }
})
