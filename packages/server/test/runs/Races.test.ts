import { assert, layer } from "@effect/vitest"
import type { EventId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { PendingBlobsRepo } from "../../src/files/PendingBlobsRepo.ts"
import { EventsRepo } from "../../src/events/EventsRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { TestRunFiles } from "../../src/runs/TestRunFiles.ts"
import { TestRunFilesRepo } from "../../src/runs/TestRunFilesRepo.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { answer, as, eventsOf, newId } from "../identity/Scene.ts"
import { sharedStorages } from "../support/Storages.ts"
import { blobsBelow, type Deployed, finishBody, makeDeployed, newEvent, newRun, report, startBody } from "./Scene.ts"
import { layerServer, newFilesDirectory } from "./Services.ts"

/** Calls that exclude each other, made at once: one wins, and nothing is left of the others. */

const directory = newFilesDirectory()

/** Two servers of one database, each with services of its own. */
const layerOfServer = layerServer(directory)

const rounds = 40

/** Lets the calls begin in this order, `gap` turns of the event loop apart. */
const inOrder = <A, E, R>(first: Effect.Effect<A, E, R>, second: Effect.Effect<A, E, R>, gap: number) =>
  Effect.all([first, Effect.andThen(turns(gap), second)], { concurrency: "unbounded" })

const turns = (count: number) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.promise(() => new Promise(setImmediate)), {
    discard: true
  })

const blobsOnDisk = () => blobsBelow(directory).length

