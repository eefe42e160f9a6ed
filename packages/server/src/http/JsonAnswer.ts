import type { Schema } from "effect"
import { HttpServerResponse } from "effect/http"

const utf8 = new TextEncoder()

/**
 * The answer of a list whose items are JSON already: their bytes are sent as they are (`storage/Json.ts`). What else a page has
 * is encoded here, and must be JSON as it is.
 *
 * @param page The schema of the answer, whose fields it has in their order.
 * @param key The field that has the items.
 */
export const jsonListAnswer = <Fields extends Schema.Struct.Fields, const Key extends keyof Fields & string>(
  page: Schema.Struct<Fields>,
  key: Key
) => {
  const fields = Object.keys(page.fields)
  const [comma, begin, end] = [",", `"${key}":[`, "]"].map((text) => utf8.encode(text)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array
  ]
  return (
    items: ReadonlyArray<Uint8Array>,
    rest: Omit<(typeof page)["Encoded"], Key>
  ): HttpServerResponse.HttpServerResponse => {
    const list = [begin, ...items.flatMap((item, index) => (index === 0 ? [item] : [comma, item])), end]
    const others: Readonly<Record<string, unknown>> = rest
    const parts = fields.flatMap((field, place) => [
      utf8.encode(place === 0 ? "{" : ","),
      ...(field === key ? list : [utf8.encode(`${JSON.stringify(field)}:${JSON.stringify(others[field])}`)])
    ])
    return HttpServerResponse.uint8Array(Buffer.concat([...parts, utf8.encode("}")]), {
      contentType: "application/json"
    })
  }
}
