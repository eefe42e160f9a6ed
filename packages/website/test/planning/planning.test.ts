import type { ProjectId } from "@delivery/domain/Ids"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { describe, expect, it } from "vitest"
import { besideAt, isStaying, placeOf } from "../../src/planning/board.ts"
import { branchOf } from "../../src/planning/branch.ts"
import {
  changed,
  changedSince,
  changesOf,
  inverseOf,
  isStill,
  payloadOf,
  takenBack
} from "../../src/planning/changes.ts"
import { groupsOf } from "../../src/planning/groups.ts"
import { askedOf, matches } from "../../src/planning/filters.ts"
import { choicesOf, mentionAt, type SeenMentions, typedText, withMention } from "../../src/planning/mention.ts"
import { edited, shownOffset, shownOf, sourceOffset } from "../../src/planning/mentionText.ts"
import { likelyOf } from "../../src/planning/likely.ts"
import { ticketsOf } from "../../src/planning/pasted.ts"
import { withPending } from "../../src/planning/withPending.ts"
import { rangeOf } from "../../src/planning/range.ts"
import { readTicketsSearch } from "../../src/planning/search.ts"
import { mentionsIn } from "@delivery/domain/planning/Mentions"

const bug = { id: "tag-bug", name: "Bug", color: "#d73a4a" }
const ana = { kind: "user", id: "0197a1b2-0000-7000-8000-000000000001", name: "Ana [x]", email: "ana@example.com" }

const ticket = (number: number, fields: object = {}) =>
  ({
    id: `id-${number}`,
    identifier: `ENG-${number}`,
    title: `Step ${number}`,
    team: { key: "ENG" },
    status: { id: "s1", name: "Backlog", category: "backlog" },
    owner: null,
    project: null,
    milestone: null,
    tags: [],
    ...fields
  }) as unknown as TicketSummary

describe("A change of a ticket", () => {
  it("tells the API of the fields that it has, and is taken back by their values before", () => {
    const before = ticket(1, { owner: ana, tags: [bug] })
    expect(payloadOf({ owner: null, tags: [] } as never)).toEqual({ owner: null, tags: [] })
    expect(payloadOf(inverseOf(before, { owner: null, tags: [] }))).toEqual({ owner: ana.id, tags: [bug.id] })
    expect(inverseOf(before, { project: null })).toEqual({ project: null, milestone: null })
  })

  it("of many is taken back from each as it was", () => {
    const [one, other] = [ticket(1, { tags: [bug] }), ticket(2)]
    const add = { addTag: bug } as never
    expect(changesOf(takenBack(one, add))).toEqual({})
    expect(changesOf(takenBack(other, add))).toEqual({ removeTags: [bug.id] })
    expect(changed(other, add).tags).toEqual([bug])
    const start = { category: "started" } as const
    expect(changesOf(takenBack(one, start))).toEqual({ status: "s1" })
    expect(changed(one, start).status).toMatchObject({ category: "started" })
  })
})

describe("A change that somebody has changed since", () => {
  it("is known by the fields that it had, and by no other", () => {
    const done = { id: "s2", name: "Done", category: "completed" }
    const answered = ticket(1, { status: done, tags: [bug], owner: ana })
    const asked = { status: done, tags: [bug] } as never
    expect(changedSince(answered, ticket(1, { status: done, tags: [bug], title: "Else" }), asked)).toEqual([])
    expect(changedSince(answered, ticket(1, { tags: [bug] }), asked)).toEqual(["status"])
    expect(changedSince(answered, ticket(1, { status: done }), asked)).toEqual(["tags"])
    expect(changedSince(ticket(1), ticket(1, { milestone: { number: 1 } }), { milestone: null })).toEqual(["milestone"])
    expect(isStill(answered, { category: "completed", addTag: bug } as never)).toBe(true)
    expect(isStill(answered, { category: "started" })).toBe(false)
    expect(isStill(answered, { removeTag: bug } as never)).toBe(false)
    expect(isStill(answered, { owner: null })).toBe(false)
  })
})

