import { Schema } from "effect"

/** An object in the body of a request. Anything else is refused with "Expected an object", not with the name of a schema. */
export const Body = <const Fields extends Schema.Struct.Fields>(fields: Fields): Schema.Struct<Fields> =>
  Schema.Struct(fields).annotate({ message: "Expected an object" })
