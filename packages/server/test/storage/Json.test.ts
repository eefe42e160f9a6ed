import { assert, layer } from "@effect/vitest"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import fc from "fast-check"
import { test } from "vitest"
import { column, texts } from "../../src/storage/Columns.ts"
import { jsonBytes, jsonColumns, jsonObject } from "../../src/storage/Json.ts"
import { double, instant, integer, json, nullable, table, text } from "../../src/storage/Table.ts"
import { sharedDatabases } from "../support/Storages.ts"

const Item = Schema.Struct({
  number: Schema.Int,
  "quoted name": Schema.NullOr(Schema.String),
  double: Schema.NullOr(Schema.Finite),
  at: Schema.NullOr(Schema.String),
  inner: Schema.Struct({ isFirst: Schema.Boolean, missing: Schema.optionalKey(Schema.String) })
})

const items = table("items", {
  number: integer(),
  text: nullable(text()),
  double: nullable(double()),
  at: nullable(instant()),
  document: json<object>()
})

const item = jsonColumns(items, "i")
const itemJson = jsonBytes(
  jsonObject(Item, {
    number: item("number"),
    "quoted name": item("text"),
    double: item("double"),
    at: item("at"),
    inner: jsonObject(
      { fields: Item.fields.inner.fields },
      { isFirst: "i.number = 1", missing: item("text") },
      "missing"
    )
  })
)

interface Row {
  readonly text: string | null
  readonly double: number | null
  readonly at: Date | null
}

/** What `JSON.stringify` writes of the rows. */
const expected = (rows: ReadonlyArray<Row>) =>
  rows.map(({ at, double, text }, index) =>
    JSON.stringify(
      Schema.encodeSync(Item)({
        number: index + 1,
        "quoted name": text,
        double,
        at: at === null ? null : at.toISOString(),
        inner: { isFirst: index === 0, ...(text === null ? {} : { missing: text }) }
      })
    )
  )

const written = (rows: ReadonlyArray<Row>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const found = yield* sql<{ json: Uint8Array }>`select ${sql.literal(itemJson)} as json
      from unnest(${texts(rows, ({ text }) => text)}, ${column(rows, PgTypes.OID.float8, ({ double }) => double)},
        ${column(rows, PgTypes.OID.timestamptz, ({ at }) => at)}) with ordinality as i (text, double, at, number)
      order by i.number`
    return found.map(({ json }) => new TextDecoder().decode(json))
  })

/** Each character that a JSON text may write in another way, and some that it writes as they are. */
const characters = [
  ...Array.from({ length: 0xff }, (_, code) => String.fromCharCode(code + 1)),
  ..."\u2028\u2029\ud7ff\ue000\ufeff\ufffd\uffff\u{10000}\u{10ffff}"
]

/** Where the two change how they write a number. */
const numbers = [
  0,
  -0,
  0.1,
  1 / 3,
  64_210.5,
  2 ** 53,
  2 ** 60,
  5e-324,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
  Number.EPSILON,
  ...Array.from({ length: 60 }, (_, exponent) => [
    `1e${exponent - 30}`,
    `1.25e${exponent - 30}`,
    `9.99e${exponent - 30}`
  ])
    .flat()
    .map(Number),
  ...Array.from({ length: 64 }, (_, exponent) => [2 ** (exponent + 40), 2 ** (exponent + 40) + 2 ** exponent]).flat(),
  1e21,
  1.5e21,
  999_999_999_999_999_900_000,
  1e23,
  5e22,
  2 ** 1023,
  9.5e15,
  1.5e300
]

for (const { layer: database, name } of sharedDatabases) {
  layer(database, { excludeTestServices: true })(`JSON by ${name}`, (it) => {
    it.effect("is written as JSON.stringify writes it", () =>
      Effect.gen(function* () {
        const generated = fc.sample(
          fc.record({
            text: fc.option(fc.string({ unit: "binary" }).map((text) => text.replaceAll("\0", ""))),
            double: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
            at: fc.option(fc.date({ min: new Date(0), max: new Date("2250-01-01"), noInvalidDate: true }))
          }),
          1_000
        )
        const rows = [
          ...generated,
          ...characters.map((text) => ({ text, double: null, at: null })),
          ...numbers.flatMap((double) => [double, -double]).map((double) => ({ text: null, double, at: null })),
          { text: characters.join(""), double: 1, at: new Date(0) }
        ]
        assert.deepStrictEqual(yield* written(rows), expected(rows))
      })
    )

    it.effect("is written so in any time zone", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const rows = [{ text: null, double: null, at: new Date("2026-11-21T23:30:00.007Z") }]
        const elsewhere = sql.withTransaction(Effect.andThen(sql`set local time zone 'Asia/Kathmandu'`, written(rows)))
        assert.deepStrictEqual(yield* elsewhere, expected(rows))
      })
    )
  })
}

test("JSON has no columns of jsonb, which keeps spaces and an order of its own", () => {
  assert.throws(() => item("document"), "i.document is no JSON of an answer.")
})
