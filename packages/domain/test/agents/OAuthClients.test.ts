import { claimedName, isRedirect, isRegisteredRedirect, knownClients } from "@delivery/domain/agents/OAuthClients"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

const good = [
  "https://app.example/callback",
  "https://app.example:8443/callback?tenant=1",
  "http://localhost/callback",
  "http://localhost:1/callback",
  "http://127.0.0.1:65000",
  "http://127.0.0.1/?a=b",
  "http://[::1]:8080/callback",
  "com.example.app:/callback",
  "com.example.app://callback",
  "dataset.app:/callback"
]

const bad = [
  "",
  "callback",
  "/callback",
  "javascript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "myapp:/callback",
  ...["about", "blob", "data", "file", "javascript", "vbscript"].map((first) => `${first}.x:/callback`),
  "vscode://callback",
  "http://app.example/callback",
  "http://localhost.evil.example/callback",
  "http://127.0.0.1.evil.example/",
  "http://localhost@evil.example/",
  "http://0.0.0.0/callback",
  "http://127.0.0.2/callback",
  "http:localhost/callback",
  "HTTP://localhost/callback",
  "https:app.example/callback",
  "https:///callback",
  "https://user@app.example/callback",
  "https://user:pass@app.example/callback",
  "https://@app.example/callback",
  "https://app.example/callback#fragment",
  "https://app.example/callback#",
  "https://app.example\\@evil.example/",
  "https://app.example/call back",
  "https://app.example/\tcallback",
  " https://app.example/callback",
  "https://äpp.example/callback",
  "http://localhost:0/callback",
  "http://localhost:080/callback",
  `https://app.example/${"x".repeat(2_000)}`
]

describe("the clients that are built in", () => {
  it("are those of Claude Code, Codex and Visual Studio Code, with their redirects", () => {
    const callbacks = ["http://localhost/callback", "http://127.0.0.1/callback"]
    assert.deepStrictEqual(
      knownClients.map(({ id, redirectUris }) => [id, redirectUris]),
      [
        ["https://claude.ai/oauth/claude-code-client-metadata", callbacks],
        ["https://chatgpt.com/oauth/codex/client.json", callbacks],
        ["https://vscode.dev/oauth/client-metadata.json", ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"]]
      ]
    )
  })
})

describe("a redirect", () => {
  it("is one of https, of the user's own computer, or of an app", () => {
    for (const redirect of good) assert.isTrue(isRedirect(redirect), redirect)
    for (const redirect of bad) assert.isFalse(isRedirect(redirect), redirect)
    for (const { redirectUris } of knownClients)
      for (const redirect of redirectUris) assert.isTrue(isRedirect(redirect))
  })

  it("is registered exactly, on the user's own computer at any port", () => {
    const registered = ["https://app.example/callback", "http://localhost/callback", "http://127.0.0.1:33418/"]
    for (const asked of [
      ...registered,
      "http://localhost:1/callback",
      "http://localhost:65535/callback",
      "http://127.0.0.1:4000/",
      "http://127.0.0.1/"
    ]) {
      assert.isTrue(isRegisteredRedirect(registered, asked), asked)
    }
    for (const asked of [
      "https://app.example:444/callback",
      "https://app.example/callback/",
      "https://app.example/callback?x=1",
      "https://APP.example/callback",
      "http://app.example/callback",
      "https://localhost/callback",
      "http://127.0.0.1/callback",
      "http://[::1]/callback",
      "http://localhost:1/callback/..",
      "http://localhost:1/callback?x=1",
      "http://localhost:1@evil.example/callback",
      "http://localhost:99999999/callback",
      ...bad
    ]) {
      assert.isFalse(isRegisteredRedirect(registered, asked), asked)
    }
  })

  it("leads nowhere else, whatever is asked for", () => {
    const registered = ["https://app.example/callback", "http://localhost/callback"]
    const part = fc.constantFrom(
      "http://",
      "https://",
      "localhost",
      "app.example",
      "evil.example",
      "/callback",
      ":",
      "@",
      "1",
      "#",
      "?",
      "\\",
      "%2f",
      "..",
      "\t"
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const asked = parts.join("")
        if (!isRegisteredRedirect(registered, asked)) return
        const { hostname, pathname, protocol } = new URL(asked)
        assert.include(
          ["https://app.example/callback", "http://localhost/callback"],
          `${protocol}//${hostname}${pathname}`
        )
      }),
      { numRuns: 5_000 }
    )
  })
})

describe("the name of a client", () => {
  it("is as the client claims, with nothing hidden, and short", () => {
    assert.strictEqual(claimedName("  Zed  "), "Zed")
    assert.strictEqual(claimedName("Cl\u200baude\u202e"), "Cl\\u{200B}aude\\u{202E}")
    assert.strictEqual(claimedName("line\none"), "line\\u{000A}one")
    assert.strictEqual(claimedName("💻".repeat(200)), "💻".repeat(100))
    for (const empty of ["", "   ", "\n"]) assert.notStrictEqual(claimedName(empty).trim(), "")
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        const shown = claimedName(name)
        assert.isAtMost([...shown].length, 100)
        assert.notMatch(shown, /[^\P{C}\t]|[\p{Zl}\p{Zp}]/u)
      })
    )
  })
})
