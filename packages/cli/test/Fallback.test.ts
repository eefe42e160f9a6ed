import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { Failure } from "../src/Failure.ts"
import { ageText, keepFallback, opened, readFallback, sealed } from "../src/Fallback.ts"

/** The file with the values of the last start. */

const [token, other] = [`dtk_${"a".repeat(42)}`, `dtk_${"b".repeat(42)}`]
const kept = { loadedAt: 1_700_000_000_000, product: "shop", environment: "live", values: { A: "canary é\n", B: "" } }

describe("the fallback", () => {
  it("gives back what was kept to who has the token, and has nothing in plain", () => {
    const file = sealed(kept, token)
    assert.deepStrictEqual(opened(file, token), kept)
    assert.isFalse(file.includes("canary") || file.includes(token) || file.includes("shop"))
    assert.notDeepEqual(sealed(kept, token), file)
    assert.isUndefined(opened(file, other))
  })

  it("is refused whole if it is cut anywhere, or any bit of it has changed", () => {
    const file = sealed(kept, token)
    for (let length = 0; length < file.length; length++) assert.isUndefined(opened(file.subarray(0, length), token))
    assert.isUndefined(opened(Buffer.concat([file, Buffer.alloc(1)]), token))
    for (let bit = 0; bit < file.length * 8; bit++) {
      const changed = Buffer.from(file)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      assert.isUndefined(opened(changed, token), `bit ${bit}`)
    }
  })

  it("is a file that its user alone can read, replaced at once", async () => {
    const directory = mkdtempSync(join(tmpdir(), "delivery-fallback-"))
    try {
      const file = join(directory, "values")
      writeFileSync(file, "an older one", { mode: 0o644 })
      await keepFallback(file, kept, token)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.deepStrictEqual(readdirSync(directory), ["values"])
      assert.deepStrictEqual(await readFallback(file, token), kept)
      const refusal = async (path: string, by: string) => {
        const error: unknown = await readFallback(path, by).catch((error: unknown) => error)
        assert.instanceOf(error, Failure)
        assert.strictEqual(error.exitCode, 4)
        return error.message
      }
      assert.strictEqual(
        await refusal(file, other),
        `The fallback ${file} is not used: it is damaged, or was written with another token than this one.`
      )
      writeFileSync(file, readFileSync(file).subarray(0, 60))
      assert.include(await refusal(file, token), "it is damaged")
      const none = join(directory, "none")
      const absent = `There is no fallback yet: ${none} is written when the service answers.`
      assert.strictEqual(await refusal(none, token), absent)
      const lost = await keepFallback(join(none, "values"), kept, token).catch(
        (error: NodeJS.ErrnoException) => error.code
      )
      assert.strictEqual(lost, "ENOENT")
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it("says its age in the largest unit that fits", () => {
    assert.deepStrictEqual([-5, 0, 1_999, 61_000, 3_600_000, 200_000_000].map(ageText), [
      "0 seconds",
      "0 seconds",
      "1 second",
      "1 minute",
      "1 hour",
      "2 days"
    ])
  })
})
