import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hashCode, isSecret, NewCode, readCode } from "../../src/ids/Codes.ts"
import * as Ids from "../../src/ids/Ids.ts"

const many = <A>(make: (codes: NewCode["Service"]) => Effect.Effect<A>) =>
  Effect.flatMap(NewCode, (codes) => Effect.all(Array.from({ length: 2000 }, () => make(codes)))).pipe(
    Effect.provide(Ids.layer)
  )

describe("Codes", () => {
  it.effect("have 8 of 32 letters and digits, none of which is taken for another", () =>
    Effect.gen(function* () {
      const codes = yield* many(({ code }) => code)
      for (const code of codes) assert.match(code, /^[2-9A-HJ-NP-Z]{8}$/)
      assert.strictEqual(new Set(codes).size, codes.length)
      assert.strictEqual(new Set(codes.join("")).size, 32)
    })
  )

  it.effect("come with secrets that a cookie takes", () =>
    Effect.gen(function* () {
      const secrets = yield* many(({ secret }) => secret)
      assert.isTrue(secrets.every(isSecret))
      assert.strictEqual(new Set(secrets).size, secrets.length)
      assert.isFalse(isSecret(`${secrets[0]} `))
    })
  )

  it("are read whatever their case, blanks and hyphens", () => {
    for (const typed of [
      "7KQ4MW2X",
      "7kq4mw2x",
      " 7kq4-MW2x\n",
      "7 K Q 4\u00a0M W 2 X",
      "7KQ4\u2010MW2X",
      "7KQ4\u2014MW2X"
    ]) {
      assert.strictEqual(readCode(typed), "7KQ4MW2X", typed)
    }
    for (const typed of ["", "7KQ4MW2", "7KQ4MW2XY", "7KQ4MW20", "7KQ4MW2O", "7KQ4MW21", "7KQ4MW2I", "7KQ4_MW2X"]) {
      assert.isUndefined(readCode(typed), typed)
    }
  })

  it("are stored with their browser's secret in them", () => {
    assert.notStrictEqual(hashCode("a", "7KQ4MW2X"), hashCode("b", "7KQ4MW2X"))
    assert.notInclude(hashCode("a", "7KQ4MW2X"), "7KQ4MW2X")
  })
})
