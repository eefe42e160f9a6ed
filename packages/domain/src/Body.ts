import { Schema } from "effect"

/** An object in the body of a request. Anything else is refused with "Expected an object", not with the name of a schema. */
export const Body = <const Fields extends Schema.Struct.Fields>(fields: Fields): Schema.Struct<Fields> =>
  Schema.Struct(fields).annotate({ message: "Expected an object" })

/** An object that has no other properties. Ignored, one with a typing error would not guard what it was sent to guard. */
export const Exact = <const Fields extends Schema.Struct.Fields>(fields: Fields): Schema.Struct<Fields> => {
  const unknown = Schema.String.check(Schema.isPattern(new RegExp(`^(?!(${Object.keys(fields).join("|")})$)`, "s")))
  const none = Schema.Record(unknown, Schema.Never.annotate({ message: "Unknown property" }))
  // Of the same type: there is no property beside the fields.
  const exact = Schema.StructWithRest(Schema.Struct(fields), [none]).annotate({ message: "Expected an object" })
  return exact as unknown as Schema.Struct<Fields>
}
