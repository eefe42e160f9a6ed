import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { pageStyle } from "../../src/http/PageStyle.ts"

const coloursIn = (css: string): ReadonlyMap<string, string> =>
  new Map(
    Array.from(css.matchAll(/--([\w-]+):\s*((?:light-dark|oklch)\([^;]*);/g), ([, name, value]) => [name!, value!])
  )

describe("The service's own pages", () => {
  it("have the colours of the website", () => {
    const website = coloursIn(readFileSync(new URL("../../../website/src/ui/tokens.css", import.meta.url), "utf8"))
    const own = coloursIn(pageStyle)
    assert.isAbove(own.size, 10)
    for (const [name, value] of own) assert.strictEqual(value, website.get(name), name)
    for (const [, name] of pageStyle.matchAll(/var\(--([\w-]+)\)/g)) assert.isTrue(own.has(name!), name)
  })
})
