import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

const project = (name: string) => ({
  name,
  root: `packages/${name}`,
  include: ["test/**/*.test.ts"]
})

// Starts what the server's suites share (the database); runs once, before the first of them.
const serverSetup = `${import.meta.dirname}/packages/server/test/globalSetup.ts`

// Tests start many servers, and each compiles the same modules.
const compileCache = { NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/compile` }

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: project("domain") },
      { extends: true, test: { ...project("client"), env: compileCache } },
      { extends: true, test: { ...project("playwright"), env: compileCache } },
      { extends: true, test: { ...project("cli"), env: compileCache } },
      { extends: true, test: { name: "examples", root: "examples", include: ["*.test.ts"], env: compileCache } },
      {
        extends: true,
        test: {
          ...project("server"),
          globalSetup: existsSync(serverSetup) ? [serverSetup] : [],
          // Of the S3 server that suites start, and nothing of the machine's own.
          env: {
            ...compileCache,
            AWS_ACCESS_KEY_ID: "S3RVER",
            AWS_SECRET_ACCESS_KEY: "S3RVER",
            AWS_PROFILE: "",
            AWS_CONFIG_FILE: "/dev/null",
            AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
            AWS_EC2_METADATA_DISABLED: "true"
          }
        }
      }
    ],
    // Many tests start servers and databases, on machines that may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A process runs many files: loading Effect anew for each costs more than the tests. Files share modules, so they
    // may not leave changes in them, in process.env or in globals.
    isolate: false,
    // Each worker may hold an embedded database of several hundred megabytes.
    maxWorkers: Math.min(4, availableParallelism()),
    // .ci/run reads its counts from the file.
    reporters: process.env["CI"]
      ? ["default", ["json", { outputFile: "node_modules/.cache/vitest/results.json" }]]
      : ["default"]
  }
})
