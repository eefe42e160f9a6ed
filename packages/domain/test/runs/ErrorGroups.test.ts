import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { errorGroupOf, failureText, foldError, shownError } from "../../src/runs/ErrorGroups.ts"

/** Which failures say the same. */

const same = (first: string, ...others: ReadonlyArray<string>) => {
  for (const other of others) {
    assert.strictEqual(foldError(other), foldError(first))
    assert.strictEqual(errorGroupOf(other), errorGroupOf(first))
  }
}

const different = (...texts: ReadonlyArray<string>) =>
  assert.strictEqual(new Set(texts.map(errorGroupOf)).size, texts.length, texts.map(foldError).join(" | "))

describe("errorGroupOf", () => {
  it("folds numbers, whatever their form", () => {
    same("Expected 200, got 500", "Expected 201, got 404", "Expected 1,234.5, got -7", "Expected 1, got 2.5")
    same("Timed out 5000ms waiting", "Timed out 30000ms waiting", "Timed out 1.5ms waiting")
    same("Timeout of 30s exceeded", "Timeout of 1.5s exceeded")
    same("order12 is missing", "order4711 is missing")
    different("Expected 200, got 500", "Expected 200", "got 200, Expected 500")
    different("Timed out 5000ms waiting", "Timed out 5s waiting")
    different("order12 is missing", "invoice12 is missing")
  })

  it("folds ids: UUIDs, hashes, and what mixes letters and digits", () => {
    same(
      "No order 0197a1b2-0000-7000-8000-000000000012 found",
      "No order 7f3ac0de-1111-4222-9333-abcdefabcdef found",
      "No order 9fceb02d0ae598e95dc970b74767f19372d61af8 found",
      "No order 4fGhTz0s found",
      "No order k3J9q found"
    )
    same("scope run-12-4fGhTz0s is gone", "scope run-7-9KqTz1aB2 is gone")
    same("at 2026-11-21T09:30:00.000Z it ended", "at 2025-01-02T23:59:59.999Z it ended")
  })

  it("folds URLs and paths", () => {
    same(
      "GET http://localhost:4000/orders/12?x=1 failed",
      "GET https://shop.example/checkout failed",
      "GET /orders failed",
      String.raw`GET C:\Users\ci\a.ts failed`
    )
    different("GET /orders failed", "GET orders failed")
    same("failed in src/a.ts:12:9", "failed in test/b/c.ts:1:1")
    assert.strictEqual(foldError("1 / 2"), "<n> / <n>")
  })

  it("folds quoted text, and leaves apostrophes", () => {
    same(`locator('h1') has "A"`, `locator('main > a') has "B C"`, "locator(`h1`) has ``", "locator(“x”) has «y»")
    same(String.raw`Received "a \" b" here`, `Received "c" here`)
    same("can't find 'a'", "can't find 'b'")
    different("can't find 'a'", "cannot find 'a'")
    assert.strictEqual(foldError("the user's basket isn't empty"), "the user's basket isn't empty")
    assert.strictEqual(foldError('it has " and no end'), 'it has " and no end')
    assert.strictEqual(foldError('a "b\nc" d'), 'a "b c" d')
    same(`{"id": 12, "name": "Ana"}`, `{"key": 7, "title": "Ben"}`)
  })

  it("ignores colours, blanks, the stack and the log", () => {
    same(
      "Expected  200\n\n  got 500 ",
      "\u001b[31mExpected\u001b[39m 200 got\t500",
      "Expected 200\ngot 500\n    at checkout.spec.ts:12:9\n    at more",
      "Expected 200 got 500\nCall log:\n  - waiting for locator\n  - 9 × unexpected value"
    )
    different("at the end", "at the start")
    assert.strictEqual(foldError(" \n"), "")
  })

  it("tells texts apart that differ in words", () => {
    different("", "a", "b", "ab", "a b", "Expected visible", "Expected hidden", "expected visible", "ünï", "日本", "日")
  })

  it("looks at the first 4,000 characters", () => {
    const long = "word ".repeat(1_000)
    same(long, `${long}and more`)
    different(`${"a".repeat(3_998)} b`, `${"a".repeat(3_998)} c`)
  })

  it("is the same in every version: ids are stored", () => {
    assert.strictEqual(foldError("Expected 200, got 500"), "Expected <n>, got <n>")
    assert.match(errorGroupOf(""), /^[0-9a-f]{16}$/)
    assert.deepStrictEqual(["", "Expected 200, got 500", "Not found: 'x'"].map(errorGroupOf), [
      "488bdcb81aee8d83",
      "1796f39aad9cfb93",
      "3effbacac20fb556"
    ])
  })
})

