import { ticketMentions } from "@delivery/domain/catalog/Commit"
import { assert, describe, it } from "@effect/vitest"

const named = (subject: string) => ticketMentions(subject).map(({ number, teamKey }) => `${teamKey}-${number}`)

describe("identifiers in subjects", () => {
  it("are found wherever they stand alone, in any case, each once", () => {
    assert.deepStrictEqual(named("ENG-12: pay by card"), ["ENG-12"])
    assert.deepStrictEqual(named("Merge eng-12/basket (#7), OPS-3, ENG-12."), ["ENG-12", "OPS-3"])
    assert.deepStrictEqual(named("[A1-2]A1-3"), ["A1-2", "A1-3"])
    assert.deepStrictEqual(named("ENG-12-fix and pre-ENG-13"), ["ENG-12", "ENG-13"])
    assert.deepStrictEqual(named("ENG-2147483647"), ["ENG-2147483647"])
  })

  it("are not parts of other words", () => {
    for (const subject of [
      "1ENG-12",
      "_ENG-12",
      "ENG-12a",
      "ENG-12_",
      "éENG-12",
      "ENG-12é",
      "ENG-012",
      "ENG-0",
      "ENG -12",
      "ENG-2147483648",
      "ABCDEFGHIJK-1",
      "12-ENG",
      ""
    ]) {
      assert.deepStrictEqual(named(subject), [], subject)
    }
  })
})