describe("Changes on their way", () => {
  const list = [1, 2, 3, 4].map((number) => ticket(number))
  const order = (tickets: ReadonlyArray<TicketSummary>) => tickets.map(({ identifier }) => identifier).join(" ")

  it("show a ticket at its new place and with its new fields, and leave others alone", () => {
    const moved = withPending(list, [
      { id: "id-1", shown: {}, beside: { after: list[2]! } },
      { id: "id-4", shown: { title: "Last" }, beside: { before: list[1]! } }
    ])
    expect(order(moved)).toBe("ENG-4 ENG-2 ENG-3 ENG-1")
    expect(moved[0]!.title).toBe("Last")
    expect(order(withPending(list, [{ id: "elsewhere", shown: {}, beside: { after: list[0]! } }]))).toBe(order(list))
    expect(order(withPending(list, [{ id: "id-1", shown: {}, beside: { after: ticket(9) } }]))).toBe(order(list))
  })

  it("show a ticket of another status where its rank puts it, before the server says so", () => {
    const statuses = {
      backlog: { id: "b", name: "Backlog", category: "backlog" },
      doing: { id: "d", name: "In progress", category: "started" },
      review: { id: "r", name: "In review", category: "started" }
    } as const
    const of = (number: number, rank: string, status: keyof typeof statuses, team = "ENG") =>
      ticket(number, { rank, status: statuses[status], team: { id: team, key: team } })
    const all = [
      of(1, "a1", "backlog"),
      of(2, "a5", "backlog"),
      of(3, "a9", "backlog"),
      of(4, "a2", "doing"),
      of(5, "a3", "doing", "OPS"),
      of(6, "a7", "doing"),
      of(7, "a0", "review"),
      of(8, "a6", "review")
    ]
    const moved = (number: number, status: object) =>
      order(withPending(all, [{ id: `id-${number}`, shown: { status } as never }]))
    expect(moved(2, statuses.doing)).toBe("ENG-1 ENG-3 ENG-4 ENG-5 ENG-2 ENG-6 ENG-7 ENG-8")
    expect(moved(1, statuses.doing)).toBe("ENG-2 ENG-3 ENG-1 ENG-4 ENG-5 ENG-6 ENG-7 ENG-8")
    expect(moved(3, statuses.doing)).toBe("ENG-1 ENG-2 ENG-4 ENG-5 ENG-6 ENG-3 ENG-7 ENG-8")
    expect(moved(3, statuses.review)).toBe("ENG-1 ENG-2 ENG-4 ENG-5 ENG-6 ENG-7 ENG-8 ENG-3")
    expect(moved(8, statuses.backlog)).toBe("ENG-1 ENG-2 ENG-8 ENG-3 ENG-4 ENG-5 ENG-6 ENG-7")
    // Of a category alone: the first status of its team there.
    expect(moved(2, { ...statuses.backlog, category: "started" })).toBe(
      "ENG-1 ENG-3 ENG-4 ENG-5 ENG-2 ENG-6 ENG-7 ENG-8"
    )
    // Where nobody is in its category, it stays where it stood among all.
    expect(moved(2, { id: "x", name: "Done", category: "completed" })).toBe(order(all))
    // A place that was chosen stays, whatever else changes.
    const placed = [
      { id: "id-1", shown: {}, beside: { after: all[5]! } },
      { id: "id-1", shown: { status: statuses.doing } as never }
    ]
    expect(order(withPending(all, placed))).toBe("ENG-2 ENG-3 ENG-4 ENG-5 ENG-6 ENG-1 ENG-7 ENG-8")
  })

  it("put a card where it is dropped, wherever from", () => {
    for (const [from, card] of list.entries()) {
      for (const to of list.keys()) {
        const beside = besideAt(list.toSpliced(from, 1), to)
        const shown = withPending(list, [{ id: card.id, shown: {}, beside }])
        expect(order(shown)).toBe(order(list.toSpliced(from, 1).toSpliced(to, 0, card)))
      }
    }
    expect([-10, 43, 45, 900].map((offset) => placeOf(offset, 88, 4))).toEqual([0, 0, 1, 4])
    expect(besideAt([], 0)).toBeUndefined()
  })

  it("stay where they are above and below themselves, and nowhere of another column", () => {
    expect([0, 1, 2, 3, 4].map((place) => isStaying(place, 2))).toEqual([false, false, true, true, false])
    expect([0, 1].map((place) => isStaying(place, -1))).toEqual([false, false])
  })
})

