import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { pathOf } from "../../src/auth/ReturnTo.ts"

describe("Where a browser returns to", () => {
  it("is the path that it asked for", () => {
    for (const path of [
      "/",
      "/a",
      "/a/b?c=//d#e",
      "/authorize#0197a1b2",
      "/workspaces/main?q=a%2Fb",
      "/a//b",
      "/a%",
      "/authors"
    ]) {
      assert.strictEqual(pathOf(path), path)
    }
    assert.strictEqual(pathOf("/a b/ü"), "/a%20b/%C3%BC")
    assert.strictEqual(pathOf("/a/../b"), "/b")
  })

  it("is / for whatever else it asked for", () => {
    for (const hostile of [
      undefined,
      "",
      "a",
      "https://evil.example",
      "javascript:alert(1)",
      "//evil.example",
      "///evil.example",
      "/\\evil.example",
      "\\\\evil.example",
      "/a\\b",
      "/\t/evil.example",
      "/\n/evil.example",
      "\t//evil.example",
      " //evil.example",
      "/a\r\nset-cookie: a=b",
      "/a\u0000",
      "/a\u007f",
      "/a\ud800",
      "/.//evil.example",
      "/a/..//evil.example",
      "/%2e//evil.example",
      "/%2Fevil.example",
      "/%2f%2fevil.example",
      "/%5Cevil.example",
      "%2F%2Fevil.example",
      "/auth/v1/oidc/corp/start",
      "/a/../auth/v1/oidc/corp/start",
      "/%61uth/v1/oidc/corp/start?purpose=link",
      "/auth%2Fv1/oidc/corp/start",
      "/AUTH/v1/oidc/corp/start",
      "/auth",
      `/${"a".repeat(2_000)}`
    ]) {
      assert.strictEqual(pathOf(hostile), "/", JSON.stringify(hostile))
    }
  })

  it("is always a path of this service, to whoever reads it", () => {
    const character = fc.constantFrom(
      "/",
      "\\",
      ".",
      "..",
      "%2f",
      "%5C",
      "%2e",
      "@",
      ":",
      "?",
      "#",
      "\t",
      "a",
      "evil.example"
    )
    fc.assert(
      fc.property(fc.array(character, { maxLength: 8 }), (parts) => {
        const path = pathOf(`/${parts.join("")}`)
        const own = "https://delivery.example"
        assert.strictEqual(new URL(path, own).origin, own)
        const decoded = decodeURIComponent(new URL(path, own).pathname)
        assert.strictEqual(new URL(decoded, own).origin, own)
        assert.match(path, /^\/(?![/\\])[!-~]*$/)
      }),
      { numRuns: 2_000 }
    )
  })
})
