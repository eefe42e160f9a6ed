import { CreateComment, UpdateComment } from "@delivery/domain/planning/Comment"
import {
  compareTickets,
  CreateTicket,
  parseTicketIdentifier,
  ReorderTicket,
  ticketIdentifier,
  UpdateTicket
} from "@delivery/domain/planning/Ticket"
import { datesInCategory, type TicketDates } from "@delivery/domain/planning/StatusTimes"
import { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import type { TicketId } from "@delivery/domain/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema, SchemaIssue } from "effect"

const categories = StatusCategory.literals
const noDates: TicketDates = { startedAt: null, completedAt: null, canceledAt: null }

/** Every way of so many steps through the categories. */
const paths = (length: number): ReadonlyArray<ReadonlyArray<StatusCategory>> =>
  length === 0 ? [[]] : paths(length - 1).flatMap((path) => categories.map((category) => [...path, category]))

describe("identifiers of tickets", () => {
  it("are a key and a number, read in any case", () => {
    assert.strictEqual(ticketIdentifier("ENG", 12), "ENG-12")
    for (const text of ["ENG-12", "eng-12", "eNg-12"]) {
      assert.deepStrictEqual(parseTicketIdentifier(text), { teamKey: "ENG", number: 12 })
    }
    assert.deepStrictEqual(parseTicketIdentifier("A2345678Z0-2147483647"), {
      teamKey: "A2345678Z0",
      number: 2_147_483_647
    })
  })

  it("are nothing else", () => {
    for (const text of [
      "",
      "ENG",
      "ENG-",
      "-12",
      "ENG-0",
      "ENG-012",
      "ENG-1.0",
      "ENG--1",
      "ENG-12 ",
      "ENG_12",
      "1NG-12",
      "ABCDEFGHIJK-1",
      "ENG-2147483648",
      "ENG-99999999999",
      "ſng-12",
      "ßNG-1",
      "0197a1b2-0000-7000-8000-000000000e31"
    ]) {
      assert.isUndefined(parseTicketIdentifier(text), text)
    }
  })
})

describe("datesInCategory", () => {
  const start = "2026-11-21T09:30:00.000Z"

  it("sets startedAt once, and the others while a ticket is in their category", () => {
    for (const path of [1, 2, 3, 4, 5].flatMap(paths)) {
      const times = path.map((_, i) => new Date(Date.parse(start) + i).toISOString())
      let dates = noDates
      path.forEach((to, i) => {
        dates = datesInCategory(dates, path[i - 1] ?? null, to, times[i]!)
      })
      const last = path.at(-1)!
      /** When the ticket came into the category that it is in. */
      const since = times[path.findLastIndex((category) => category !== last) + 1]!
      const first = path.indexOf("started")
      assert.deepStrictEqual(
        dates,
        {
          startedAt: first === -1 ? null : times[first]!,
          completedAt: last === "completed" ? since : null,
          canceledAt: last === "canceled" ? since : null
        },
        path.join()
      )
    }
  })

  it("begins a ticket in any category", () => {
    const began = (to: StatusCategory) => datesInCategory(noDates, null, to, start)
    assert.deepStrictEqual(began("backlog"), noDates)
    assert.deepStrictEqual(began("started"), { ...noDates, startedAt: start })
    assert.deepStrictEqual(began("completed"), { ...noDates, completedAt: start })
  })
})

describe("compareTickets", () => {
  it("orders by category, position, rank and id", () => {
    const ticket = (category: StatusCategory, position: number, rank: string, id: string) => ({
      id: id as TicketId,
      rank,
      status: { category, position }
    })
    const ordered = [
      ticket("backlog", 0, "b", "4"),
      ticket("unstarted", 0, "Zz", "9"),
      ticket("unstarted", 0, "a0", "8"),
      ticket("unstarted", 0, "a0", "9"),
      ticket("unstarted", 0, "a0V", "1"),
      ticket("unstarted", 0, "a1", "0"),
      ticket("unstarted", 2, "a0", "1"),
      ticket("unstarted", 10, "a0", "1"),
      ticket("started", 0, "a0", "1"),
      ticket("completed", 0, "a0", "1"),
      ticket("canceled", 0, "a0", "1")
    ]
    for (let step = 1; step < ordered.length; step++) {
      const shuffled = ordered.map((_, i) => ordered[(i * step) % ordered.length]!)
      assert.lengthOf(new Set(shuffled), ordered.length)
      assert.deepStrictEqual(shuffled.toSorted(compareTickets), ordered)
    }
  })
})

const decode = <A>(schema: Schema.ConstraintDecoder<A>, body: unknown): A | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(body))
const format = SchemaIssue.makeFormatterStandardSchemaV1()
const problems = <A, I>(schema: Schema.Codec<A, I>, body: unknown): ReadonlyArray<string> => {
  const result = Schema.decodeUnknownResult(schema, { errors: "all" })(body)
  if (Result.isSuccess(result)) return []
  return format(result.failure.issue).issues.map(({ message, path }) =>
    [...(path ?? []).map(String), message].join(": ")
  )
}

