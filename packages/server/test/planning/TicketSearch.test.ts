import type { CommentId, TeamId } from "@delivery/domain/Ids"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import { maxFound } from "@delivery/domain/planning/TicketSearch"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import fc from "fast-check"
import { Comments } from "../../src/planning/Comments.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { type TicketRow, TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { SearchSteps } from "../../src/planning/TicketSearchSteps.ts"
import { as, type CallerOf, minute, newId } from "../identity/Scene.ts"
import { layerServices, sharedDatabases, withServicesOnEachStorage } from "../support/Storages.ts"
import { addProject } from "./ProjectsScene.ts"
import { addTeam, addTeamMember } from "./Scene.ts"
import { addTicket, create, identifiers, makeTicketScene, patch } from "./TicketsScene.ts"

const search = (q: string, by: CallerOf, filter: object = {}) =>
  Effect.flatMap(Tickets, (tickets) => tickets.list({ q, ...filter }).pipe(as(by), Effect.orDie))

const found = (q: string, by: CallerOf, filter: object = {}) => Effect.map(search(q, by, filter), identifiers)

/** Shares of all tickets that no words have less than, and that all words do. */
const never = 0
const always = 1_000_000
const most = 1_000_000

/** Texts of words that share beginnings, of several scripts, separated by anything. */
const word = fc.constantFrom(
  "pay",
  "payment",
  "Pa",
  "p",
  "straße",
  "STRASSE",
  "Ünïcode",
  "u\u0308ni",
  "ΣΊΣΥΦΟΣ",
  "σίσυφος",
  "İstanbul",
  "i",
  "東京",
  "東",
  "12",
  "1",
  "eng",
  "x".repeat(80),
  "𝒳y"
)
const separator = fc.constantFrom(" ", "-", "/", ", ", "\n", "'", "\\", "&", ":*", "🚀", "_")
const text = fc
  .array(fc.tuple(word, separator), { maxLength: 5 })
  .map((parts) => parts.map((part) => part.join("")).join(""))

/** What the search means, in the plainest way. */
const wordsIn = (text: string) =>
  text
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .split(/[^\p{L}\p{M}\p{N}]/u)
    .filter((word) => word !== "")
    .map((word) => [...word].slice(0, 64).join(""))
const place = (row: TicketRow, key: string, q: string): number => {
  const identifier = ticketIdentifier(key, row.number)
  const hasAll = (texts: ReadonlyArray<string>) =>
    wordsIn(q).every((asked) => texts.flatMap(wordsIn).some((word) => word.startsWith(asked)))
  if (q.trim().toUpperCase() === identifier) return 0
  if (hasAll([identifier, row.title])) return 1
  return hasAll([identifier, row.title, row.description ?? ""]) ? 2 : 3
}
const expected = (rows: ReadonlyArray<TicketRow>, keys: ReadonlyMap<TeamId, string>, q: string) =>
  rows
    .map((row) => ({
      row,
      identifier: ticketIdentifier(keys.get(row.teamId)!, row.number),
      at: place(row, keys.get(row.teamId)!, q)
    }))
    .filter(({ at }) => at < 3 && wordsIn(q).length > 0)
    .toSorted((a, b) => a.at - b.at || (a.row.updatedAt < b.row.updatedAt ? 1 : -1))
    .slice(0, maxFound)
    .map(({ identifier }) => identifier)