describe("Filters of tickets", () => {
  it("are read from whatever stands in the address", () => {
    expect(readTicketsSearch({ teams: "ENG", owners: ["me", 7, {}], layout: "cards", own: "true", q: " " })).toEqual({
      teams: ["ENG"],
      owners: ["me", "7"],
      own: true
    })
  })

  it("ask the server for what it can tell apart, and match the rest", () => {
    expect(askedOf({ teams: ["ENG"], owners: ["me", "none"], categories: ["started", "backlog"] })).toEqual([
      { team: "ENG", category: "backlog" },
      { team: "ENG", category: "started" }
    ])
    expect(askedOf({ q: "pay", categories: ["started"] })).toEqual([{ q: "pay" }])
    expect(askedOf({ milestones: ["checkout/1"] })).toEqual([{ milestone: "checkout/1" }])
    expect(askedOf({ milestones: ["checkout/1", "checkout/2"] })).toEqual([{}])
    const mine = ticket(1, { owner: ana, tags: [bug] })
    expect(matches(mine, { owners: ["me"], tags: [bug.id], statuses: ["BACKLOG"] }, ana.id)).toBe(true)
    expect(matches(mine, { owners: ["none"] }, ana.id)).toBe(false)
    expect(matches(ticket(2), { owners: ["none"], teams: [] }, ana.id)).toBe(true)
    const project = { id: "p" as ProjectId, slug: "checkout", name: "Checkout" }
    const planned = ticket(3, { project, milestone: { number: 2, name: "Everybody" } })
    expect(matches(planned, { milestones: ["checkout/1", "checkout/2"] }, ana.id)).toBe(true)
    expect(matches(planned, { milestones: ["search/2", "checkout/1"] }, ana.id)).toBe(false)
    expect(matches(ticket(4), { milestones: ["checkout/1"] }, ana.id)).toBe(false)
    expect(matches(ticket(4), { milestones: ["checkout/1", "none"] }, ana.id)).toBe(true)
    expect(matches(planned, { milestones: ["none"] }, ana.id)).toBe(false)
    expect(likelyOf({ milestones: ["none"], projects: ["checkout"] })).toMatchObject({
      milestone: undefined,
      project: "checkout"
    })
  })

  it("group tickets by milestone in the order of their project, those of none last", () => {
    const project = { id: "p", slug: "checkout", name: "Checkout" }
    const tickets = [
      ticket(1),
      ticket(2, { project }),
      ticket(3, { project, milestone: { number: 2, name: "All" } }),
      ticket(4, { project, milestone: { number: 1, name: "Beta" } })
    ]
    expect(groupsOf(tickets, "milestone", undefined, undefined).map(({ label }) => label)).toEqual([
      "Checkout · Beta",
      "Checkout · All",
      "Checkout · no milestone",
      "No project"
    ])
    const milestones = [
      { number: 1, name: "Beta" },
      { number: 2, name: "All" },
      { number: 3, name: "Later" }
    ]
    const whole = [{ ...project, milestones }] as unknown as Parameters<typeof groupsOf>[4]
    const shown = groupsOf(tickets.slice(0, 3), "milestone", undefined, undefined, whole)
    expect(shown.map(({ isAlwaysShown, label, tickets }) => [label, tickets.length, isAlwaysShown])).toEqual([
      ["Checkout · Beta", 0, true],
      ["Checkout · All", 1, true],
      ["Checkout · Later", 0, true],
      ["Checkout · no milestone", 1, false],
      ["No project", 1, false]
    ])
    expect(shown[2]!.change).toEqual({ project, milestone: { number: 3, name: "Later" } })
  })
})

