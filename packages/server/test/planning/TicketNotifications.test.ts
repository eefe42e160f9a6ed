import type { PersonId } from "@delivery/domain/Ids"
import type { TicketNotification } from "@delivery/domain/planning/TicketNotification"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Members } from "../../src/identity/Members.ts"
import { Comments } from "../../src/planning/Comments.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { TicketNotifications } from "../../src/planning/TicketNotifications.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { addMember, as, type CallerOf, newId, now, refusal } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addTeam } from "./Scene.ts"
import { addAgent, create, makeTicketScene, patch } from "./TicketsScene.ts"

const link = ({ principal }: CallerOf) => `[@${principal.name}](user:${principal.id})`

const toldTo = (caller: CallerOf) =>
  Effect.flatMap(TicketNotifications, ({ list }) =>
    list().pipe(
      as(caller),
      Effect.orDie,
      Effect.map(({ notifications }) => notifications)
    )
  )

/** The kinds that the person has been told of, oldest first. */
const kindsOf = (caller: CallerOf) =>
  Effect.map(toldTo(caller), (all) => all.map(({ kind }) => kind.replace("ticket_", "")).toReversed())

const comment = (ticket: string, body: string, by: CallerOf) =>
  Effect.flatMap(Comments, (comments) => comments.create(ticket, { body }).pipe(as(by), Effect.orDie))

const nothingRead = { read: 0, readAt: null }

