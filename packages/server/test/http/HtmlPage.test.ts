import { createHash } from "node:crypto"
import { assert } from "vitest"
import { onEachServer } from "../support/Http.ts"

/** The service's own pages, as the server sends them. What they do is tested in browsers (test/browser). */

onEachServer("The pages of the service", (test) => {
  for (const path of ["/sign-in", "/invite", `/invites/itk_${"0".repeat(42)}`, "/authorize", "/cli"]) {
    test(`${path} runs nothing but its own script, in no frame, and is kept by nobody`, async (owner) => {
      const { headers, status, text } = await owner.as(undefined).send("GET", path)
      assert.strictEqual(status, 200)
      const hashesOf = (pattern: RegExp) =>
        Array.from(
          text.matchAll(pattern),
          ([, source]) => `'sha256-${createHash("sha256").update(source!).digest("base64")}'`
        ).join(" ")
      const [scripts, style] = [hashesOf(/<script>([^]*?)<\/script>/g), hashesOf(/<style>([^]*?)<\/style>/g)]
      assert.strictEqual(
        headers["content-security-policy"],
        `default-src 'none'; script-src ${scripts}; style-src ${style}; connect-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
      )
      assert.deepInclude(headers, {
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY"
      })
      // What others named is never markup, and no part of the address is in the page.
      assert.notMatch(text, /innerHTML|outerHTML|insertAdjacent|document\.write|<form| on\w+="|src=|itk_0/)
      // What can be pressed and chosen is what keyboards reach by themselves.
      assert.notMatch(text, /tabindex="\d|role="button"/)
      for (const [, id] of text.matchAll(/<(?:input|select) id="([\w-]+)"/g))
        assert.include(text, `<label for="${id}">`)
      // All text grows with the size that a person has chosen.
      assert.notMatch(text, /font(?:-size)?: ?[\d.]+px/)
    })
  }
})