describe("bodies of tickets and comments", () => {
  const ticket = { team: "ENG", title: "Pay by card" }

  it("need a team and a title of 1 to 200 characters", () => {
    assert.deepStrictEqual<unknown>(decode(CreateTicket, { ...ticket, title: "  Pay \t", id: "x" }), undefined)
    assert.deepStrictEqual<unknown>(decode(CreateTicket, { ...ticket, title: "  Pay  ", id: "x" }), {
      team: "ENG",
      title: "Pay"
    })
    assert.isDefined(decode(CreateTicket, { ...ticket, title: "x".repeat(200) }))
    for (const body of [
      { team: "ENG" },
      { title: "Pay" },
      { ...ticket, team: "" },
      { ...ticket, team: null },
      { ...ticket, title: null },
      { ...ticket, title: " " },
      { ...ticket, title: "x".repeat(201) },
      { ...ticket, title: "a\nb" }
    ]) {
      assert.isUndefined(decode(CreateTicket, body), JSON.stringify(body).slice(0, 60))
    }
    assert.deepStrictEqual(decode(UpdateTicket, {}), {})
    assert.isUndefined(decode(UpdateTicket, { title: " " }))
    assert.isUndefined(decode(UpdateTicket, { team: null }))
  })

  it("hold a description and a plan of up to 100,000 characters each, or null", () => {
    const longest = "x".repeat(100_000)
    for (const field of ["description", "plan"]) {
      for (const schema of [CreateTicket, UpdateTicket]) {
        for (const text of [longest, "", " ", null]) {
          assert.isDefined(decode<unknown>(schema, { ...ticket, [field]: text }), String(text).slice(0, 9))
        }
        assert.deepStrictEqual(problems(schema as never, { ...ticket, [field]: `${longest}x` }), [
          `${field}: Expected at most 100000 characters`
        ])
        assert.deepStrictEqual(problems(schema as never, { ...ticket, [field]: "\u0000" }), [
          `${field}: Expected text without NUL characters and lone surrogates`
        ])
      }
    }
  })

  it("name a milestone of a project alone", () => {
    const needed = ["milestone: A milestone needs a project"]
    assert.deepStrictEqual(problems(CreateTicket, { ...ticket, milestone: 1 }), needed)
    assert.deepStrictEqual(problems(CreateTicket, { ...ticket, milestone: 1, project: null }), needed)
    assert.deepStrictEqual(problems(CreateTicket, { ...ticket, milestone: 1, project: "checkout" }), [])
    assert.deepStrictEqual(problems(CreateTicket, { ...ticket, milestone: null }), [])
    assert.deepStrictEqual(problems(UpdateTicket, { milestone: 1, project: null }), needed)
    for (const body of [{ milestone: 1 }, { project: null }, { milestone: null, project: null }]) {
      assert.deepStrictEqual(problems(UpdateTicket, body), [])
    }
    for (const milestone of [0, -1, 1.5, 2_147_483_648, "1"]) {
      assert.lengthOf(problems(UpdateTicket, { milestone }), 1)
    }
    assert.deepStrictEqual(problems(UpdateTicket, { milestone: 0 }), [
      "milestone: Expected a whole number from 1 to 2147483647"
    ])
  })

  it("hold up to 50 tags", () => {
    const tags = Array.from({ length: 51 }, (_, i) => `tag-${i}`)
    assert.isDefined(decode(UpdateTicket, { tags: tags.slice(1) }))
    assert.deepStrictEqual(problems(UpdateTicket, { tags }), ["tags: Expected at most 50 tags"])
    assert.lengthOf(problems(UpdateTicket, { tags: null }), 1)
  })

  it("reorder before one ticket or after one, or first", () => {
    for (const body of [{ before: "ENG-1" }, { after: "ENG-1" }, { after: null }]) {
      assert.deepStrictEqual<unknown>(decode(ReorderTicket, body), body)
    }
    for (const body of [{}, { before: null }, { before: "ENG-1", after: "ENG-2" }, { before: "" }]) {
      assert.isUndefined(decode(ReorderTicket, body), JSON.stringify(body))
    }
  })

  it("comment with 1 to 100,000 characters that are not all blank", () => {
    for (const schema of [CreateComment, UpdateComment]) {
      for (const body of ["x", "    code", " x\n", "x".repeat(100_000)]) {
        assert.deepStrictEqual(decode(schema, { body }), { body })
      }
      for (const body of ["", " ", "\n\t ", "\u00a0\u2003", "x".repeat(100_001), null, "\u0000"]) {
        assert.isUndefined(decode(schema, { body }), String(body).slice(0, 9))
      }
    }
    assert.deepStrictEqual(problems(CreateComment, { body: " " }), ["body: Expected text that can be seen"])
  })
})
