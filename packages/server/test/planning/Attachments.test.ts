import type { FileId } from "@delivery/domain/Ids"
import { maxAttachmentBytes, maxAttachments } from "@delivery/domain/planning/AttachmentLimits"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { FileStore } from "../../src/files/FileStore.ts"
import { PendingBlobsRepo } from "../../src/files/PendingBlobsRepo.ts"
import { Attachments } from "../../src/planning/Attachments.ts"
import { AttachmentsRepo } from "../../src/planning/AttachmentsRepo.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import {
  addMember,
  answer,
  as,
  type CallerOf,
  eventsOf,
  everyRole,
  membersAndUp,
  newId,
  now,
  refusal,
  whoMay
} from "../identity/Scene.ts"
import { eventually } from "../support/Eventually.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addTeam, addTeamMember } from "./Scene.ts"
import { addAgent, create, makeTicketScene } from "./TicketsScene.ts"

const sha256 = (content: string) => createHash("sha256").update(content).digest("hex")

const bodyOf = (content: string): Stream.Stream<Uint8Array> =>
  content === "" ? Stream.empty : Stream.sync(() => new Uint8Array(Buffer.from(content)))

interface Fields {
  readonly name?: string
  readonly contentType?: string | undefined
  readonly contentLength?: string | undefined
  readonly body?: Stream.Stream<Uint8Array, unknown>
}

const attach = Effect.fnUntraced(function* (ticket: string, content = "pixels", fields: Fields = {}) {
  return yield* (yield* Attachments).upload({
    ticket,
    name: "shot.png",
    contentType: "image/png",
    contentLength: String(Buffer.byteLength(content)),
    body: bodyOf(content),
    ...fields
  })
})

const read = Effect.fnUntraced(function* (ticket: string, id: string) {
  const { disposition, etag, file, read } = yield* (yield* Attachments).open(ticket, id)
  const chunks = yield* Effect.scoped(Effect.flatMap(read(0, file.size), Stream.runCollect))
  return { disposition, etag, contentType: file.contentType, text: Buffer.concat(chunks).toString() }
})

/** Whether the store has the bytes. */
const isKept = Effect.fnUntraced(function* (ticketId: string, id: FileId) {
  const store = yield* FileStore
  const blob = { id, ownerId: ticketId as never }
  return Exit.isSuccess(yield* Effect.exit(Effect.scoped(store.read(blob, { offset: 0, length: 1 }))))
})

/** Which blobs of the workspace are garbage. */
const garbage = Effect.fnUntraced(function* ({ id }: { readonly id: string }) {
  return (yield* (yield* PendingBlobsRepo).lapsed(10_000)).filter(({ workspaceId }) => workspaceId === id)
})

/** A body that gives some bytes and then waits until it is told to go on. */
const makePausing = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  const body = bodyOf("pix").pipe(
    Stream.concat(
      Stream.drain(Stream.fromEffect(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(go))))
    ),
    Stream.concat(bodyOf("els"))
  )
  return { body, begun: Deferred.await(begun), go: Deferred.succeed(go, undefined) }
})

const asTold = ({ principal }: CallerOf) =>
  principal.kind === "user"
    ? { kind: "user", id: principal.id, name: principal.name, email: principal.email }
    : principal

