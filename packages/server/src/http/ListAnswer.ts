import { Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ListTurns } from "./ListTurns.ts"

/** How many items of a long list are encoded at once, at most: other requests are answered between two parts. */
const partSize = 50

/** How many characters of their texts a part has, unless one item has more. */
const partCharacters = 128 * 1024

/** The first index of each part of the items. */
const partsOf = (items: ReadonlyArray<object>): ReadonlyArray<number> => {
  const starts = [0]
  let characters = 0
  for (const [index, item] of items.entries()) {
    const own = charactersOf(item)
    if (index - starts.at(-1)! >= partSize || (characters + own > partCharacters && index > starts.at(-1)!)) {
      starts.push(index)
      characters = 0
    }
    characters += own
  }
  return starts
}

/** How many characters all texts in it have. */
const charactersOf = (item: object): number => {
  let characters = 0
  for (const value of Object.values(item)) {
    if (typeof value === "string") characters += value.length
    else if (typeof value === "object" && value !== null) characters += charactersOf(value)
  }
  return characters
}

/**
 * The answer of a list whose items may be long and many: `{[key]: items}`. It is read when it is its turn (ListTurns). A short
 * one is an answer like any other; a long one is encoded and sent part by part.
 */
export const listAnswer = <const Key extends string, Item extends object, Encoded>(
  turns: ListTurns["Service"],
  key: Key,
  item: Schema.Codec<Item, Encoded>
) => {
  const encode = Schema.encodeEffect(Schema.Array(item))
  const answer = (
    items: ReadonlyArray<Item>
  ): { readonly [K in Key]: ReadonlyArray<Item> } | HttpServerResponse.HttpServerResponse => {
    const starts = partsOf(items)
    if (starts.length === 1) return { [key]: items } as { readonly [K in Key]: ReadonlyArray<Item> }
    const parts = Stream.fromIterable(starts.entries()).pipe(
      Stream.rechunk(1),
      Stream.mapEffect(([part, start]) =>
        Effect.map(encode(items.slice(start, starts[part + 1])), (encoded) => {
          const text = JSON.stringify(encoded).slice(1, -1)
          return `${part === 0 ? `{${JSON.stringify(key)}:[` : ","}${text}${part === starts.length - 1 ? "]}" : ""}`
        })
      ),
      Stream.tap(() => Effect.yieldNow),
      Stream.orDie,
      Stream.encodeText
    )
    return HttpServerResponse.stream(parts, { contentType: "application/json" })
  }
  return <E, R>(read: Effect.Effect<ReadonlyArray<Item>, E, R>) => Effect.andThen(turns.take, Effect.map(read, answer))
}
