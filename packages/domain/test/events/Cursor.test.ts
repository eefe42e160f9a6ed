import { eventCursor, isEventCursor, readEventCursor } from "@delivery/domain/events/Cursor"
import type { EventId } from "@delivery/domain/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

const id = fc.uuid({ version: 7 }).map((text) => text as EventId)

describe("a cursor of events", () => {
  it("is read as it was written", () => {
    const cursors = fc.record({
      event: fc.option(id, { nil: undefined }),
      isBehind: fc.boolean(),
      seen: fc.array(id, { maxLength: 200 })
    })
    fc.assert(
      fc.property(cursors, (cursor) => {
        const text = eventCursor(cursor)
        assert.isTrue(isEventCursor(text))
        // Before the first event there is nothing to be behind of.
        const isBehind = cursor.isBehind && cursor.event !== undefined
        assert.deepStrictEqual(readEventCursor(text), { ...cursor, isBehind })
      })
    )
  })

  it("names events by their ids, and nothing else", () => {
    const [one] = fc.sample(id, 1)
    for (const text of [one!, `${one}~`, `0.${one}`, `${one}~.${one}`, "0"]) assert.isTrue(isEventCursor(text), text)
    const others = [
      "",
      "1",
      "12",
      "0~",
      `${one}.`,
      `.${one}`,
      `${one}.0`,
      `${one}.${one}~`,
      `~${one}`,
      one!.toUpperCase()
    ]
    for (const text of others) assert.isFalse(isEventCursor(text), text)
    assert.isTrue(isEventCursor(`0${`.${one}`.repeat(200)}`))
    assert.isFalse(isEventCursor(`0${`.${one}`.repeat(201)}`))
  })
})
