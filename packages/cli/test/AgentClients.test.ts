import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Toml } from "effect/encoding"
import { repositoryOf } from "../src/AgentBridge.ts"
import { withJsonEntry, withTomlEntry } from "../src/AgentClients.ts"

const entry = {
  name: "delivery-main",
  command: "/opt/my node",
  args: ["main.ts", 'a "quoted" \\ word', "--client", "x"]
}
const { name: _, ...expected } = entry
const toml = (text: string | undefined) => Result.getOrThrow(Toml.parse(text!)) as Record<string, never>

describe("clients' configurations", () => {
  it("in JSON keep other entries, and contain the server once", () => {
    const made = withJsonEntry("", entry)!
    assert.deepStrictEqual(JSON.parse(made), { mcpServers: { "delivery-main": expected } })
    assert.strictEqual(withJsonEntry(made, entry), made)
    const others = { theme: "dark", mcpServers: { other: { command: "x" }, "delivery-main": { command: "old" } } }
    assert.deepStrictEqual(JSON.parse(withJsonEntry(JSON.stringify(others), entry)!), {
      theme: "dark",
      mcpServers: { other: { command: "x" }, "delivery-main": expected }
    })
    for (const text of ["{", "[]", "1", '{"mcpServers": []}', "// comment\n{}"]) {
      assert.isUndefined(withJsonEntry(text, entry), text)
    }
  })

  it("in TOML keep other entries and comments, and contain the server once", () => {
    const made = withTomlEntry("", entry)!
    assert.deepStrictEqual<unknown>(toml(made), { mcp_servers: { "delivery-main": expected } })
    assert.strictEqual(withTomlEntry(made, entry), made)
    const before = '# mine\nmodel = "o5" # good\n\n[mcp_servers.other]\ncommand = "x"'
    const after = '[mcp_servers.delivery-main.env]\nA = "1"\n\n[profiles.x]\nmodel = "o3"'
    for (const header of ["[mcp_servers.delivery-main]", ' [ mcp_servers . "delivery-main" ]']) {
      const old = `${header}\ncommand = "old"\nargs = ["old"]\nstartup_timeout_ms = 1`
      const changed = withTomlEntry(`${before}\n\n${old}\n\n${after}\n`, entry)!
      assert.isTrue(changed.startsWith(before) && changed.endsWith(`${after}\n`))
      assert.deepStrictEqual<unknown>(toml(changed), {
        model: "o5",
        mcp_servers: { other: { command: "x" }, "delivery-main": { ...expected, env: { A: "1" } } },
        profiles: { x: { model: "o3" } }
      })
    }
    assert.deepStrictEqual<unknown>(toml(withTomlEntry(`${before}\n`, entry)), {
      model: "o5",
      mcp_servers: { other: { command: "x" }, "delivery-main": expected }
    })
    for (const text of ["= 1", "[a", '[mcp_servers]\ndelivery-main = { command = "x" }']) {
      assert.isUndefined(withTomlEntry(text, entry), text)
    }
  })
})

describe("the address of a remote", () => {
  it("gives the repository", () => {
    for (const remote of [
      "git@github.com:acme/shop.git",
      "https://github.com/acme/shop.git\n",
      "https://github.com/acme/shop",
      "https://user@bitbucket.org/acme/shop/",
      "ssh://git@example.com:2222/acme/shop.git",
      "/srv/git/acme/shop.git"
    ]) {
      assert.strictEqual(repositoryOf(remote), "acme/shop", remote)
    }
    assert.strictEqual(repositoryOf("git@gitlab.com:acme/web/shop.io.git"), "web/shop.io")
    for (const remote of ["", "shop", "../shop", "https://", "git@host:shop.git"]) {
      assert.isUndefined(repositoryOf(remote), remote)
    }
  })
})