withServicesOnEachStorage("Attachments", (it) => {
  it.effect("are listed oldest first, with who attached them, and read back as they were sent", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, memberKey, viewer, workspace } = scene
      const agent = yield* addAgent(member)
      const ticket = yield* create(scene)
      const attachments = yield* Attachments
      assert.deepStrictEqual(yield* attachments.list(ticket.id).pipe(as(viewer)), [])
      const first = yield* attach(ticket.identifier.toLowerCase(), "one").pipe(as(member))
      assert.deepStrictEqual<unknown>(first, {
        id: first.id,
        name: "shot.png",
        size: 3,
        contentType: "image/png",
        sha256: sha256("one"),
        createdBy: asTold(member),
        createdAt: yield* now
      })
      yield* TestClock.adjust(1_000)
      // The same name and the same bytes are another file.
      const second = yield* attach(ticket.id, "one").pipe(as(agent))
      yield* TestClock.adjust(1_000)
      const third = yield* attach(ticket.id, "", { name: "log", contentType: "no type" }).pipe(as(memberKey))
      assert.deepStrictEqual<unknown>([second.createdBy, third.createdBy], [agent.principal, memberKey.principal])
      assert.strictEqual(third.contentType, "application/octet-stream")
      assert.deepStrictEqual(yield* attachments.list(ticket.identifier).pipe(as(viewer)), [first, second, third])
      assert.deepStrictEqual(yield* read(ticket.identifier, first.id).pipe(as(viewer)), {
        disposition: "inline; filename=\"shot.png\"; filename*=UTF-8''shot.png",
        etag: `"${sha256("one")}"`,
        contentType: "image/png",
        text: "one"
      })
      assert.strictEqual((yield* read(ticket.id, third.id).pipe(as(viewer))).text, "")
      assert.deepStrictEqual(yield* garbage(workspace), [])
    })
  )

  it.effect("are told by events of their ticket, with the name", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, team, workspace } = scene
      const ticket = yield* create(scene, { title: "Pay" })
      const { id } = yield* attach(ticket.id).pipe(as(member))
      yield* (yield* Attachments).delete(ticket.id, id).pipe(as(member))
      const told = (yield* eventsOf(workspace)).slice(-2)
      assert.deepStrictEqual(
        told.map(({ changes, kind, subjectId, subjectLabel, subjectType, teamIds }) => ({
          kind,
          subject: [subjectType, subjectId, subjectLabel],
          changes,
          teamIds
        })),
        [
          {
            kind: "attachment_added",
            subject: ["ticket", ticket.id, `${ticket.identifier} Pay`],
            changes: [{ field: "attachment", from: null, to: "shot.png" }],
            teamIds: [team.id]
          },
          {
            kind: "attachment_deleted",
            subject: ["ticket", ticket.id, `${ticket.identifier} Pay`],
            changes: [{ field: "attachment", from: "shot.png", to: null }],
            teamIds: [team.id]
          }
        ]
      )
    })
  )

  it.effect("are read by everybody, and added and deleted by members", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const ticket = yield* create(scene)
      const attachments = yield* Attachments
      assert.deepStrictEqual(yield* whoMay(scene, attachments.list(ticket.id)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, attachments.open(ticket.id, newId())), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, attach(newId())), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, attachments.delete(newId(), newId())), membersAndUp)
    })
  )

  it.effect(
    "are deleted by who attached them, the creator of the ticket, those whose agent was either, and admins",
    () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { admin, member, owner } = scene
        const attachments = yield* Attachments
        const creator = yield* addMember(scene.workspace, "member")
        const other = yield* addMember(scene.workspace, "member")
        const agent = yield* addAgent(member)
        const ticket = yield* create(scene, {}, creator)
        const allowed: ReadonlyArray<readonly [CallerOf, CallerOf]> = [
          [member, member],
          [member, creator],
          [agent, member],
          [member, admin],
          [member, owner]
        ]
        for (const [by, deleter] of allowed) {
          const { id } = yield* attach(ticket.id).pipe(as(by))
          assert.strictEqual(yield* refusal(attachments.delete(ticket.id, id).pipe(as(other))), "Forbidden not_author")
          yield* attachments.delete(ticket.id, id).pipe(as(deleter))
          assert.strictEqual(yield* refusal(attachments.delete(ticket.id, id).pipe(as(deleter))), "NotFound")
          assert.strictEqual(yield* refusal(attachments.open(ticket.id, id).pipe(as(deleter))), "NotFound")
          assert.isFalse(yield* isKept(ticket.id, id))
        }
        assert.deepStrictEqual(yield* attachments.list(ticket.id).pipe(as(member)), [])
        assert.deepStrictEqual(yield* garbage(scene.workspace), [])
      })
  )

  it.effect("go with their ticket, with all of their bytes", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, workspace } = scene
      const [ticket, beside] = [yield* create(scene), yield* create(scene)]
      const gone = [yield* attach(ticket.id).pipe(as(member)), yield* attach(ticket.id).pipe(as(member))]
      const stays = yield* attach(beside.id).pipe(as(member))
      yield* (yield* Tickets).delete(ticket.id).pipe(as(scene.admin))
      const repo = yield* AttachmentsRepo
      for (const { id } of gone) assert.isFalse(yield* repo.isStored(id))
      yield* eventually(
        Effect.andThen(TestClock.adjust("10 seconds"), garbage(workspace)),
        (blobs) => blobs.length === 0
      )
      for (const { id } of gone) assert.isFalse(yield* isKept(ticket.id, id))
      assert.isTrue(yield* isKept(beside.id, stays.id))
      assert.strictEqual((yield* read(beside.id, stays.id).pipe(as(member))).text, "pixels")
    })
  )

  it.effect("of a private team are there for its members alone", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member, memberKey, viewer, workspace } = scene
      const attachments = yield* Attachments
      const secret = yield* addTeam(workspace.id, { visibility: "private" })
      yield* addTeamMember(secret, viewer)
      const ticket = yield* create(scene, { team: secret.key }, admin)
      const { id } = yield* attach(ticket.id).pipe(as(admin))
      const told = yield* Effect.flip(attachments.list(newId()).pipe(as(member)))
      assert.strictEqual(told._tag, "NotFound")
      for (const by of [member, memberKey]) {
        for (const call of [
          Effect.asVoid(attachments.list(ticket.id)),
          Effect.asVoid(attachments.open(ticket.id, id)),
          Effect.asVoid(attachments.delete(ticket.id, id)),
          Effect.asVoid(attach(ticket.id))
        ]) {
          assert.strictEqual(yield* refusal(call.pipe(as(by))), "NotFound")
        }
        // What is in another ticket is not found by one that they see.
        const open = yield* create(scene)
        assert.strictEqual(yield* refusal(attachments.open(open.id, id).pipe(as(by))), "NotFound")
        assert.strictEqual(yield* refusal(attachments.delete(open.id, id).pipe(as(by))), "NotFound")
      }
      assert.strictEqual((yield* read(ticket.id, id).pipe(as(viewer))).text, "pixels")
    })
  )

  it.effect("of an archived team are read, and neither added nor deleted", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, team } = scene
      const attachments = yield* Attachments
      const ticket = yield* create(scene)
      const { id } = yield* attach(ticket.id).pipe(as(admin))
      yield* (yield* Teams).archive(team.key).pipe(as(admin))
      assert.strictEqual((yield* read(ticket.id, id).pipe(as(admin))).text, "pixels")
      assert.strictEqual(yield* refusal(attach(ticket.id).pipe(as(admin))), "Conflict archived")
      assert.strictEqual(yield* refusal(attachments.delete(ticket.id, id).pipe(as(admin))), "Conflict archived")
    })
  )

  it.effect("move with their ticket", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, workspace } = scene
      const other = yield* addTeam(workspace.id)
      const ticket = yield* create(scene)
      const { id } = yield* attach(ticket.id).pipe(as(member))
      const moved = yield* (yield* Tickets).update(ticket.id, { team: other.key }).pipe(as(member))
      for (const ref of [ticket.identifier, moved.identifier]) {
        assert.strictEqual((yield* read(ref, id).pipe(as(member))).text, "pixels")
      }
    })
  )

  it.effect("have at most 25 MiB: one byte more is refused before it is read", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member } = scene
      const ticket = yield* create(scene)
      let isRead = false
      const tooLarge = {
        contentLength: String(maxAttachmentBytes + 1),
        body: Stream.sync(() => {
          isRead = true
          return new Uint8Array(1)
        })
      }
      assert.strictEqual(yield* refusal(attach(ticket.id, "", tooLarge).pipe(as(member))), "InvalidInput")
      assert.isFalse(isRead)
      for (const contentLength of [undefined, "", "x", "-1"]) {
        assert.strictEqual(yield* refusal(attach(ticket.id, "", { contentLength }).pipe(as(member))), "InvalidInput")
      }
      const mebibytes = Stream.fromIterable(Array.from({ length: 25 }, () => 0)).pipe(
        Stream.map(() => new Uint8Array(1_048_576))
      )
      const largest = { contentLength: String(maxAttachmentBytes), body: mebibytes }
      assert.strictEqual((yield* attach(ticket.id, "", largest).pipe(as(member))).size, maxAttachmentBytes)
    })
  )

  it.effect("leave nothing of a body that is longer or shorter than it says, fails, or is broken off", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, workspace } = scene
      const ticket = yield* create(scene)
      const wrong: ReadonlyArray<Fields> = [
        { contentLength: "5" },
        { contentLength: "7" },
        { body: Stream.concat(bodyOf("pix"), Stream.fail("aborted")) }
      ]
      for (const fields of wrong) {
        assert.strictEqual(yield* refusal(attach(ticket.id, "pixels", fields).pipe(as(member))), "InvalidInput")
      }
      const { begun, body } = yield* makePausing
      const fiber = yield* Effect.forkChild(attach(ticket.id, "pixels", { body }).pipe(as(member)))
      yield* begun
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* (yield* Attachments).list(ticket.id).pipe(as(member)), [])
      assert.deepStrictEqual(yield* garbage(workspace), [])
    })
  )

  it.effect("are refused where the ticket was deleted during the upload, and leave nothing", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member, workspace } = scene
      const ticket = yield* create(scene)
      const { begun, body, go } = yield* makePausing
      const fiber = yield* Effect.forkChild(refusal(attach(ticket.id, "pixels", { body }).pipe(as(member))))
      yield* begun
      yield* (yield* Tickets).delete(ticket.id).pipe(as(admin))
      yield* go
      assert.strictEqual(yield* Fiber.join(fiber), "NotFound")
      assert.deepStrictEqual(yield* garbage(workspace), [])
    })
  )

  it.effect("are at most 100 on a ticket, however many are sent at once", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, workspace } = scene
      const attachments = yield* Attachments
      const ticket = yield* create(scene)
      yield* Effect.forEach(
        Array.from({ length: maxAttachments - 3 }, (_, i) => i),
        (i) => attach(ticket.id, String(i)).pipe(as(member)),
        { concurrency: 10, discard: true }
      )
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, i) => i),
        (i) => answer(attach(ticket.id, `late ${i}`).pipe(as(member))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(outcomes.toSorted(), [
        ...Array.from({ length: 9 }, () => "Conflict too_many_attachments"),
        "ok",
        "ok",
        "ok"
      ])
      const listed = yield* attachments.list(ticket.id).pipe(as(member))
      assert.strictEqual(listed.length, maxAttachments)
      assert.strictEqual(yield* refusal(attach(ticket.id).pipe(as(member))), "Conflict too_many_attachments")
      assert.deepStrictEqual(yield* garbage(workspace), [])
      // One that goes makes room.
      yield* attachments.delete(ticket.id, listed[0]!.id).pipe(as(member))
      yield* attach(ticket.id).pipe(as(member))
      for (const each of yield* attachments.list(ticket.id).pipe(as(member))) {
        assert.strictEqual(sha256((yield* read(ticket.id, each.id).pipe(as(member))).text), each.sha256)
      }
    })
  )

  it.effect("are deleted once by those who delete them at once", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, workspace } = scene
      const attachments = yield* Attachments
      const ticket = yield* create(scene)
      const { id } = yield* attach(ticket.id).pipe(as(member))
      const outcomes = yield* Effect.forEach(
        [1, 2, 3, 4],
        () => answer(attachments.delete(ticket.id, id).pipe(as(member))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(outcomes.toSorted(), ["NotFound", "NotFound", "NotFound", "ok"])
      const told = (yield* eventsOf(workspace)).filter(({ kind }) => kind === "attachment_deleted")
      assert.strictEqual(told.length, 1)
    })
  )
})
