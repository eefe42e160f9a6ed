import { assert, describe, it } from "@effect/vitest"
import { isKnown, isUnchanged, requestedRange } from "../../src/http/RangeRequests.ts"

const ask = (header: string | undefined, size = 100) => {
  const range = requestedRange(header, size)
  return range.kind === "part" ? [range.offset, range.length] : range.kind
}

describe("requestedRange", () => {
  it("accepts one range of bytes", () => {
    assert.deepStrictEqual(ask("bytes=0-0"), [0, 1])
    assert.deepStrictEqual(ask("bytes=0-99"), [0, 100])
    assert.deepStrictEqual(ask("bytes=10-19"), [10, 10])
    assert.deepStrictEqual(ask("bytes=90-"), [90, 10])
    assert.deepStrictEqual(ask("bytes=99-"), [99, 1])
    assert.deepStrictEqual(ask("Bytes=1-2"), [1, 2])
    assert.deepStrictEqual(ask("bytes= 1-2 "), [1, 2])
  })

  it("ends at the end of the file", () => {
    assert.deepStrictEqual(ask("bytes=90-1000"), [90, 10])
    assert.deepStrictEqual(ask(`bytes=90-${"9".repeat(400)}`), [90, 10])
  })

  it("takes the last bytes", () => {
    assert.deepStrictEqual(ask("bytes=-1"), [99, 1])
    assert.deepStrictEqual(ask("bytes=-100"), [0, 100])
    assert.deepStrictEqual(ask("bytes=-1000"), [0, 100])
  })

  it("cannot satisfy a range that begins beyond the end, nor the last 0 bytes", () => {
    assert.strictEqual(ask("bytes=100-"), "unsatisfiable")
    assert.strictEqual(ask("bytes=100-200"), "unsatisfiable")
    assert.strictEqual(ask(`bytes=${"9".repeat(400)}-`), "unsatisfiable")
    assert.strictEqual(ask("bytes=-0"), "unsatisfiable")
  })

  it("asks for the whole file with several or malformed ranges", () => {
    for (const header of [
      undefined,
      "",
      "bytes",
      "bytes=",
      "bytes=-",
      "bytes=0-1,3-4",
      "bytes=0-1,",
      "bytes=5-4",
      "bytes=a-b",
      "bytes=1.5-2",
      "bytes=0x1-2",
      "bytes=--1",
      "bytes=1 - 2",
      "lines=0-1",
      "0-1"
    ]) {
      assert.strictEqual(ask(header), "whole", String(header))
    }
  })

  it("finds no range in an empty file", () => {
    assert.strictEqual(ask(undefined, 0), "whole")
    assert.strictEqual(ask("bytes=0-", 0), "unsatisfiable")
    assert.strictEqual(ask("bytes=-5", 0), "whole")
    assert.strictEqual(ask("bytes=-0", 0), "unsatisfiable")
  })
})

describe("isKnown", () => {
  it("compares each ETag of the list weakly", () => {
    assert.isTrue(isKnown('"a"', '"a"'))
    assert.isTrue(isKnown('W/"a"', '"a"'))
    assert.isTrue(isKnown('"x", W/"y,z" ,"a"', '"a"'))
    assert.isFalse(isKnown('"x", "y"', '"a"'))
    assert.isFalse(isKnown("a", '"a"'))
    assert.isFalse(isKnown("", '"a"'))
    assert.isFalse(isKnown(undefined, '"a"'))
  })

  it("matches any ETag with *", () => {
    assert.isTrue(isKnown("*", '"a"'))
    assert.isTrue(isKnown(" * ", '"a"'))
    assert.isFalse(isKnown('"*"', '"a"'))
  })
})

describe("isUnchanged", () => {
  const date = "Sat, 21 Nov 2026 09:30:00 GMT"
  it("is true without a condition, with the same ETag and with the same date", () => {
    assert.isTrue(isUnchanged(undefined, '"a"', date))
    assert.isTrue(isUnchanged('"a"', '"a"', date))
    assert.isTrue(isUnchanged(date, '"a"', date))
  })

  it("is false with another or a weak ETag, or any other date", () => {
    assert.isFalse(isUnchanged('"b"', '"a"', date))
    assert.isFalse(isUnchanged('W/"a"', '"a"', date))
    assert.isFalse(isUnchanged("Sat, 21 Nov 2026 09:30:01 GMT", '"a"', date))
    assert.isFalse(isUnchanged("nonsense", '"a"', date))
  })
})
