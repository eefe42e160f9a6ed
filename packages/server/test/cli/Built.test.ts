import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { builtDirectory, builtMain } from "../../src/cli/Built.ts"
import { main } from "../support/ServerProcess.ts"

/** The command of a checkout, built (`build/command.ts`). The suites' setup has built it. */

describe("The built command", () => {
  it("is another one when a source was written, added or deleted, or other packages are installed", () => {
    const checkout = mkdtempSync(join(tmpdir(), "delivery-built-"))
    const packages = join(checkout, "packages")
    const write = (file: string, text: string) => {
      mkdirSync(dirname(join(packages, file)), { recursive: true })
      writeFileSync(join(packages, file), text)
      // As if all were written in the same moment.
      utimesSync(join(packages, file), 1, 1)
    }
    try {
      write("server/src/cli/main.ts", "one")
      write("domain/src/Api.ts", "one")
      write("../pnpm-lock.yaml", "one")
      const seen = [builtDirectory(packages)]
      const change = (how: () => void) => {
        how()
        seen.push(builtDirectory(packages))
      }
      change(() => write("server/src/cli/main.ts", "other"))
      change(() => utimesSync(join(packages, "domain/src/Api.ts"), 2, 2))
      change(() => write("server/src/more/More.ts", "more"))
      change(() => rmSync(join(packages, "domain/src/Api.ts")))
      change(() => write("../pnpm-lock.yaml", "another"))
      assert.strictEqual(new Set(seen).size, 6)
      assert.strictEqual(builtDirectory(packages), seen.at(-1))
      assert.strictEqual(dirname(seen[0]!), join(packages, "server/dist"))
    } finally {
      rmSync(checkout, { recursive: true })
    }
  })

  it("is what a checkout starts", () => {
    const built = builtMain()
    assert.strictEqual(built, join(builtDirectory(), "main.js"))
    const hook =
      'import { registerHooks } from "node:module"; registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })'
    const printed = execFileSync(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(hook)}`, main, "--version"],
      { encoding: "utf8", env: { ...process.env, NODE_COMPILE_CACHE: undefined } }
    ).split("\n")
    assert.include(printed, pathToFileURL(built!).href)
    assert.notInclude(printed.join(" "), "/src/cli/Program.ts")
    assert.match(printed.join(" "), /delivery-server v\d/)
  })
})