for (const storage of sharedStorages) {
  layer(storage.layer, { excludeTestServices: true, timeout: 60_000 })(`Races on ${storage.name}`, (it) => {
    const servers = Effect.gen(function* () {
      const services = () => Layer.build(Layer.fresh(layerOfServer))
      return [yield* services(), yield* services()] as const
    })
    const start = (at: Deployed) => Effect.flatMap(TestRuns, (runs) => as(at.member)(runs.start(startBody(at))))
    const finish = (at: Deployed, number: number, error: string | null = null) =>
      Effect.flatMap(TestRuns, (runs) =>
        answer(as(at.member)(runs.finish(number, finishBody({ error, tests: [report(error ?? "a")] }))))
      )

    it.effect("numbers 50 runs that two servers start at once from 1 to 50", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const both = yield* servers
        const numbers = yield* Effect.forEach(
          Array.from({ length: 50 }),
          (_, i) => Effect.provide(start(at), both[i % 2]!),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          numbers.map(({ number }) => number).toSorted((a, b) => a - b),
          Array.from({ length: 50 }, (_, i) => i + 1)
        )
        const events = yield* eventsOf(at.workspace)
        assert.deepStrictEqual(
          events.map((event) => event.subjectLabel).toSorted(),
          numbers.map(({ number }) => `Run ${number}`).toSorted()
        )
      })
    )

    it.effect("lets one of several finish calls win", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const both = yield* servers
        for (let i = 1; i <= rounds; i++) {
          yield* Effect.provide(start(at), both[0])
          const names = ["a", "b", "c", "d"]
          const answers = yield* Effect.forEach(names, (name, k) => Effect.provide(finish(at, i, name), both[k % 2]!), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(answers.toSorted(), [
            "Conflict not_running",
            "Conflict not_running",
            "Conflict not_running",
            "ok"
          ])
          const winner = names[answers.indexOf("ok")]!
          const run = yield* as(at.member)(
            Effect.flatMap(TestRuns, (runs) => runs.get(i)).pipe(Effect.provide(both[0]))
          )
          assert.strictEqual(run.error, winner)
          assert.deepStrictEqual(
            run.tests.map((test) => test.caseId),
            [winner]
          )
        }
        const kinds = (yield* eventsOf(at.workspace)).map((event) => event.kind)
        assert.strictEqual(kinds.filter((kind) => kind === "run_finished").length, rounds)
      })
    )

    it.effect("lets either a finish call or the expiry win, never both", () =>
      Effect.gen(function* () {
        const repo = yield* TestRunsRepo
        const at = yield* makeDeployed()
        const won = { finish: 0, expiry: 0 }
        const now = yield* Clock.currentTimeMillis
        // Runs that other suites left would expire in place of this one's.
        while (
          (yield* repo.expire(
            timestamp(now + 1_000),
            Array.from({ length: 100 }, () => newId<EventId>())
          )).length > 0
        );
        for (let i = 0; i < rounds; i++) {
          const run = newRun(at, { startedAt: timestamp(now), expiresAt: timestamp(now + 1_000) })
          const { number } = yield* repo.start(run, newEvent(run, "run_started"))
          // Servers whose clocks differ: to the one the run still runs, to the other it is overdue.
          const finishing = repo
            .finish(
              run.id,
              {
                state: "finished",
                result: "passed",
                gateResult: "passed",
                error: null,
                counts: { total: 0, passed: 0, flaky: 0, failed: 0, skipped: 0 },
                passRate: null,
                firstAttemptPassRate: null,
                cleanup: null,
                durationMs: 1,
                finishedAt: timestamp(now + 999)
              },
              [],
              newEvent(run, "run_finished")
            )
            .pipe(Effect.map((ended) => ended !== undefined))
          const expiring = Effect.map(repo.expire(timestamp(now + 1_000), [newId()]), (ended) => ended.length === 1)
          const [a, b] = yield* i % 2 === 0 ? inOrder(finishing, expiring, i % 5) : inOrder(expiring, finishing, i % 5)
          assert.strictEqual(Number(a) + Number(b), 1)
          const finished = i % 2 === 0 ? a : b
          won[finished ? "finish" : "expiry"]++
          const found = yield* repo.find(at.workspace.id, number)
          assert.strictEqual(found?.state, finished ? "finished" : "interrupted")
          assert.strictEqual(found?.finishedAt, timestamp(now + (finished ? 999 : 1_000)))
          const kinds = (yield* (yield* EventsRepo).newest(at.workspace.id, "all", 1_000))
            .filter((event) => event.subjectId === run.id)
            .map((event) => event.kind)
          assert.deepStrictEqual(
            kinds.toSorted(),
            [finished ? "run_finished" : "run_interrupted", "run_started"].toSorted()
          )
        }
        assert.isAbove(won.finish, 0)
        assert.isAbove(won.expiry, 0)
      })
    )

    it.effect("ends each overdue run once, with several servers", () =>
      Effect.gen(function* () {
        const repo = yield* TestRunsRepo
        const at = yield* makeDeployed()
        const now = yield* Clock.currentTimeMillis
        const runs = Array.from({ length: 60 }, () =>
          newRun(at, { startedAt: timestamp(now - 2_000), expiresAt: timestamp(now - 1_000) })
        )
        for (const run of runs) yield* repo.start(run, newEvent(run, "run_started"))
        const ended = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () =>
            repo.expire(
              timestamp(now),
              Array.from({ length: 20 }, () => newId<never>())
            ),
          { concurrency: "unbounded" }
        )
        const numbers = ended
          .flat()
          .filter((run) => run.workspaceId === at.workspace.id)
          .map((run) => run.number)
        assert.strictEqual(new Set(numbers).size, numbers.length)
        yield* repo.expire(
          timestamp(now),
          Array.from({ length: 100 }, () => newId<never>())
        )
        const interrupted = (yield* eventsOf(at.workspace)).filter((event) => event.kind === "run_interrupted")
        assert.strictEqual(interrupted.length, 60)
        assert.strictEqual(new Set(interrupted.map((event) => event.subjectId)).size, 60)
      })
    )

    it.effect("stores a file before its run ends or not at all", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const both = yield* servers
        const before = blobsOnDisk()
        const seen = { stored: 0, refused: 0 }
        for (let i = 1; i <= rounds; i++) {
          yield* Effect.provide(start(at), both[0])
          const bodyEnds = yield* Deferred.make<void>()
          const finishes = yield* Deferred.make<void>()
          const body = Stream.make(new Uint8Array([1, 2, 3, 4])).pipe(
            Stream.concat(Stream.drain(Stream.fromEffect(Deferred.succeed(bodyEnds, undefined)))),
            // In some rounds the run has certainly ended before the upload can be stored.
            Stream.concat(Stream.drain(Stream.fromEffect(i % 3 === 0 ? Deferred.await(finishes) : Effect.void)))
          )
          const uploading = Effect.flatMap(TestRunFiles, (files) =>
            answer(
              as(at.member)(
                files.upload({
                  run: i,
                  path: "file",
                  contentType: undefined,
                  contentLength: "4",
                  body
                })
              )
            )
          ).pipe(Effect.provide(both[0]))
          const uploader = yield* Effect.forkChild(uploading)
          yield* Deferred.await(bodyEnds)
          // In some it certainly has not; in the others it ends at some point of the upload's end.
          if (i % 3 === 1) yield* Fiber.await(uploader)
          else yield* Effect.sleep((i % 10) / 2)
          const finished = yield* Effect.provide(finish(at, i), both[1])
          yield* Deferred.succeed(finishes, undefined)
          const uploaded = yield* Fiber.join(uploader)
          assert.strictEqual(finished, "ok")
          assert.include(["ok", "Conflict not_running"], uploaded)
          seen[uploaded === "ok" ? "stored" : "refused"]++
          const file = yield* (yield* TestRunFilesRepo).find(at.workspace.id, i, "file")
          assert.strictEqual(file !== undefined, uploaded === "ok")
        }
        assert.strictEqual(blobsOnDisk(), before + seen.stored)
        const lapsed = yield* (yield* PendingBlobsRepo).lapsed(1_000)
        assert.deepStrictEqual(
          lapsed.filter((blob) => blob.workspaceId === at.workspace.id),
          []
        )
        assert.isAtLeast(seen.stored, Math.floor(rounds / 3))
        assert.isAtLeast(seen.refused, Math.floor(rounds / 3))
      })
    )

    it.effect("gives a lapsed blob to either the upload or the sweeper", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const both = yield* servers
        const before = blobsOnDisk()
        yield* Effect.provide(start(at), both[0])
        const repo = yield* TestRunFilesRepo
        const pending = yield* PendingBlobsRepo
        const seen = { stored: 0, swept: 0 }
        for (let i = 0; i < rounds; i++) {
          const run = (yield* (yield* TestRunsRepo).find(at.workspace.id, 1))!
          const blob = { id: newId<never>(), ownerId: run.id, workspaceId: at.workspace.id }
          yield* pending.reserve(blob)
          yield* pending.lapse(blob.id)
          const file = {
            path: `file ${i}`,
            size: 4,
            contentType: "text/plain",
            sha256: "x",
            createdAt: timestamp(yield* Clock.currentTimeMillis),
            blob
          }
          const storing = Effect.map(repo.store(file), (done) => done !== undefined)
          const sweeping = Effect.map(
            Effect.tap(pending.lapsed(100), (blobs) => pending.forget(blobs.map((blob) => blob.id))),
            (blobs) => blobs.some(({ id }) => id === blob.id)
          )
          const atOnce = yield* i % 2 === 0
            ? inOrder(transaction(storing), transaction(sweeping), i % 4)
            : Effect.map(inOrder(transaction(sweeping), transaction(storing), i % 4), ([a, b]) => [b, a])
          assert.strictEqual(Number(atOnce[0]) + Number(atOnce[1]), 1)
          assert.strictEqual(yield* repo.isStored(blob.id), atOnce[0])
          seen[atOnce[0] === true ? "stored" : "swept"]++
        }
        assert.isAbove(seen.stored, 0)
        assert.isAbove(seen.swept, 0)
        assert.strictEqual(blobsOnDisk(), before)
      })
    )
  })
}

const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Storage, (storage) => storage.transaction(effect))