withServicesOnEachStorage("The search of tickets", (it) => {
  it.effect("finds a ticket by one of its comments, after those that have the words themselves", () =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const scene = yield* makeTicketScene
      const { member, viewer: outsider, workspace } = scene
      const secret = yield* addTeam(workspace.id, { visibility: "private" })
      yield* addTeamMember(secret, member)
      const say = (ticket: string, body: string) => comments.create(ticket, { body }).pipe(as(member), Effect.orDie)
      const [titled, described, said, other] = [
        yield* create(scene, { title: "Gateway" }),
        yield* create(scene, { title: "Pay", description: "the gateway" }),
        yield* create(scene, { title: "Refunds" }),
        yield* create(scene, { title: "Invoices" })
      ]
      const hidden = yield* create(scene, { title: "Hidden", team: secret.key })
      const comment = yield* say(said.identifier, "Ünïcode: the **gateways** of\nthe bank time out.")
      yield* say(said.identifier, "Gateway, said twice")
      yield* say(other.identifier, "The bank is closed.")
      yield* say(hidden.identifier, "The gateway of the bank")
      const [all, seen] = [found("gateway", member), found("gateway", outsider)]
      assert.deepStrictEqual(yield* all, identifiers([titled, described, hidden, said]))
      assert.deepStrictEqual(yield* seen, identifiers([titled, described, said]))
      assert.deepStrictEqual(yield* found("GATE", member, { team: secret.key }), identifiers([hidden]))
      // All words are in one comment.
      assert.deepStrictEqual(yield* found("bank gateways time ünï", member), identifiers([said]))
      assert.deepStrictEqual(yield* found("closed time", member), [])
      assert.deepStrictEqual(yield* found("bank", outsider), identifiers([other, said]))
      yield* comments.update(said.identifier, comment.id, { body: "The till" }).pipe(as(member), Effect.orDie)
      assert.deepStrictEqual(yield* found("bank", outsider), identifiers([other]))
      assert.deepStrictEqual(yield* found("till", outsider), identifiers([said]))
      yield* comments.delete(said.identifier, comment.id).pipe(as(member), Effect.orDie)
      assert.deepStrictEqual(yield* found("till", outsider), [])
      // However many there are, and however few are looked at first.
      const last = yield* create(scene, { title: "Last" })
      yield* say(last.identifier, "gateway")
      for (const looksAt of [
        { last: 1, indexed: 1, share: never, most, ordered: 1 },
        { last: 1, indexed: 1_000, share: never, most, ordered: 1 },
        { last: 3, indexed: 2, share: never, most, ordered: 1 },
        { last: 1, indexed: 0, share: always, most, ordered: 1 },
        { last: 1, indexed: 1, share: always, most, ordered: 1_000 }
      ]) {
        const steps = Effect.provideService(SearchSteps, looksAt)
        assert.deepStrictEqual(
          yield* seen.pipe(steps),
          identifiers([titled, described, last, said]),
          JSON.stringify(looksAt)
        )
        assert.deepStrictEqual(yield* found("gateway said", outsider).pipe(steps), identifiers([said]))
      }
    })
  )

  it.effect("finds what has all words, as a plain comparison of every ticket does", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const other = yield* addTeam(scene.workspace.id)
      const keys = new Map([scene.team, other].map(({ id, key }) => [id, key]))
      const rows: Array<TicketRow> = []
      const texts = fc.sample(fc.tuple(text, fc.option(text)), 120)
      for (const [index, [title, description]] of texts.entries()) {
        const team = index % 3 === 0 ? other : scene.team
        rows.push(yield* addTicket(team, { title, description, updatedAt: minute((index * 7) % 120) }))
      }
      const identifier = fc.constantFrom(...rows.map((row) => ticketIdentifier(keys.get(row.teamId)!, row.number)))
      const asked = fc.oneof(
        text,
        word,
        word.map((whole) => [...whole].slice(0, 2).join("")),
        identifier,
        identifier.map((one) => ` ${one.toLowerCase()} `)
      )
      for (const q of ["p", "1", "eng", "p i", "'", ...fc.sample(asked, 80)]) {
        assert.deepStrictEqual(yield* found(q, scene.member), expected(rows, keys, q), q)
        assert.deepStrictEqual(
          yield* found(q, scene.member, { team: other.key }),
          expected(
            rows.filter(({ teamId }) => teamId === other.id),
            keys,
            q
          ),
          `${q} of a team`
        )
      }
    })
  )

  it.effect("finds the same when few of the tickets are the last changed", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const keys = new Map([[scene.team.id, scene.team.key]])
      const rows: Array<TicketRow> = []
      // The old ones have what the new have not, and more of it than is found.
      for (let n = 0; n < 130; n++) {
        const old = n % 5 === 0 ? { title: "pay", description: "card" } : { title: "bill", description: "pay by card" }
        const fields = n < 120 ? old : { title: n % 2 === 0 ? "card" : "other", description: "pay" }
        rows.push(yield* addTicket(scene.team, { ...fields, updatedAt: minute(n) }))
      }
      for (const q of [
        "pay",
        "card",
        "bill",
        "pay card",
        "p c b y",
        "other",
        scene.team.key,
        `${scene.team.key}-3`,
        "c"
      ]) {
        const shown = found(q, scene.member)
        const all = expected(rows, keys, q)
        assert.deepStrictEqual(yield* shown, all, q)
        for (const looksAt of [
          { last: 1, indexed: 1_000, share: never, most, ordered: 1 },
          { last: 4, indexed: 20, share: never, most, ordered: 1 },
          { last: 20, indexed: 1, share: never, most, ordered: 1 },
          { last: 129, indexed: 1_000, share: never, most, ordered: 1 },
          { last: 130, indexed: 1, share: never, most, ordered: 1 },
          { last: 1, indexed: 1, share: always, most, ordered: 1_000 },
          { last: 1, indexed: 20, share: always, most, ordered: 100 },
          { last: 4, indexed: 1, share: always, most, ordered: 30 },
          { last: 4, indexed: 1, share: 0.6, most, ordered: 1_000 }
        ]) {
          assert.deepStrictEqual(
            yield* Effect.provideService(shown, SearchSteps, looksAt),
            all,
            `${q} with ${JSON.stringify(looksAt)}`
          )
        }
      }
    })
  )

  it.effect("follows what tickets are called, in which team they are, and that they are gone", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member, team, workspace } = scene
      const other = yield* addTeam(workspace.id)
      const ticket = yield* create(scene, { title: "Pay", description: "by card" })
      const [first] = [ticket.identifier]
      const renamed = yield* patch(ticket.id, { title: "Bill" }, member)
      assert.deepStrictEqual([yield* found("pay", member), yield* found("bill card", member)], [[], [first]])
      yield* patch(ticket.id, { status: scene.status("started").id, plan: "pay" }, member)
      assert.deepStrictEqual([yield* found("pay", member), yield* found("bill", member)], [[], [first]])
      yield* patch(ticket.id, { description: null }, member)
      assert.deepStrictEqual(yield* found("card", member), [])
      yield* tickets.reorder(ticket.id, { after: null }).pipe(as(member))
      const moved = yield* patch(ticket.id, { team: other.key }, member)
      assert.deepStrictEqual(yield* found(`${other.key} bill`, member), [moved.identifier])
      assert.deepStrictEqual(yield* found(`${team.key} bill`, member), [])
      for (const q of [first, first.toLowerCase(), ` ${moved.identifier} `]) {
        assert.deepStrictEqual(yield* found(q, member), [moved.identifier], q)
      }
      assert.strictEqual(renamed.identifier, first)
      yield* tickets.delete(ticket.id).pipe(as(member))
      assert.deepStrictEqual([yield* found("bill", member), yield* found(first, member)], [[], []])
    })
  )

  it.effect("combines with the other filters", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, status, team, viewer, workspace } = scene
      const project = yield* addProject(workspace.id, { teams: [team.id] })
      const made = yield* Effect.forEach(
        [
          {},
          { project: project.slug },
          { owner: viewer.principal.email },
          { status: status("started").id },
          { project: project.slug, status: status("started").id }
        ],
        (fields) => create(scene, { title: "Pay", ...fields })
      )
      yield* create(scene, { title: "Other", project: project.slug })
      const last = made[4]!.identifier
      for (const [filter, all] of [
        [{ project: project.slug }, [1, 4]],
        [{ owner: viewer.principal.id }, [2]],
        [{ category: "started" }, [3, 4]],
        [{ category: "started", project: project.slug, team: team.key }, [4]],
        [{ category: "completed" }, []]
      ] as const) {
        const expected = all.map((at) => made[at]!.identifier)
        assert.sameMembers([...(yield* found("pay", member, filter))], expected)
        const named = yield* found(last, member, filter)
        assert.deepStrictEqual(named, expected.includes(last) ? [last] : [])
      }
      assert.deepStrictEqual(yield* found("pay", scene.memberKey, { owner: "me" }), [])
    })
  )

  it.effect("shows nothing of private teams, or of other workspaces, to who does not see them", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member, viewer, workspace } = scene
      const secret = yield* addTeam(workspace.id, { visibility: "private" })
      yield* addTeamMember(secret, member)
      const [open, hidden] = [
        yield* create(scene, { title: "Pay" }),
        yield* create(scene, { title: "Pay", team: secret.key })
      ]
      const elsewhere = yield* makeTicketScene
      const foreign = yield* create(elsewhere, { title: "Pay" })
      for (const q of ["pay", "p", hidden.identifier, secret.key, foreign.identifier, workspace.id]) {
        const seen = yield* found(q, viewer)
        assert.deepStrictEqual(seen, /^p/i.test(q) && q.length < 4 ? [open.identifier] : [], q)
      }
      for (const by of [member, admin]) {
        assert.sameMembers([...(yield* found("pay", by))], [hidden.identifier, open.identifier])
        assert.deepStrictEqual(yield* found(hidden.identifier, by), [hidden.identifier])
      }
      assert.deepStrictEqual(yield* found("pay", elsewhere.member), [foreign.identifier])
      // An identifier of before counts for who sees the team whose key it has.
      yield* patch(hidden.id, { team: scene.team.key }, member)
      assert.deepStrictEqual(yield* found(hidden.identifier, viewer), [])
      assert.lengthOf(yield* found(hidden.identifier, member), 1)
    })
  )

  it.effect("stores and finds the words of the longest texts, whatever they consist of", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const letters = Array.from({ length: 100_000 }, (_, n) => String.fromCodePoint(0x4e00 + (n % 20_000)))
      const distinct = letters.map((letter, n) => (n % 4 === 3 ? " " : letter)).join("")
      // Normalizing makes three characters of each of them.
      for (const description of [distinct, "\u{1d160}".repeat(100_000), "שּׁ ".repeat(33_333), "x".repeat(100_000)]) {
        const { identifier } = yield* create(scene, { title: "Long", description })
        assert.deepStrictEqual(yield* found(identifier, scene.member), [identifier])
        const last = description.trim().split(" ").at(-1)!.slice(0, 200)
        if (wordsIn(last).length > 0) assert.include(yield* found(last, scene.member), identifier)
      }
    })
  )
})

