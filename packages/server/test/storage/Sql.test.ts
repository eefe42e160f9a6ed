import { assert, describe, it, layer } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import fc from "fast-check"
import { isoOfJson, prepared } from "../../src/storage/Sql.ts"
import { layerPostgres } from "../support/Databases.ts"

describe("isoOfJson", () => {
  it("parses what PostgreSQL writes in any time zone, with any number of digits", () => {
    const pad = (value: number, length: number) => String(value).padStart(length, "0")
    const instant = fc.date({ min: new Date(0), max: new Date(Date.UTC(9999, 0)), noInvalidDate: true })
    fc.assert(
      fc.property(instant, fc.nat(999), fc.constantFrom("+00:00", "+05:30", "-08:00"), (date, micros, zone) => {
        const fraction = `.${pad(date.getUTCMilliseconds(), 3)}${pad(micros, 3)}`.replace(/\.?0+$/, "")
        const text = `${date.toISOString().slice(0, 19)}${fraction}${zone}`
        assert.strictEqual(isoOfJson(text), new Date(text).toISOString())
      })
    )
  })
})

describe("prepared", () => {
  layer(layerPostgres, { excludeTestServices: true })((it) => {
    it.effect("binds each call's values to their parameters, with the constant ones", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const find = prepared(
          sql,
          (one: number, two: string) =>
            sql<{ a: string; b: number; c: number; d: string }>`select ${two}::text as a, ${one}::integer as b,
              ${7}::integer as c, ${two}::text || ${one}::integer as d`
        )
        for (const [one, two] of [
          [1, "x"],
          [2, "y"]
        ] as const) {
          assert.deepStrictEqual(yield* find(one, two), [{ a: two, b: one, c: 7, d: `${two}${one}` }])
        }
        assert.strictEqual(find(1, "x").compile()[0], find(2, "y").compile()[0])
      })
    )
  })
})
