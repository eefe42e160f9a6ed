import { assert } from "vitest"
import { type Http, onEachServer } from "../support/Http.ts"

/** What people read whose browser was sent to an address that refuses it. */

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }

const readBy = async ({ baseUrl }: Http, path: string) => {
  const answer = await fetch(`${baseUrl}${path}`, { headers: browser, redirect: "manual" })
  return { headers: answer.headers, status: answer.status, text: await answer.text() }
}

const assertPage = ({ headers, text }: Awaited<ReturnType<typeof readBy>>, title: string) => {
  assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
  assert.match(headers.get("content-security-policy")!, /^default-src 'none';.*frame-ancestors 'none'$/)
  assert.include(text, `<h1 id="title">${title}</h1>`)
  assert.notInclude(text, "_tag")
}

onEachServer("Refusals that people read", (test) => {
  test("are pages where browsers are sent by programs and providers, and JSON elsewhere", async (owner) => {
    const client = await readBy(owner, "/agent/oauth/authorize?client_id=%3Cb%3E")
    assertPage(client, "That did not work")
    assert.strictEqual(client.status, 400)
    const provider = await readBy(owner, "/auth/v1/oidc/gone/start?purpose=sign-in")
    assertPage(provider, "Page not found")
    assert.strictEqual(provider.status, 404)
    for (const path of ["/agent/oauth/authorize?client_id=x", "/auth/v1/oidc/gone/start"]) {
      const { headers } = await owner.as(undefined).send("GET", path)
      assert.match(headers["content-type"]!, /^application\/json/)
    }
    assert.match((await readBy(owner, "/v1/me")).headers.get("content-type")!, /^application\/json/)
  })
})

onEachServer(
  "Too many requests of a browser",
  (test) => {
    test("are told on a page, with when to come again", async (owner) => {
      let answer = await readBy(owner, "/sign-in")
      for (let count = 0; count < 10 && answer.status === 200; count++) answer = await readBy(owner, "/sign-in")
      assert.strictEqual(answer.status, 429)
      assertPage(answer, "Too many requests")
      assert.match(answer.headers.get("retry-after")!, /^\d+$/)
    })
  },
  { RATE_LIMIT: "5/60" }
)
