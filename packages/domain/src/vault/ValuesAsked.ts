import { Schema } from "effect"
import { undocumented } from "../Text.ts"

const message = "Expected environments, separated by commas, or none"

/** Of which environments, by slug or id, the answer is to have the values. In a query, where `none` asks for no value. */
export const ValuesAsked = Schema.String.annotate({
  description:
    "The environments, by slug or id and separated by commas, whose values you ask for; `none` asks for no value. Without it, you ask for all that you may read. What you did not ask for is not read: its `value` is null, its `valueHidden` true, and the audit has no entry of it.",
  examples: ["staging"]
}).check(Schema.isPattern(/^[^,]{1,100}(,[^,]{1,100}){0,99}$/, { message, toJsonSchema: undocumented }))

/** The environments that a query asks for; undefined for all. */
export const askedEnvironments = (text: string | undefined): ReadonlyArray<string> | undefined =>
  text === "none" ? [] : text?.split(",")
