import { CreateMilestone, CreateProject, ReorderProject, UpdateProject } from "@delivery/domain/planning/Project"
import { CreateView } from "@delivery/domain/planning/View"
import { CalendarDate } from "@delivery/domain/Timestamp"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema, SchemaIssue } from "effect"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** What people read of a wrong body. */
const problems = <A, I>(schema: Schema.Codec<A, I>, input: unknown): ReadonlyArray<string> => {
  const result = Schema.decodeUnknownResult(schema, { errors: "all" })(input)
  if (Result.isSuccess(result)) return []
  return format(result.failure.issue).issues.map(({ message, path }) =>
    [...(path ?? []).map(String), message].join(": ")
  )
}

const project = { slug: "checkout", name: "New checkout", teams: ["ENG"] }

describe("bodies of projects and views", () => {
  it("name what is expected of every wrong field", () => {
    assert.deepStrictEqual(
      problems(CreateProject, {
        slug: "New Checkout",
        name: " ",
        summary: "x".repeat(201),
        status: "done",
        targetDate: "2026-02-30",
        teams: []
      }),
      [
        "slug: Expected lower-case letters, digits and single hyphens between them",
        "name: Expected text that is not empty",
        "summary: Expected at most 200 characters",
        "status: Expected one of planned, active, paused, completed, canceled",
        "targetDate: Expected a date, YYYY-MM-DD, from 1970 on",
        "teams: Expected at least one team"
      ]
    )
    assert.deepStrictEqual(problems(CreateMilestone, {}), ["name: Missing key"])
    assert.deepStrictEqual(
      problems(CreateView, {
        name: "Mine",
        scope: { kind: "team" },
        filters: { categories: ["done"], statuses: [""] }
      }),
      [
        "scope: key: Expected the key of the team",
        "filters: categories: 0: Expected one of backlog, unstarted, started, completed, canceled",
        "filters: statuses: 0: Expected text that is not empty"
      ]
    )
  })

  it("name exactly one place", () => {
    for (const body of [{ before: "search" }, { after: "search" }, { after: null }, { before: "search", other: 1 }]) {
      assert.deepStrictEqual(problems(ReorderProject, body), [])
    }
    for (const body of [{}, { before: "search", after: "search" }, { before: "search", after: null }]) {
      assert.deepStrictEqual(problems(ReorderProject, body), ["Expected either before or after"])
    }
    assert.isNotEmpty(problems(ReorderProject, { before: null }))
  })

  it("take projects at their limits", () => {
    const body = { ...project, name: "x".repeat(100), summary: "x".repeat(200), document: "x".repeat(100_000) }
    assert.deepStrictEqual(problems(CreateProject, body), [])
    for (const field of ["name", "summary", "document"] as const) {
      assert.lengthOf(problems(CreateProject, { ...body, [field]: `${body[field]}x` }), 1)
    }
    const cleared = { summary: null, lead: null, targetDate: null, document: null, products: [] }
    assert.deepStrictEqual(problems(UpdateProject, cleared), [])
  })

  it("take every day of the calendar from 1970 to 9999 as a date, and nothing else", () => {
    const isDate = Schema.is(CalendarDate)
    for (let day = 0; day <= Date.UTC(2101, 0, 1) / 86_400_000; day++) {
      const text = new Date(day * 86_400_000).toISOString().slice(0, 10)
      assert.isTrue(isDate(text), text)
    }
    for (const year of ["1970", "1999", "2000", "2024", "2100", "9999"]) {
      for (let month = 0; month < 15; month++) {
        for (let day = 0; day < 34; day++) {
          const text = `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
          const isReal = new Date(Date.UTC(Number(year), month - 1, day)).toISOString().startsWith(text)
          assert.strictEqual(isDate(text), isReal, text)
        }
      }
    }
    for (const text of [
      "",
      "1969-12-31",
      "0000-01-01",
      "+002026-01-01",
      "2026-1-1",
      "20260101",
      "2026-01-01T00:00:00Z"
    ]) {
      assert.isFalse(isDate(text), text)
    }
  })
})
