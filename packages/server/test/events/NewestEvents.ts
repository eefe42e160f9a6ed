import { Effect } from "effect"
import { EventPages } from "../../src/events/EventPages.ts"

/** The newest events that the caller sees. */
export const newestEvents = Effect.flatMap(EventPages, (pages) => Effect.map(pages.list({}), ({ events }) => events))