for (const { layer: database, name } of sharedDatabases) {
  layer(Layer.provideMerge(layerServices, database), { excludeTestServices: true })(
    `The words of tickets on ${name}`,
    (it) => {
      it.effect("are stored later of comments that servers of before write", () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const repo = yield* TicketsRepo
          const comments = yield* Comments
          const scene = yield* makeTicketScene
          const { member } = scene
          const { id, identifier } = yield* create(scene, { title: "Pay" })
          const noted = Effect.map(
            sql<{ readonly id: string }>`select c.id from unworded_comments u join comments c on c.id = u.comment_id
              where c.ticket_id = ${id}`,
            (rows) => rows.map(({ id }) => id)
          )
          const say = (body: string) => comments.create(identifier, { body }).pipe(as(member), Effect.orDie)
          const [kept, changed, gone] = [yield* say("kept"), yield* say("first"), yield* say("gone")]
          yield* comments.update(identifier, kept.id, { body: "still kept" }).pipe(as(member), Effect.orDie)
          assert.deepStrictEqual(yield* noted, [])
          // As a server of before writes, which knows nothing of the words.
          yield* sql`update comments set body = 'charged' where id = ${changed.id}`
          yield* sql`update comments set body = 'gone again' where id = ${gone.id}`
          const made = newId<CommentId>()
          yield* sql`insert into comments (id, workspace_id, ticket_id, body, author_kind, author_id, created_at)
            select ${made}, workspace_id, ticket_id, 'made', author_kind, author_id, created_at from comments
            where id = ${kept.id}`
          assert.sameMembers([...(yield* noted)], [changed.id, gone.id, made])
          yield* sql`delete from comments where id = ${gone.id}`
          const words = ["charged", "made", "kept"]
          const all = Effect.forEach(words, (q) => found(q, member))
          assert.deepStrictEqual(yield* all, [[], [], [identifier]])
          while (yield* sql.withTransaction(repo.wordComments));
          assert.deepStrictEqual(yield* all, [[identifier], [identifier], [identifier]])
          assert.deepStrictEqual(yield* found("first", member), [])
          assert.deepStrictEqual(yield* sql`select from unworded_comments where comment_id = ${gone.id}`, [])
        })
      )

      it.effect("are stored later of tickets that servers of before write", () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const repo = yield* TicketsRepo
          const scene = yield* makeTicketScene
          const { member, team } = scene
          const unworded = Effect.map(
            sql<{ readonly id: string }>`select t.id from unworded_tickets u join tickets t on t.id = u.ticket_id
              where t.workspace_id = ${team.workspaceId}`,
            (rows) => rows.map(({ id }) => id)
          )
          const store = Effect.gen(function* () {
            while (yield* sql.withTransaction(repo.wordTickets));
          })
          const [made, kept] = [yield* create(scene, { title: "Pay" }), yield* create(scene, { title: "Bill" })]
          assert.deepStrictEqual(yield* unworded, [])
          // As a server of before writes: without the column that it does not know.
          const noted = Effect.gen(function* () {
            yield* sql`update tickets set title = 'Charge', description = 'by card' where id = ${made.id}`
            yield* sql`update tickets set title = 'Bill', rank = rank || 'V' where id = ${kept.id}`
            return yield* unworded
          })
          assert.deepStrictEqual(yield* sql.withTransaction(noted), [made.id])
          yield* store
          assert.deepStrictEqual(yield* unworded, [])
          assert.deepStrictEqual(yield* found("charge card", member), [made.identifier])
          assert.deepStrictEqual(yield* found("pay", member), [])
          yield* sql`insert into tickets (id, workspace_id, team_id, number, title, status_id, rank, creator_kind,
              creator_id, created_at, updated_at)
            select gen_random_uuid(), workspace_id, team_id, 1000, 'Made', status_id, rank || 'V', creator_kind,
              creator_id, created_at, updated_at from tickets where id = ${made.id}`
          yield* store
          assert.deepStrictEqual(yield* found("made", member), [`${team.key}-1000`])
        })
      )
    }
  )
}
