import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Projects } from "../../src/planning/Projects.ts"
import { ProjectTextsRepo } from "../../src/planning/ProjectTextsRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { as, type CallerOf, everyRole, makeScene, minute, refusal, unique, whoMay } from "../identity/Scene.ts"
import { onEachStorage, withServicesOnEachStorage } from "../support/Storages.ts"
import { addProject } from "./ProjectsScene.ts"
import { addTeam, seesAll } from "./Scene.ts"
import { addAgent, anEvent } from "./TicketsScene.ts"

const historyOf = (slug: string, by: CallerOf, cursor?: number) =>
  Effect.flatMap(Projects, (projects) => projects.history(slug, { cursor }).pipe(as(by), Effect.orDie))

withServicesOnEachStorage("Earlier documents of projects", (it) => {
  const makeProject = Effect.fnUntraced(function* (document: string | null) {
    const scene = yield* makeScene
    const team = yield* addTeam(scene.workspace.id)
    const slug = unique("checkout")
    const projects = yield* Projects
    yield* projects.create({ slug, name: slug, teams: [team.key], document }).pipe(as(scene.member))
    const update = (input: Parameters<Projects["Service"]["update"]>[1], by: CallerOf = scene.member) =>
      projects.update(slug, input).pipe(as(by), Effect.orDie)
    return { ...scene, scene, projects, slug, update }
  })

  it.effect("are those that a change replaces, with who replaced them and when", () =>
    Effect.gen(function* () {
      const { member, memberKey, projects, scene, slug, update, viewer } = yield* makeProject("One")
      const agent = yield* addAgent(member)
      assert.deepStrictEqual(yield* whoMay(scene, projects.history("unknown", {})), everyRole)
      assert.deepStrictEqual(yield* historyOf(slug, viewer), { texts: [], nextCursor: null })
      const changes = [
        [{ document: "Two" }, member],
        [{ name: "Other", status: "active" }, member],
        [{ document: "Two", summary: "Short" }, agent],
        [{ document: null }, agent],
        [{ document: "Three" }, memberKey]
      ] as const
      const times: Array<string> = []
      for (const [input, by] of changes) {
        yield* TestClock.adjust(1_000)
        times.push((yield* update(input, by)).updatedAt)
      }
      const { email, id, name } = member.principal
      assert.deepStrictEqual<unknown>(yield* historyOf(slug, viewer), {
        texts: [
          { number: 3, text: null, replacedBy: memberKey.principal, replacedAt: times[4] },
          { number: 2, text: "Two", replacedBy: agent.principal, replacedAt: times[3] },
          { number: 1, text: "One", replacedBy: { kind: "user", id, name, email }, replacedAt: times[0] }
        ],
        nextCursor: null
      })
    })
  )

  it.effect("come a page at a time, also of an archived project", () =>
    Effect.gen(function* () {
      const { member, projects, slug, update, viewer } = yield* makeProject("0")
      for (let n = 1; n <= 41; n++) yield* update({ document: String(n) })
      yield* projects.archive(slug).pipe(as(member))
      const first = yield* historyOf(slug, viewer)
      assert.deepStrictEqual(
        first.texts.map(({ number }) => number),
        Array.from({ length: 20 }, (_, at) => 41 - at)
      )
      const second = yield* historyOf(slug, viewer, first.nextCursor!)
      assert.deepStrictEqual(
        second.texts.map(({ text }) => text),
        Array.from({ length: 20 }, (_, at) => String(20 - at))
      )
      assert.deepStrictEqual(
        (yield* historyOf(slug, viewer, second.nextCursor!)).texts.map(({ text }) => text),
        ["0"]
      )
    })
  )

  it.effect("are seen by who sees a team of the project, and not kept by a change that is refused", () =>
    Effect.gen(function* () {
      const { admin, member, projects, slug, update, workspace } = yield* makeProject("One")
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      yield* update({ document: "Two" })
      assert.strictEqual(
        yield* refusal(projects.update(slug, { document: "Mine", expected: { document: "One" } }).pipe(as(member))),
        "Conflict project_changed"
      )
      assert.lengthOf((yield* historyOf(slug, member)).texts, 1)
      yield* update({ teams: [closed.key] }, admin)
      assert.strictEqual(yield* refusal(projects.history(slug, {}).pipe(as(member))), "NotFound")
      const elsewhere = yield* makeScene
      assert.strictEqual(yield* refusal(projects.history(slug, {}).pipe(as(elsewhere.owner))), "NotFound")
      assert.lengthOf((yield* historyOf(slug, admin)).texts, 1)
    })
  )
})

onEachStorage("ProjectTextsRepo", (it) => {
  it.effect("keeps the last hundred documents of a project, and a million bytes", () =>
    Effect.gen(function* () {
      const repo = yield* ProjectTextsRepo
      const storage = yield* Storage
      const { workspace } = yield* makeScene
      const team = yield* addTeam(workspace.id)
      const keep = (project: { readonly id: (typeof first)["id"] }, text: string) =>
        storage.transaction(
          repo.keep({
            workspaceId: workspace.id,
            projectId: project.id,
            text,
            authorKind: "apiKey",
            authorId: anEvent(workspace.id).actor.id,
            replacedAt: minute(1)
          })
        )
      const numbersOf = (slug: string) =>
        Effect.map(repo.list(seesAll(workspace.id), slug, { below: undefined, limit: 1_000 }), (found) =>
          found?.map(({ number }) => number)
        )
      const first = yield* addProject(workspace.id, { teams: [team.id] })
      const second = yield* addProject(workspace.id, { teams: [team.id] })
      for (let n = 1; n <= 102; n++) yield* keep(first, String(n))
      // Each character has four bytes.
      const half = "😀".repeat(62_500)
      for (const text of ["a", half, half, half, half, "b"]) yield* keep(second, text)
      assert.deepStrictEqual(
        yield* numbersOf(first.slug),
        Array.from({ length: 100 }, (_, n) => 102 - n)
      )
      assert.deepStrictEqual(yield* numbersOf(second.slug), [6, 5, 4, 3])
      assert.isUndefined(yield* numbersOf(unique("unknown")))
      assert.isUndefined(yield* numbersOf("Not a slug"))
    })
  )
})
