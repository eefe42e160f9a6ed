import { CreateTag } from "@delivery/domain/planning/Tag"
import { CreateTeam, isTeamKey } from "@delivery/domain/planning/Team"
import { datesInCategory } from "@delivery/domain/planning/StatusTimes"
import { canBeDefault, inBoardOrder, StatusCategory, UpdateTicketStatus } from "@delivery/domain/planning/TicketStatus"
import { nameKey } from "@delivery/domain/Text"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema, SchemaIssue } from "effect"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const problems = <A, I>(schema: Schema.Codec<A, I>, input: unknown): ReadonlyArray<string> => {
  const result = Schema.decodeUnknownResult(schema, { errors: "all" })(input)
  if (Result.isSuccess(result)) return []
  return format(result.failure.issue).issues.map(({ message, path }) =>
    [...(path ?? []).map(String), message].join(": ")
  )
}

describe("bodies of teams, ticket statuses and tags", () => {
  it("names what is expected of every wrong field", () => {
    assert.deepStrictEqual(problems(CreateTeam, { key: "eng", name: " ", visibility: "public" }), [
      "key: Expected 1 to 10 upper-case letters and digits, a letter first",
      "name: Expected text that is not empty",
      "visibility: Expected one of open, private"
    ])
    assert.deepStrictEqual(problems(UpdateTicketStatus, { isDefault: false }), [
      "isDefault: Expected true: make another status the default instead"
    ])
    assert.deepStrictEqual(problems(CreateTag, { name: "Bug", color: "red", team: "" }), [
      "color: Expected a color, #rrggbb",
      "team: Expected text that is not empty"
    ])
  })

  it("keeps colors in lower case", () => {
    const decode = Schema.decodeUnknownSync(CreateTag)
    assert.strictEqual(decode({ name: "Bug", color: "#D73A4A" }).color, "#d73a4a")
  })

  it("recognizes keys of teams", () => {
    for (const key of ["A", "ENG", "A1", "ABCDEFGHI0"]) assert.isTrue(isTeamKey(key), key)
    for (const key of ["", "eng", "1A", "A-B", "ABCDEFGHIJK", "A\n", "É", " A"]) assert.isFalse(isTeamKey(key), key)
  })

  it("compares names without case, and composed as they are read", () => {
    assert.strictEqual(nameKey("In Review"), nameKey("in rEVIEW"))
    assert.strictEqual(nameKey("Cafe\u0301"), nameKey("CAFÉ"))
    assert.notStrictEqual(nameKey("Cafe"), nameKey("Café"))
    assert.notStrictEqual(nameKey("In review"), nameKey("In  review"))
  })
})

describe("ticket statuses", () => {
  it("stand on the board by category, position and id", () => {
    const status = (category: StatusCategory, position: number, id: string) => ({ id: id as never, category, position })
    const ordered = [
      status("backlog", 3, "b"),
      status("unstarted", 0, "z"),
      status("unstarted", 0, "zz"),
      status("started", -1, "a"),
      status("started", 2, "a"),
      status("started", 10, "a"),
      status("completed", 0, "a"),
      status("canceled", 0, "a")
    ]
    const shuffled = [3, 7, 0, 5, 2, 6, 1, 4].map((at) => ordered[at]!)
    assert.deepStrictEqual(shuffled.toSorted(inBoardOrder), ordered)
  })

  it("can be the default before work starts", () => {
    assert.deepStrictEqual(StatusCategory.literals.filter(canBeDefault), ["backlog", "unstarted"])
  })

  it("set the dates of a ticket that goes from one to another", () => {
    const [before, at] = ["2026-11-21T09:30:00.000Z", "2026-11-22T09:30:00.000Z"]
    const none = { startedAt: null, completedAt: null, canceledAt: null }
    const dates = { startedAt: before, completedAt: before, canceledAt: null }
    for (const from of StatusCategory.literals) {
      // Within a category nothing is entered or left.
      assert.deepStrictEqual(datesInCategory(dates, from, from, at), dates)
      for (const to of StatusCategory.literals.filter((to) => to !== from)) {
        const after = datesInCategory(none, from, to, at)
        assert.deepStrictEqual(after, {
          startedAt: to === "started" ? at : null,
          completedAt: to === "completed" ? at : null,
          canceledAt: to === "canceled" ? at : null
        })
        // Once set, the start stays.
        assert.strictEqual(datesInCategory(dates, from, to, at).startedAt, before)
      }
    }
    assert.deepStrictEqual(datesInCategory(none, null, "completed", at), { ...none, completedAt: at })
    assert.deepStrictEqual(datesInCategory(dates, "completed", "backlog", at), { ...none, startedAt: before })
  })
})
