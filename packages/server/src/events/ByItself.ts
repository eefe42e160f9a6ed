import { Context } from "effect"

/**
 * What does something by itself, in the name of a person, such as a test rule; undefined where somebody does it. Events tell it as a
 * change of `by` (docs/contract.md, Events).
 */
export const ByItself = Context.Reference<string | undefined>("@delivery/server/events/ByItself", {
  defaultValue: () => undefined
})
