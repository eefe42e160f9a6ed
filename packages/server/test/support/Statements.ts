import { Effect, Fiber, Layer, Tracer } from "effect"
import { RequestId } from "../../src/http/RequestId.ts"

/**
 * What requests ask of the database: the text of each statement, and where a transaction begins, in order, by the
 * request's id. Seen by the spans of the SQL client, for a layer under a server.
 */
export const makeStatements = () => {
  const byRequest = new Map<string, Array<string>>()
  const record = (text: string) => {
    const id = Fiber.getCurrent()?.getRef(RequestId) ?? "none"
    const texts = byRequest.get(id)
    if (texts === undefined) byRequest.set(id, [text])
    else texts.push(text)
  }
  const layer = Layer.effect(
    Tracer.Tracer,
    Effect.map(Tracer.Tracer, (tracer) =>
      Tracer.make({
        ...tracer,
        span: (options) => {
          const span = tracer.span(options)
          if (options.name === "sql.transaction") record("transaction")
          const { attribute } = span
          span.attribute = (key, value) => {
            if (key === "db.query.text") record(String(value))
            attribute.call(span, key, value)
          }
          return span
        }
      })
    )
  )
  return { layer, of: (requestId: string): ReadonlyArray<string> => byRequest.get(requestId) ?? [] }
}
