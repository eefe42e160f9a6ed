import { isCalendarDate, timestamp, TimestampInput } from "@delivery/domain/Timestamp"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const isTimestamp = Schema.is(TimestampInput)

describe("TimestampInput", () => {
  it("accepts ISO 8601 instants with an offset, from 1970 to 9999", () => {
    for (const text of [
      "2026-11-21T09:30:00.000Z",
      "2026-11-21T09:30:00Z",
      "2026-11-21T09:30Z",
      "2026-11-21T09:30:00.1Z",
      "2026-11-21T09:30:00.123456789Z",
      "2026-11-21T09:30:00+02:00",
      "2026-11-21T09:30:00.000-11:30",
      "2026-11-21T09:30+00:00",
      "2026-11-21T09:30-00:00",
      "2024-02-29T23:59:59Z",
      "2000-02-29T00:00Z",
      "1970-01-01T00:00:00Z",
      "1969-12-31T23:00:00-01:00",
      "9999-12-31T23:59:59.999Z"
    ]) {
      assert.isTrue(isTimestamp(text), text)
    }
  })

  it("rejects days that no calendar has", () => {
    for (const day of [
      "2026-02-29",
      "2026-02-30",
      "2026-02-31",
      "2100-02-29",
      "2026-04-31",
      "2026-00-10",
      "2026-13-01",
      "2026-01-00",
      "2026-01-32"
    ]) {
      assert.isFalse(isTimestamp(`${day}T09:30:00Z`), day)
      assert.isFalse(isCalendarDate(day), day)
    }
  })

  it("rejects times that no clock has", () => {
    for (const time of ["24:00:01", "25:00", "09:60", "09:30:60", "9:30", "09:3", "09:30:00.", "09:30:00,5", "09"]) {
      assert.isFalse(isTimestamp(`2026-11-21T${time}Z`), time)
    }
  })

  it("rejects a missing or wrong offset", () => {
    for (const offset of ["", "z", "+2", "+0200", "+02", "+24:00", "+02:60", "UTC", " Z", "Z "]) {
      assert.isFalse(isTimestamp(`2026-11-21T09:30:00${offset}`), offset)
    }
  })

  it("rejects years before 1970 and after 9999, in UTC", () => {
    for (const text of [
      "1969-12-31T23:59:59.999Z",
      "1970-01-01T00:00:00+00:01",
      "0001-01-01T00:00Z",
      "0000-01-01T00:00Z",
      "9999-12-31T23:59:59-00:01",
      "10000-01-01T00:00Z",
      "+010000-01-01T00:00Z",
      "-000001-01-01T00:00Z"
    ]) {
      assert.isFalse(isTimestamp(text), text)
    }
  })

  it("rejects other forms of dates, and values that are not strings", () => {
    for (const value of [
      "",
      "2026-11-21",
      "2026-11-21 09:30:00Z",
      "20261121T093000Z",
      "2026-W47-6T09:30Z",
      "2026-325T09:30Z",
      "Sat, 21 Nov 2026 09:30:00 GMT",
      "now",
      "1795253400000",
      1_795_253_400_000,
      null,
      new Date(0)
    ]) {
      assert.isFalse(isTimestamp(value), String(value))
    }
  })
})

describe("isCalendarDate", () => {
  it("recognizes calendar days as YYYY-MM-DD", () => {
    for (const day of ["2026-11-21", "2024-02-29", "2000-02-29", "1970-01-01", "9999-12-31"]) {
      assert.isTrue(isCalendarDate(day), day)
    }
    for (const text of ["", "today", "2026-11", "2026-1-1", "1900-02-29", "2026-11-21T00:00:00Z", " 2026-11-21"]) {
      assert.isFalse(isCalendarDate(text), text)
    }
  })
})

describe("timestamp", () => {
  it("writes UTC with milliseconds", () => {
    assert.strictEqual(timestamp(0), "1970-01-01T00:00:00.000Z")
    assert.strictEqual(timestamp(Date.UTC(2026, 10, 21, 9, 30, 0, 7)), "2026-11-21T09:30:00.007Z")
  })

  it("returns a text that TimestampInput accepts, in the order of time", () => {
    const moments = [0, 1, 999, 1_000, 1_795_253_400_000, Date.UTC(9999, 11, 31, 23, 59, 59, 999)].map(timestamp)
    for (const moment of moments) assert.isTrue(isTimestamp(moment), moment)
    assert.deepStrictEqual(moments.toSorted(), moments)
  })
})