const part = Schema.Literals(["a", "Expected", " ", "  ", "\n", "(", ")", ", ", ": ", "é", "日", "-", "_", "."])
const words = Arbitrary.map(Arbitrary.array(Arbitrary.schema(part), { maxLength: 12 }), (parts) => parts.join(""))
const digits = Arbitrary.map(Arbitrary.schema(Schema.Int), (number) => String(Math.abs(number)))
const quoted = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(["x", " ", "1", "/", "(", "é", ","])), { maxLength: 8 }),
  (parts) => parts.join("")
)
const anything = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.schema(
      Schema.Literals([
        "a",
        "Z",
        "0",
        "9",
        " ",
        "\n",
        "'",
        '"',
        "`",
        "“",
        "”",
        "\\",
        "/",
        ",",
        ".",
        "-",
        "_",
        "(",
        "<",
        "\u001b",
        "[",
        "3",
        "m",
        "é",
        "🚀",
        "\ud83d",
        "at ",
        "Call log:"
      ])
    ),
    { maxLength: 60 }
  ),
  (parts) => parts.join("")
)

describe("foldError", () => {
  it.prop(
    "gives one group to texts that differ in a number, between any words",
    [words, words, digits, digits],
    ([a, b, one, other]) => {
      assert.strictEqual(foldError(`${a} ${one} ${b}`), foldError(`${a} ${other} ${b}`))
    }
  )

  it.prop(
    "gives one group to texts that differ in quoted text",
    [words, words, quoted, quoted],
    ([a, b, one, other]) => {
      for (const mark of ["'", '"', "`"]) {
        assert.strictEqual(foldError(`${a} ${mark}${one}${mark} ${b}`), foldError(`${a} ${mark}${other}${mark} ${b}`))
      }
    }
  )

  it.prop("has no digit left outside of what a text repeats, and no blanks at its ends", [anything], ([text]) => {
    const folded = foldError(text)
    assert.notMatch(folded, /\d/)
    assert.notMatch(folded, /^\s|\s$|\s\s|\n/)
    assert.match(errorGroupOf(text), /^[0-9a-f]{16}$/)
  })

  it("takes a time that grows with the text alone, whatever the text is", () => {
    const hostile = [
      '"',
      "'",
      "`",
      "“",
      "\\",
      "\u001b[",
      "\u001b[0",
      "'a",
      "a'",
      "1.",
      "1,",
      "1-",
      "/",
      "a1",
      "1a",
      "-",
      "\n ",
      "\nat",
      "0123456789abcdef-",
      "00000000-0000-0000-0000-",
      '\\"',
      "\ud83d",
      "é",
      ",",
      "1;",
      "( "
    ]
    // Quadratic, each would take a minute; the time limit of the test is the bound.
    for (const unit of hostile) {
      const text = unit.repeat(Math.ceil(100_000 / unit.length))
      for (let round = 0; round < 50; round++) errorGroupOf(`${text}${round}`)
      shownError(text)
    }
  })
})

describe("failureText", () => {
  it("is the message; where there is none, the stack", () => {
    assert.strictEqual(failureText({ errorMessage: "m", errorStack: "s" }), "m")
    assert.strictEqual(failureText({ errorMessage: "", errorStack: "s" }), "s")
    assert.strictEqual(failureText({ errorMessage: null, errorStack: "s" }), "s")
    assert.strictEqual(failureText({ errorMessage: null, errorStack: null }), "")
  })
})

describe("shownError", () => {
  it("is without colours and not too long", () => {
    assert.strictEqual(shownError(" \u001b[1;31mExpected\u001b[0m 200 "), "Expected 200")
    assert.strictEqual(shownError("🚀".repeat(3_000)), "🚀".repeat(2_000))
    assert.strictEqual(shownError("a\nb"), "a\nb")
  })
})