describe("Tickets in a list", () => {
  it("are sorted within their groups by what was changed or made last, and have then no order to change", () => {
    const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`
    const tickets = [
      ticket(1, { createdAt: at(1), updatedAt: at(5) }),
      ticket(2, { createdAt: at(3), updatedAt: at(3) }),
      ticket(3, { createdAt: at(2), updatedAt: at(4) })
    ]
    const statuses = [{ id: "s1", name: "Backlog", category: "backlog" }] as never
    const order = (sort: "updated" | "created" | undefined) => groupsOf(tickets, "status", sort, statuses)[0]!
    expect(order("updated").tickets.map(({ id }) => id)).toEqual(["id-1", "id-3", "id-2"])
    expect(order("created").tickets.map(({ id }) => id)).toEqual(["id-2", "id-3", "id-1"])
    expect(order(undefined).tickets).toEqual(tickets)
    expect([order("updated").isOrdered, order(undefined).isOrdered]).toEqual([false, true])
    expect(readTicketsSearch({ sort: "created" })).toEqual({ sort: "created" })
    expect(readTicketsSearch({ sort: "rank" })).toEqual({})
  })

  it("are selected from one to another, in either direction", () => {
    const order = ["a", "b", "c", "d"]
    expect(rangeOf(order, "b", "d")).toEqual(["b", "c", "d"])
    expect(rangeOf(order, "c", "a")).toEqual(["a", "b", "c"])
    expect(rangeOf(order, "b", "b")).toEqual(["b"])
    // The first of them has left the list.
    expect(rangeOf(order, "gone", "c")).toEqual(["c"])
    expect(rangeOf(order, "a", "gone")).toEqual([])
  })
})

describe("What is typed", () => {
  it("mentions whom it means, in what the service reads as a mention", () => {
    const owners = [{ owner: ana as never, label: "Ana [x]" }]
    const text = "Look, @an"
    const mention = mentionAt(text, text.length)!
    expect(choicesOf(owners, mention.typed)).toEqual(owners)
    const next = withMention(text, mention, owners[0]!.owner)
    expect(next.text).toBe(`Look, [@Ana \\[x\\]](user:${ana.id}) `)
    expect(next.caret).toBe("Look, @Ana [x] ".length)
    expect(shownOf(next.text)).toBe("Look, @Ana [x] ")
    expect(mentionsIn(next.text).users).toEqual([ana.id])
    expect(mentionAt("mail@example", 12)).toBeUndefined()
  })

  it("shows names, and keeps whom they mean until a letter of a name is changed", () => {
    const link = `[@Ana \\[x\\]](user:${ana.id})`
    const other = `[@Ana \\[x\\]](agent:${ana.id.replace(/1$/, "2")})`
    const text = `${link} and ${other}.`
    const shown = "@Ana [x] and @Ana [x]."
    expect(shownOf(text)).toBe(shown)
    const type = (at: number, deleted: number, typed: string) =>
      edited(text, shown.slice(0, at) + typed + shown.slice(at + deleted), at + typed.length, new Map())
    expect(type(0, 0, "Hi ")).toBe(`Hi ${text}`)
    expect(type(8, 0, "'s")).toBe(`${link}'s and ${other}.`)
    expect(type(9, 3, "&")).toBe(`${link} & ${other}.`)
    expect(type(0, 13, "")).toBe(`${other}.`)
    expect(type(8, 13, "")).toBe(`${link}.`)
    expect(type(7, 1, "")).toBe(`@Ana [x and ${other}.`)
    expect(type(2, 0, "-")).toBe(`@A-na [x] and ${other}.`)
    expect(type(0, shown.length, "")).toBe("")
    // Undoing leaves the caret before what comes back.
    expect(edited(text, `Hi ${shown}`, 0, new Map())).toBe(`Hi ${text}`)
    for (const at of [0, 8, 9, 13, 21, 22]) expect(shownOffset(text, sourceOffset(text, at))).toBe(at)
    expect(sourceOffset(text, 3)).toBe(link.length)
    expect(shownOf("[@\u202Eana](user:" + ana.id + ")")).toBe("@\\u{202E}ana")
    for (const other of ["[@Ana](user:1)", `[Ana](user:${ana.id})`, "a@b"]) expect(shownOf(other)).toBe(other)
  })

  it("means the same person again when it is undone, or cut and pasted", () => {
    const seen: SeenMentions = { known: new Map(), whole: new Map() }
    const text = `Hi [@Ana](user:${ana.id}), look`
    const cut = typedText(seen, text, "Hi @An, look", 6)
    expect(cut).toBe("Hi @An, look")
    expect(typedText(seen, cut, "Hi @Ana, look", 7)).toBe(text)
    const without = typedText(seen, text, "Hi , look", 3)
    expect(typedText(seen, without, "Hi , look @Ana", 14)).toBe(`Hi , look [@Ana](user:${ana.id})`)
    expect(typedText(seen, without, "Hi , look @Anabel", 17)).toBe("Hi , look @Anabel")
  })

  it("is a title for each line of a list", () => {
    const titlesOf = (text: string) => ticketsOf(text).map(({ title }) => title)
    expect(titlesOf("- [ ] One\n* Two\r\n3. Three\n\n   \n- \n4) [x] Four\nFive - six")).toEqual([
      "One",
      "Two",
      "Three",
      "-",
      "Four",
      "Five - six"
    ])
    expect(titlesOf("x".repeat(300))[0]).toHaveLength(200)
    expect(titlesOf(" \n\n")).toEqual([])
  })

  it("have what is indented below a line as their description, as it was written", () => {
    const text = "  - Pay by card\n    - Visa\n\n      - and its kin\n    > soon\n   - Refunds\n\t\tFrom the order"
    expect(ticketsOf(text).map(({ description, title }) => [title, description])).toEqual([
      ["Pay by card", "- Visa\n\n  - and its kin\n> soon"],
      ["Refunds", "From the order"]
    ])
    // What was refused is put back into the field, and read again.
    const again = ticketsOf(
      ticketsOf(text)
        .map(({ source }) => source)
        .join("\n")
    )
    expect(again).toEqual(ticketsOf(text))
  })

  it("lose no word of a title that is too long", () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ")
    const [one] = ticketsOf(`- ${words}\n  More.`)
    expect(one!.isTooLong).toBe(true)
    expect(Array.from(one!.title).length).toBeLessThanOrEqual(200)
    const [rest, more] = one!.description.split("\n\n")
    expect(`${one!.title.slice(0, -1)} ${rest!.slice(1)}`).toBe(words)
    expect(more).toBe("More.")
    expect(ticketsOf("short")[0]).toMatchObject({ isTooLong: false, description: "" })
  })

  it("is likely to be what the filters show, and of several values none", () => {
    expect(likelyOf({ teams: ["ENG"], projects: ["a"], owners: ["none"], tags: ["t"], statuses: ["Todo"] })).toEqual({
      team: "ENG",
      project: "a",
      milestone: undefined,
      owner: undefined,
      status: "Todo",
      category: undefined,
      tags: ["t"]
    })
    expect(likelyOf({ teams: ["ENG", "OPS"], owners: ["me"], tags: ["a", "b"] })).toMatchObject({
      team: undefined,
      owner: "me",
      tags: []
    })
    // Milestones are those of a project.
    const ofOne = { project: "a", milestone: "a/2" }
    expect(likelyOf({ milestones: ["a/2"] })).toMatchObject(ofOne)
    expect(likelyOf({ projects: ["a"], milestones: ["a/2"] })).toMatchObject(ofOne)
    expect(likelyOf({ projects: ["b", "a"], milestones: ["a/2"] })).toMatchObject(ofOne)
    expect(likelyOf({ projects: ["b"], milestones: ["a/2"] })).toMatchObject({ project: "b", milestone: undefined })
    expect(likelyOf({ projects: ["a"], milestones: ["a/1", "a/2"] })).toMatchObject({ milestone: undefined })
  })

  it("names a branch that its commits are found by", () => {
    expect(branchOf({ identifier: "ENG-12", title: "Pay by card, é & co." })).toBe("eng-12-pay-by-card-e-co")
    expect(branchOf({ identifier: "ENG-12", title: "支払い" })).toBe("eng-12")
    expect(branchOf({ identifier: "ENG-12", title: "x".repeat(200) })).toHaveLength(60)
  })
})
