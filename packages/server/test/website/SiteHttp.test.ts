import { Effect } from "effect"
import { assert } from "vitest"
import { eventually } from "../support/Eventually.ts"
import { onEachServer } from "../support/Http.ts"

/** How the website is served while it is built, then, and where it is left out (docs/contract.md, The website). */

const accept = { accept: "text/html" }

onEachServer(
  "The website",
  (test) => {
    test("is a page that loads itself again until it is built, and then whole", async ({ baseUrl }) => {
      const ask = Effect.promise(async () => {
        const answer = await fetch(`${baseUrl}/w/main/test-runs`, { headers: accept })
        const html = await answer.text()
        if (answer.status === 503) {
          assert.deepStrictEqual([answer.headers.get("refresh"), answer.headers.get("retry-after")], ["1", "1"])
          assert.include(html, "The website is being built")
        }
        return { html, status: answer.status }
      })
      const { html } = await Effect.runPromise(eventually(ask, ({ status }) => status !== 503))
      assert.match(html, /<script type="module"[^>]* src="\/assets\//)
      const [home, page] = [await fetch(baseUrl), await fetch(`${baseUrl}/w/main/any/thing?x=1`)]
      assert.deepStrictEqual([home.status, page.status], [200, 200])
      assert.strictEqual(await home.text(), await page.text())
      const file = await fetch(`${baseUrl}/assets/none.js`)
      assert.strictEqual(file.status, 404)
      const icon = await fetch(`${baseUrl}/icon.svg`)
      assert.deepStrictEqual([icon.status, icon.headers.get("content-type")], [200, "image/svg+xml"])
      const letters = await fetch(`${baseUrl}/inter.woff2`)
      assert.deepStrictEqual([letters.status, letters.headers.get("content-type")], [200, "font/woff2"])
    })
  },
  { WEBSITE: "true" }
)

onEachServer("A server without a website", (test) => {
  test("leads to the page where one signs in, and knows no page of it", async ({ baseUrl }) => {
    const home = await fetch(baseUrl, { redirect: "manual" })
    assert.deepStrictEqual([home.status, home.headers.get("location")], [303, "/sign-in"])
    for (const path of ["/w/main", "/assets/index.js", "/icon.svg", "/inter.woff2"]) {
      const answer = await fetch(`${baseUrl}${path}`, { headers: accept })
      assert.deepStrictEqual([path, answer.status], [path, 404])
    }
  })
})
