import { Conflict, Forbidden, Internal, InvalidInput, NotFound, Unauthorized } from "@delivery/domain/Errors"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const encode = (error: unknown) =>
  Schema.encodeUnknownSync(Schema.Union([InvalidInput, Unauthorized, Forbidden, NotFound, Conflict, Internal]))(error)

describe("Errors", () => {
  it("are JSON with a tag and a message, and what else the contract names", () => {
    assert.deepStrictEqual(encode(InvalidInput.at("name", "Expected text")), {
      _tag: "InvalidInput",
      message: "name: Expected text",
      issues: [{ path: ["name"], message: "Expected text" }]
    })
    assert.deepStrictEqual(encode(new Conflict({ message: "In use.", reason: "slug_in_use" })), {
      _tag: "Conflict",
      message: "In use.",
      reason: "slug_in_use"
    })
    assert.deepStrictEqual(encode(new Forbidden({ message: "No." })), { _tag: "Forbidden", message: "No." })
    assert.deepStrictEqual(encode(new Internal({ message: "Something went wrong.", requestId: "abcdefgh" })), {
      _tag: "Internal",
      message: "Something went wrong.",
      requestId: "abcdefgh"
    })
  })

  it("are the same for what is absent and what is invisible", () => {
    assert.deepStrictEqual(encode(NotFound.of("product")), {
      _tag: "NotFound",
      message: "The product does not exist."
    })
    assert.strictEqual(NotFound.of("product", "shop").message, 'There is no product "shop" that you can see.')
    assert.match(NotFound.reference("environment").message, /^environment:/)
    assert.strictEqual(
      NotFound.reference("product", "shop").message,
      'product: there is no product "shop" that you can see.'
    )
  })

  it("name what a field refers to, for every field name", () => {
    const said = (field: string, value: string | number, noun?: string) =>
      NotFound.reference(field, value, noun).message
    assert.strictEqual(said("teams[0]", "OPS"), 'teams[0]: there is no team "OPS" that you can see.')
    assert.strictEqual(
      said("filters.owners", "ana"),
      'filters.owners: there is no member or agent "ana" that you can see.'
    )
    assert.strictEqual(said("values.staging", "x"), 'values.staging: there is no environment "x" that you can see.')
    assert.strictEqual(said("moveTo", "x"), 'moveTo: there is no ticket status "x" that you can see.')
    assert.strictEqual(said("before", "site", "project"), 'before: there is no project "site" that you can see.')
    assert.strictEqual(
      said("filters.milestones", "shop/1"),
      'filters.milestones: there is no milestone "shop/1" that you can see.'
    )
    assert.strictEqual(said("milestone", 3), 'milestone: there is no milestone "3" that you can see.')
  })

  it("repeat no token, and nothing that a terminal would obey", () => {
    const said = (value: string) => NotFound.of("product", value).message
    const token = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
    assert.strictEqual(said(`a ${token}`), 'There is no product "a ctk_***" that you can see.')
    assert.strictEqual(
      said('"x" \\ \u001b[31m\u009b\u202e\n\ud800'),
      'There is no product "\\"x\\" \\\\ \\u{1b}[31m\\u{9b}\\u{202e}\\u{a}\\u{d800}" that you can see.'
    )
    assert.strictEqual(said("größe 😀"), 'There is no product "größe 😀" that you can see.')
  })

  it("cut a long value after 100 characters, and never within one", () => {
    const long = "😀".repeat(101)
    assert.strictEqual(
      NotFound.reference("product", long).message,
      `product: there is no product "${"😀".repeat(100)}..." that you can see.`
    )
    assert.include(NotFound.of("product", "a".repeat(100)).message, `"${"a".repeat(100)}"`)
  })

  it("do not reveal what was wrong with a credential", () => {
    assert.deepStrictEqual(encode(Unauthorized.generic), {
      _tag: "Unauthorized",
      message: "A valid API key is required."
    })
  })
})
