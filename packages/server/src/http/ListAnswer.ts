import { Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/** How many items of a long list are encoded at once: other requests are answered between two parts. */
const partSize = 50

/**
 * The answer of a list whose items may be long and many: `{[key]: items}`. A short one is an answer like any other; a long
 * one is encoded and sent part by part.
 */
export const listAnswer = <const Key extends string, Item, Encoded>(key: Key, item: Schema.Codec<Item, Encoded>) => {
  const encode = Schema.encodeEffect(Schema.Array(item))
  return (
    items: ReadonlyArray<Item>
  ): { readonly [K in Key]: ReadonlyArray<Item> } | HttpServerResponse.HttpServerResponse => {
    if (items.length <= partSize) return { [key]: items } as { readonly [K in Key]: ReadonlyArray<Item> }
    const count = Math.ceil(items.length / partSize)
    const parts = Stream.range(0, count - 1).pipe(
      Stream.rechunk(1),
      Stream.mapEffect((index) =>
        Effect.map(encode(items.slice(index * partSize, (index + 1) * partSize)), (encoded) => {
          const text = JSON.stringify(encoded).slice(1, -1)
          return `${index === 0 ? `{${JSON.stringify(key)}:[` : ","}${text}${index === count - 1 ? "]}" : ""}`
        })
      ),
      Stream.tap(() => Effect.yieldNow),
      Stream.orDie,
      Stream.encodeText
    )
    return HttpServerResponse.stream(parts, { contentType: "application/json" })
  }
}