withServicesOnEachStorage("Ticket notifications", (it) => {
  it.effect("tell a person what was assigned to them, by whom and when", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member } = scene
      yield* TestClock.adjust(1_000)
      const ticket = yield* create(scene, { title: "Pay by card", owner: member.principal.id }, admin)
      const [told, ...others] = yield* toldTo(member)
      const expected: TicketNotification = {
        id: told!.id,
        kind: "ticket_assigned",
        ticket: { id: ticket.id, identifier: ticket.identifier, title: "Pay by card" },
        comment: null,
        excerpt: null,
        actor: ticket.createdBy,
        readAt: null,
        createdAt: yield* now
      }
      assert.deepStrictEqual([told, others], [expected, []])
      assert.deepStrictEqual(yield* toldTo(admin), [])
      // The ticket is shown as it is now.
      yield* patch(ticket.id, { title: "Pay by bank" }, admin)
      assert.deepStrictEqual(yield* toldTo(member), [
        { ...expected, ticket: { ...expected.ticket, title: "Pay by bank" } }
      ])
    })
  )

  it.effect("tell of an assignment once: not again with another change, but again after another owner", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member } = scene
      const owner = member.principal.id
      const { id } = yield* create(scene, {}, admin)
      yield* patch(id, { owner }, admin)
      yield* patch(id, { owner, title: "Another" }, admin)
      assert.deepStrictEqual(yield* kindsOf(member), ["assigned"])
      yield* patch(id, { owner: null }, admin)
      yield* patch(id, { owner }, admin)
      assert.deepStrictEqual(yield* kindsOf(member), ["assigned", "assigned"])
      yield* patch(id, { owner: null }, member)
      yield* patch(id, { owner }, member)
      assert.lengthOf(yield* toldTo(member), 2)
    })
  )

  it.effect("tell whom a description, a plan or a comment mentions, once for each text", () =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const scene = yield* makeTicketScene
      const { admin, member, viewer } = scene
      const text = `For ${link(member)} and \`${link(viewer)}\``
      const { identifier } = yield* create(scene, { description: text }, admin)
      yield* patch(identifier, { description: `${text}!` }, admin)
      yield* patch(identifier, { plan: text }, admin)
      assert.deepStrictEqual(yield* kindsOf(member), ["mentioned"])
      yield* patch(identifier, { plan: `1. ${link(viewer)}` }, admin)
      assert.deepStrictEqual(yield* kindsOf(viewer), ["mentioned"])
      const { id } = yield* comment(identifier, `${link(member)} ${link(member)} ${link(admin)}`, admin)
      yield* comments.update(identifier, id, { body: "Nobody." }).pipe(as(admin))
      yield* comments.update(identifier, id, { body: `${link(member)} ${link(viewer)}` }).pipe(as(admin))
      assert.deepStrictEqual(yield* kindsOf(member), ["mentioned", "mentioned"])
      assert.deepStrictEqual(yield* kindsOf(viewer), ["mentioned", "mentioned"])
      assert.deepStrictEqual(yield* toldTo(admin), [])
      const [told] = yield* toldTo(viewer)
      assert.deepStrictEqual(told!.comment, { id, body: `${link(member)} ${link(viewer)}` })
    })
  )

  it.effect("tell of comments those who answer for the ticket and who created it, each once", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member, owner, workspace } = scene
      const other = yield* addMember(workspace, "member")
      const agent = yield* addAgent(member)
      const { identifier } = yield* create(scene, { owner: agent.principal.id }, admin)
      yield* comment(identifier, "Of somebody else", other)
      assert.deepStrictEqual(yield* kindsOf(member), ["commented"])
      assert.deepStrictEqual(yield* kindsOf(admin), ["commented"])
      yield* comment(identifier, "Of the agent", agent)
      assert.deepStrictEqual(yield* kindsOf(member), ["commented", "commented"])
      yield* comment(identifier, `Who is mentioned is told of that: ${link(member)}`, admin)
      assert.deepStrictEqual(yield* kindsOf(member), ["commented", "commented", "mentioned"])
      assert.deepStrictEqual(yield* kindsOf(admin), ["commented", "commented"])
      assert.deepStrictEqual(yield* toldTo(owner), [])
      // Who has commented hears of the comments after theirs.
      assert.deepStrictEqual(yield* kindsOf(other), ["commented", "commented"])
      yield* comment(identifier, "An answer to all", owner)
      assert.deepStrictEqual(yield* kindsOf(other), ["commented", "commented", "commented"])
      assert.deepStrictEqual(yield* toldTo(owner), [])
    })
  )

  it.effect("show the first 2,000 characters of a comment, and are gone with it and with the ticket", () =>
    Effect.gen(function* () {
      const [comments, tickets] = [yield* Comments, yield* Tickets]
      const scene = yield* makeTicketScene
      const { admin, member } = scene
      const { identifier } = yield* create(scene, { owner: member.principal.id }, admin)
      const { id } = yield* comment(identifier, "😀".repeat(2_001), admin)
      const [told] = yield* toldTo(member)
      assert.strictEqual(told!.comment?.body, "😀".repeat(2_000))
      yield* comments.delete(identifier, id).pipe(as(admin))
      assert.deepStrictEqual(yield* kindsOf(member), ["assigned"])
      yield* comment(identifier, "Another", admin)
      yield* tickets.delete(identifier).pipe(as(admin))
      assert.deepStrictEqual(yield* toldTo(member), [])
    })
  )

  it.effect("are about tickets that the person sees, when they are made and when they are read", () =>
    Effect.gen(function* () {
      const [members, notifications, teams] = [yield* Members, yield* TicketNotifications, yield* Teams]
      const scene = yield* makeTicketScene
      const { admin, member, team, viewer, workspace } = scene
      const gone = yield* addMember(workspace, "member")
      const { identifier } = yield* create(scene, { description: `${link(member)} ${link(gone)}` }, admin)
      yield* members.deactivate(gone.principal.id).pipe(as(admin))
      yield* teams.update(team.key, { visibility: "private" }).pipe(as(admin))
      assert.deepStrictEqual(yield* toldTo(member), [])
      assert.deepStrictEqual(yield* notifications.read.pipe(as(member)), nothingRead)
      yield* comment(identifier, `${link(member)} ${link(viewer)} ${link(gone)}`, admin)
      yield* teams.update(team.key, { visibility: "open" }).pipe(as(admin))
      // What was said out of sight stays out of sight.
      assert.deepStrictEqual(yield* kindsOf(member), ["mentioned"])
      assert.deepStrictEqual(yield* toldTo(viewer), [])
      yield* members.reactivate(gone.principal.id).pipe(as(admin))
      assert.deepStrictEqual(yield* kindsOf(gone), ["mentioned"])
    })
  )

  it.effect("are read and unread, one or all, by their person alone", () =>
    Effect.gen(function* () {
      const notifications = yield* TicketNotifications
      const scene = yield* makeTicketScene
      const { admin, member, memberKey } = scene
      const owner = member.principal.id
      for (const title of ["a", "b", "c"]) yield* create(scene, { title, owner }, admin)
      const ids = (yield* toldTo(member)).map(({ id }) => id)
      yield* TestClock.adjust(1_000)
      const readAt = yield* now
      const first = yield* notifications.mark(ids[0]!, "read").pipe(as(member))
      assert.strictEqual(first.readAt, readAt)
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(yield* notifications.mark(ids[0]!, "read").pipe(as(member)), first)
      assert.deepStrictEqual(yield* notifications.read.pipe(as(member)), { read: 2, readAt: yield* now })
      assert.deepStrictEqual(yield* notifications.read.pipe(as(member)), nothingRead)
      assert.isNull((yield* notifications.mark(ids[1]!, "unread").pipe(as(member))).readAt)
      assert.strictEqual((yield* toldTo(member)).filter((one) => one.readAt === null).length, 1)
      for (const [by, id] of [
        [admin, ids[1]!],
        [memberKey, ids[1]!],
        [member, newId()],
        [member, "1"]
      ] as const) {
        assert.strictEqual(yield* refusal(Effect.asVoid(notifications.mark(id, "read").pipe(as(by)))), "NotFound")
      }
      assert.deepStrictEqual(yield* toldTo(memberKey), [])
      assert.deepStrictEqual(yield* notifications.read.pipe(as(memberKey)), nothingRead)
    })
  )

  it.effect("that were read all at once are unread again by the time of that, on whatever page, and no others", () =>
    Effect.gen(function* () {
      const [notifications, teams, tickets] = [yield* TicketNotifications, yield* Teams, yield* Tickets]
      const scene = yield* makeTicketScene
      const { admin, member, memberKey, viewer } = scene
      const owner = member.principal.id
      const made = yield* Effect.forEach(Array.from({ length: 130 }), () => create(scene, { owner }, admin))
      const [one] = yield* toldTo(member)
      // Read by itself at the same moment.
      yield* notifications.mark(one!.id, "read").pipe(as(member))
      const all = yield* notifications.read.pipe(as(member))
      assert.strictEqual(all.read, 129)
      assert.isAbove(Date.parse(all.readAt!), Date.parse(yield* now))
      yield* TestClock.adjust(5_000)
      const later = yield* create(scene, { description: link(member) }, admin)
      const again = yield* notifications.read.pipe(as(member))
      assert.strictEqual(again.read, 1)
      const back = (readAt: string, by: CallerOf = member) => notifications.unread({ readAt }).pipe(as(by))
      const count = () => Effect.map(notifications.list().pipe(as(member)), ({ unreadCount }) => unreadCount)
      for (const by of [admin, viewer, memberKey]) assert.strictEqual(yield* back(all.readAt!, by), 0)
      assert.strictEqual(yield* back("2020-01-01T00:00:00.000Z"), 0)
      assert.strictEqual(yield* count(), 0)
      // An assignment that is over asks nothing of anybody.
      yield* tickets.update(made[0]!.identifier, { owner: null }).pipe(as(admin))
      assert.strictEqual(yield* back(all.readAt!.replace("Z", "+00:00")), 128)
      assert.strictEqual(yield* count(), 128)
      assert.strictEqual(yield* back(all.readAt!), 0)
      // What is out of sight stays as it is.
      yield* teams.update(later.team.key, { visibility: "private" }).pipe(as(admin))
      assert.strictEqual(yield* back(again.readAt!), 0)
      yield* teams.update(later.team.key, { visibility: "open" }).pipe(as(admin))
      assert.strictEqual(yield* back(again.readAt!), 1)
      assert.strictEqual((yield* toldTo(member)).find(({ id }) => id === one!.id)?.readAt, one!.createdAt)
    })
  )

  it.effect("quote the line of the ticket that mentions a person, as it is now", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member } = scene
      const excerpts = Effect.map(toldTo(member), (all) => all.map(({ excerpt, kind }) => [kind, excerpt]))
      const filler = `${"\u{1f600}".repeat(3_000)}\n`
      const { id } = yield* create(scene, { description: `${filler}Ask ${link(member)}.\n${filler}` }, admin)
      assert.deepStrictEqual(yield* excerpts, [["ticket_mentioned", `Ask ${link(member)}.`]])
      yield* patch(id, { description: filler, plan: `1. ${link(member)} looks\r\n2. All` }, admin)
      assert.deepStrictEqual(yield* excerpts, [["ticket_mentioned", `1. ${link(member)} looks`]])
      yield* patch(id, { plan: null }, admin)
      assert.deepStrictEqual(yield* excerpts, [["ticket_mentioned", null]])
      yield* comment(id, link(member), admin)
      assert.deepStrictEqual(yield* excerpts, [
        ["ticket_mentioned", null],
        ["ticket_mentioned", null]
      ])
    })
  )

  it.effect("are listed by page, and what is unread without the rest", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member } = scene
      const { list, mark, read } = yield* TicketNotifications
      yield* create(scene, { description: link(member) }, admin)
      yield* Effect.forEach(Array.from({ length: 160 }), () => create(scene, { owner: member.principal.id }, admin))
      const page = (query: Parameters<typeof list>[0]) => list(query).pipe(as(member), Effect.orDie)
      const first = yield* page({})
      assert.lengthOf(first.notifications, 100)
      // What comes meanwhile moves nothing from one page to another.
      yield* create(scene, { owner: member.principal.id }, admin)
      const second = yield* page({ cursor: first.nextCursor! })
      assert.lengthOf(second.notifications, 61)
      assert.isNull(second.nextCursor)
      const all = [...first.notifications, ...second.notifications]
      assert.strictEqual(new Set(all.map(({ id }) => id)).size, 161)
      assert.deepStrictEqual([first.unreadCount, second.unreadCount], [161, 162])
      const mention = all.at(-1)!
      const unread = yield* page({ unread: "true" })
      const behind = yield* page({ unread: "true", cursor: unread.nextCursor! })
      assert.deepStrictEqual(behind.notifications.at(-1), mention)
      assert.strictEqual(mention.kind, "ticket_mentioned")
      yield* read.pipe(as(member))
      yield* mark(mention.id, "unread").pipe(as(member))
      assert.deepStrictEqual(yield* page({ unread: "true" }), {
        notifications: [{ ...mention, readAt: null }],
        nextCursor: null,
        unreadCount: 1
      })
      assert.deepStrictEqual(
        yield* page({ unread: "true", cursor: `${Date.parse(mention.createdAt)}-${mention.id}` }),
        {
          notifications: [],
          nextCursor: null,
          unreadCount: 1
        }
      )
    })
  )

  it.effect("fill pages with those of tickets that the person sees, and count no others", () =>
    Effect.gen(function* () {
      const [notifications, teams] = [yield* TicketNotifications, yield* Teams]
      const scene = yield* makeTicketScene
      const { admin, member } = scene
      const hidden = { ...scene, team: yield* addTeam(scene.workspace.id) }
      const owner = member.principal.id
      // Of each kind more than a page, in turn.
      for (let n = 0; n < 110; n++) {
        yield* create(scene, { title: `Seen ${n}`, owner }, admin)
        yield* create(hidden, { title: `Hidden ${n}`, owner }, admin)
      }
      yield* teams.update(hidden.team.key, { visibility: "private" }).pipe(as(admin))
      const titles = Array.from({ length: 110 }, (_, n) => `Seen ${109 - n}`)
      for (const query of [{}, { unread: "true" as const }]) {
        const first = yield* notifications.list(query).pipe(as(member))
        const second = yield* notifications.list({ ...query, cursor: first.nextCursor! }).pipe(as(member))
        const listed = [first, second].map((page) => page.notifications.map(({ ticket }) => ticket.title))
        assert.deepStrictEqual(listed, [titles.slice(0, 100), titles.slice(100)])
        assert.deepStrictEqual([first.unreadCount, second.unreadCount, second.nextCursor], [110, 110, null])
      }
      assert.strictEqual((yield* notifications.read.pipe(as(member))).read, 110)
      assert.strictEqual((yield* notifications.list().pipe(as(member))).unreadCount, 0)
    })
  )

  it.effect("of assignments are read once the ticket is another's, and those of mentions stay unread", () =>
    Effect.gen(function* () {
      const { mark } = yield* TicketNotifications
      const scene = yield* makeTicketScene
      const { admin, member, viewer, workspace } = scene
      const other = yield* addMember(workspace, "member")
      const ownerOf = (caller: CallerOf) => ({ owner: caller.principal.id as PersonId })
      const unreadOf = (caller: CallerOf) =>
        Effect.map(toldTo(caller), (all) => all.filter(({ readAt }) => readAt === null).map(({ kind }) => kind))
      const { id } = yield* create(scene, { ...ownerOf(member), description: link(viewer) }, admin)
      const own = yield* create(scene, ownerOf(member), admin)
      yield* comment(id, `${link(member)} look`, admin)
      yield* patch(id, { title: "Another" }, admin)
      assert.lengthOf(yield* unreadOf(member), 3)
      yield* TestClock.adjust(1_000)
      yield* patch(id, ownerOf(other), admin)
      assert.deepStrictEqual(yield* unreadOf(member), ["ticket_mentioned", "ticket_assigned"])
      assert.deepStrictEqual(yield* unreadOf(other), ["ticket_assigned"])
      assert.deepStrictEqual(yield* unreadOf(viewer), ["ticket_mentioned"])
      const over = (yield* toldTo(member)).find((one) => one.ticket.id === id && one.kind === "ticket_assigned")!
      assert.strictEqual(over.readAt, yield* now)
      yield* patch(own.id, { owner: null }, admin)
      assert.deepStrictEqual(yield* unreadOf(member), ["ticket_mentioned"])
      // One of these can be kept in mind all the same.
      yield* mark(over.id, "unread").pipe(as(member))
      yield* patch(id, { title: "A third" }, admin)
      assert.deepStrictEqual(yield* unreadOf(member), ["ticket_mentioned", "ticket_assigned"])
    })
  )

  it.effect("list the 100 newest", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member } = scene
      const { identifier } = yield* create(scene, { owner: member.principal.id }, admin)
      yield* Effect.forEach(Array.from({ length: 100 }), (_, index) => comment(identifier, `${index}`, admin))
      const told = yield* toldTo(member)
      assert.lengthOf(told, 100)
      assert.deepStrictEqual([told[0]!.comment?.body, told[99]!.comment?.body], ["99", "0"])
    })
  )
})
