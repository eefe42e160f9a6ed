import { wordsOf } from "@delivery/domain/planning/TicketSearch"
import { assert, describe, it } from "@effect/vitest"

describe("wordsOf", () => {
  it("has each word once, whatever its case and its form", () => {
    assert.deepStrictEqual(wordsOf("Pay by card: PAY, E\u0301mile é2!"), ["pay", "by", "card", "émile", "é2"])
  })

  it("keeps the marks that a letter of a language has, in any order", () => {
    // A letter with a dot below and one above is one word, whichever was typed first.
    assert.deepStrictEqual(wordsOf("q\u0323\u0307 q\u0307\u0323"), ["q\u0323\u0307"])
    const marks = "\u0316".repeat(15) + "\u0315".repeat(15)
    assert.deepStrictEqual(wordsOf(`a${marks}`), [`a${marks}`])
  })

  it("reads a letter with as many marks as a description may have, which would take a minute to sort", () => {
    const marks = "\u0315".repeat(50_000) + "\u0316".repeat(49_999)
    assert.deepStrictEqual(wordsOf(`a${marks}`), [`a${"\u0315".repeat(30)}`])
  })
})
