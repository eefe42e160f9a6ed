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

  it("say alike what is absent and what is invisible", () => {
    assert.deepStrictEqual(encode(NotFound.of("product")), {
      _tag: "NotFound",
      message: "The product does not exist."
    })
    assert.match(NotFound.reference("environment").message, /^environment:/)
  })

  it("do not say what was wrong with a credential", () => {
    assert.deepStrictEqual(encode(Unauthorized.generic), {
      _tag: "Unauthorized",
      message: "A valid API key is required."
    })
  })
})
