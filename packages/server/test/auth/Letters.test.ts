import { assert, describe, it } from "@effect/vitest"
import { inviteLetter } from "../../src/auth/Letters.ts"
import { escaped } from "../../src/http/Escaped.ts"

/** The name as a letter has it, of a workspace and of who invites. */
const shownIn = (name: string): string => {
  const { html, subject, text } = inviteLetter({
    to: "somebody@example.com",
    inviter: name,
    role: "member",
    url: "https://delivery.example/invite#x",
    workspace: name,
    expiresAt: "2026-01-02T03:04:05.000Z"
  })
  const [quoted] = /"[^"]*"$/.exec(subject)!
  const sentence = `${quoted} invites you to the workspace ${quoted}, with the role member.`
  assert.include(text, sentence)
  assert.include(html, `<p>${escaped(sentence)}</p>`)
  return quoted.slice(1, -1)
}

describe("Names in letters", () => {
  it("hold nothing of which mail programs make a link", () => {
    for (const [name, shown] of [
      ["Click http://evil.example/x now", "Click http: //evil. example/x now"],
      ["www.evil.example", "www. evil. example"],
      ["pay@evil.example", "pay@evil. example"],
      ["evil\u3002example evil\uFF0Eexample", "evil\u3002 example evil\uFF0E example"],
      ["пример.испытание", "пример. испытание"],
      ["mailto:a@localhost tel:123", "mailto: a@localhost tel: 123"]
    ] as const) {
      assert.strictEqual(shownIn(name), shown)
    }
  })

  it("are else as they are", () => {
    for (const name of ["Acme Inc.", "St. Mary: the 2nd", "Release 1.5 (12:30)", "Ops & R/D", "..."]) {
      assert.strictEqual(shownIn(name), name)
    }
  })
})
