import { exampleAttempt, maxTestsPerRun } from "@delivery/domain/runs/TestEntry"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isParsable, maxParts } from "../../src/runs/ReportBytes.ts"

/** What a report is allowed to make a parser build, found in its bytes. */

const parsed = (text: string): unknown => {
  const bytes = Buffer.from(text)
  assert.isTrue(isParsable(bytes), text.slice(0, 200))
  return JSON.parse(bytes.toString())
}

const known = ["tests", "caseId", "files", "attempt", "errorStack"]
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    fc.string({ unit: fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", "ü", "🚀", "\n") }),
    fc.integer(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...known), fc.string({ maxLength: 30 })), tie("value"), { maxKeys: 4 })
  )
}))

/** The value with the properties that reports know. */
const ofKnown = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(ofKnown)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([name]) => known.includes(name))
            .map(([name, child]) => [name, ofKnown(child)])
        )
      : value

/** The same of what is left in the bytes, where all that is ignored has one name. */
const withoutIgnored = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutIgnored)
  if (typeof value !== "object" || value === null) return value
  const { "": ignored, ...rest } = value as Record<string, unknown>
  assert.include([undefined, 0], ignored as number | undefined)
  return Object.fromEntries(Object.entries(rest).map(([name, child]) => [name, withoutIgnored(child)]))
}

describe("the bytes of a report", () => {
  it("keep what reports know, and nothing else, however they are written", () => {
    fc.assert(
      fc.property(json.value, fc.constantFrom(undefined, 1), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent)
        assert.deepStrictEqual(withoutIgnored(parsed(text)), ofKnown(JSON.parse(text)))
      })
    )
    assert.deepStrictEqual(parsed('{"\\u0074ests":[1],"\\u0078":[2]}'), { tests: [1], "": 0 })
  })

  it("are nothing to build where what is ignored does not end", () => {
    for (const end of ["", "]", "}", "]}"]) {
      const bytes = Buffer.from(`{"interrupted":false,"x":${"[".repeat(100_000)}${end}`)
      assert.isTrue(isParsable(bytes))
      assert.notInclude(bytes.toString(), "[")
      assert.throws(() => JSON.parse(bytes.toString()))
    }
  })

  it("are no JSON afterwards if they were none", () => {
    for (const text of ["", "{", '{"x', '{"x":', '{"x":}', '{"tests":[}', '"', '{"tests" 1}', '{"x":[1,2']) {
      const bytes = Buffer.from(text)
      assert.isTrue(isParsable(bytes))
      assert.throws(() => JSON.parse(bytes.toString()), SyntaxError)
    }
  })

  it("may have 20 attempts of each of 5,000 tests, and six levels", () => {
    const attempt = { ...exampleAttempt, files: ["stdout.txt"] }
    const attempts = Array.from({ length: 20 }, () => attempt)
    const tests = Array.from({ length: maxTestsPerRun }, (_, i) => ({ caseId: `case ${i}`, attempts }))
    assert.isTrue(isParsable(Buffer.from(JSON.stringify({ interrupted: false, cleanup: null, tests }))))
    assert.isFalse(isParsable(Buffer.from(`{"tests":[${"{},".repeat(maxParts / 2)}{}]}`)))
    assert.isTrue(isParsable(Buffer.from('{"tests":[{"attempts":[{"files":["a"]}]}]}')))
    assert.isFalse(isParsable(Buffer.from('{"tests":[{"attempts":[{"files":[["a"]]}]}]}')))
    assert.isTrue(isParsable(Buffer.from(`{"unknown":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`)))
    assert.isTrue(isParsable(Buffer.from(`{"unknown":[${"{},".repeat(maxParts)}{}]}`)))
    const ignored = (count: number) => Buffer.from(`{${'"a":0,'.repeat(count)}"b":0}`)
    assert.isTrue(isParsable(ignored(maxParts / 12)))
    assert.isFalse(isParsable(ignored(maxParts / 10)))
  })
})
