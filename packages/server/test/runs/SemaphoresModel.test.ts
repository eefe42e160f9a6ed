import type { LeaseId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Context, Effect } from "effect"
import fc from "fast-check"
import { type LeaseOwner, SemaphoresRepo, type Taken } from "../../src/runs/SemaphoresRepo.ts"
import { unique } from "../identity/Scene.ts"
import { makeDeployed } from "./Scene.ts"
import { finishRun, onEachStorage, startRetry, startRun, Time, leaseRequest } from "./SemaphoreStorages.ts"

/**
 * Random histories of leases against a plain model of them. All times are multiples of 5 s, so that the little that
 * passes for a database while the commands run decides nothing.
 */

interface Entry {
  readonly lease: LeaseId
  readonly run: number
  readonly requestId: string | null
  ttl: number
  state: "queued" | "granted" | "held" | "ended"
  slot: number
  fence: number
  since: number
  until: number
  polls: number
}

class ModelSemaphore {
  capacity: number
  entries: Array<Entry> = []
  constructor(capacity: number) {
    this.capacity = capacity
  }
  get holders(): ReadonlyArray<Entry> {
    return this.entries
      .filter((entry) => entry.state === "granted" || entry.state === "held")
      .toSorted((a, b) => a.since - b.since || a.fence - b.fence)
  }
  get queue(): ReadonlyArray<Entry> {
    return this.entries.filter((entry) => entry.state === "queued")
  }
}

/** What holds of semaphores, said as plainly as can be. One instance lives through one history. */
class Model {
  now = 0
  fences = 0
  readonly ended = new Set<number>()
  readonly semaphores = new Map<number, ModelSemaphore>()

  isOver(run: number): boolean {
    return this.ended.has(run) || this.now >= tokenMillis[run]!
  }

  /** So much later, and never past the end of the run's token. */
  after(millis: number, run: number): number {
    return Math.min(this.now + millis, tokenMillis[run]!)
  }

  /** Every time-out that is due happens at its own instant, in order; then the queue moves on. */
  pass(millis: number): void {
    const end = this.now + millis
    while (true) {
      const due = [...this.semaphores.values()]
        .flatMap((semaphore) => semaphore.entries.filter((entry) => entry.state !== "ended"))
        .map((entry) => entry.until)
        .filter((until) => until > this.now && until <= end)
      if (due.length === 0) break
      this.now = Math.min(...due)
    }
    this.now = end
  }

  settle(semaphore: ModelSemaphore): void {
    for (const entry of semaphore.entries) if (entry.state !== "ended" && entry.until <= this.now) entry.state = "ended"
    for (const entry of semaphore.queue) {
      if (semaphore.holders.length >= semaphore.capacity) return
      entry.state = "granted"
      this.grant(semaphore, entry)
      entry.until = this.after(entry.requestId === null ? 5_000 : 30_000, entry.run)
    }
  }

  grant(semaphore: ModelSemaphore, entry: Entry): void {
    const taken = new Set(semaphore.holders.filter((one) => one !== entry).map((one) => one.slot))
    entry.slot = Array.from({ length: semaphore.capacity }, (_, i) => i + 1).find((slot) => !taken.has(slot))!
    entry.fence = ++this.fences
    entry.since = this.now
  }

  hold(entry: Entry): void {
    entry.state = "held"
    entry.until = this.after(entry.ttl, entry.run)
  }
}

/** Milliseconds from the beginning until each run's token ends: of two after any history; the last is a retry's. */
const tokenMillis = [36_000_000, 36_000_000, 45_000, 60_000]
const retry = 3

interface Real {
  readonly run: <A>(effect: Effect.Effect<A>) => Promise<A>
  readonly repo: SemaphoresRepo["Service"]
  readonly time: Time["Service"]
  readonly runs: ReadonlyArray<Effect.Success<ReturnType<typeof startRun>>>
  /** The runs and the retry. */
  readonly owners: ReadonlyArray<LeaseOwner & { readonly tokenHash: string }>
  readonly names: ReadonlyArray<string>
  readonly workspaceId: Parameters<SemaphoresRepo["Service"]["list"]>[0]
  /** Of each lease that was answered, its fence and the one that the model gave it. */
  readonly fences: Map<LeaseId, { readonly name: string; readonly fence: number; readonly modelled: number }>
}

type Step =
  | {
      readonly do: "take"
      readonly run: number
      readonly semaphore: number
      readonly capacity: number
      readonly requestId: string | null
      readonly ttl: number
      readonly wait: number
    }
  | { readonly do: "look"; readonly semaphore: number; readonly entry: number; readonly isLast: boolean }
  | {
      readonly do: "renew"
      readonly semaphore: number
      readonly entry: number
      readonly run: number
      readonly ttl: number
    }
  | { readonly do: "release"; readonly semaphore: number; readonly entry: number; readonly run: number }
  | { readonly do: "leave"; readonly semaphore: number; readonly entry: number }
  | { readonly do: "settle"; readonly semaphore: number }
  | { readonly do: "pass"; readonly millis: number }
  | { readonly do: "finish"; readonly run: number }

/** What of an answer the model foretells. */
const inShort = (taken: { readonly _tag: string } | Taken): string => {
  if (!("lease" in taken || "place" in taken || "capacity" in taken)) return taken._tag
  if (taken._tag === "Held") {
    const { capacity, lease, slot, ttlMs } = taken.lease
    return `Held ${lease} ${slot}/${capacity} ${ttlMs} ${taken.isNew}`
  }
  if (taken._tag === "Queued") return `Queued ${taken.place.lease} at ${taken.place.position} polls ${taken.polls}`
  return `${taken._tag} ${taken.capacity} ${taken.holders.map(({ lease }) => lease).join()}`
}

class Command implements fc.AsyncCommand<Model, Real> {
  readonly step: Step
  constructor(step: Step) {
    this.step = step
  }
  toString = (): string => JSON.stringify(this.step)
  check = (): boolean => true

  async run(model: Model, real: Real): Promise<void> {
    const { step } = this
    if (step.do === "pass") {
      model.pass(step.millis)
      await real.run(real.time.pass(step.millis))
    } else if (step.do === "finish") await this.finish(step.run, model, real)
    else await this.#onSemaphore(step, model, real)
    await this.#compare(model, real)
  }

  async finish(run: number, model: Model, real: Real): Promise<void> {
    if (model.isOver(run)) return
    model.ended.add(run)
    for (const semaphore of model.semaphores.values()) {
      const own = semaphore.entries.filter((entry) => entry.run === run)
      const touched = own.some((entry) => entry.state !== "ended")
      semaphore.entries = semaphore.entries.filter((entry) => entry.run !== run)
      if (touched) model.settle(semaphore)
    }
    await real.run(
      Effect.orDie(Effect.provideService(finishRun(real.runs[run]!), Time, real.time) as Effect.Effect<void>)
    )
  }

  async #onSemaphore(step: Exclude<Step, { do: "pass" | "finish" }>, model: Model, real: Real): Promise<void> {
    const name = real.names[step.semaphore]!
    if (step.do === "take") {
      const request = leaseRequest(name, {
        capacity: step.capacity,
        requestId: step.requestId,
        ttlMillis: step.ttl,
        waitMillis: step.wait
      })
      const expected = this.#take(step, request.id, model)
      const taken = await real.run(real.repo.take(await this.#owner(step.run, model, real), request))
      return this.#assertTaken(taken, expected, model.semaphores.get(step.semaphore), real)
    }
    const semaphore = model.semaphores.get(step.semaphore)
    if (semaphore === undefined) return
    if (step.do === "settle") {
      const places = semaphore.queue.map((entry) => entry.lease)
      model.settle(semaphore)
      const { changed } = await real.run(real.repo.settle(places))
      const waiting = new Set(semaphore.queue.filter((entry) => entry.until > model.now).map((entry) => entry.lease))
      assert.sameMembers(
        [...changed],
        places.filter((place) => !waiting.has(place))
      )
      return
    }
    const entry = semaphore.entries[step.entry % Math.max(1, semaphore.entries.length)]
    if (entry === undefined) return
    switch (step.do) {
      case "look": {
        const expected = this.#look(semaphore, entry, step.isLast, model)
        return this.#assertTaken(
          await real.run(real.repo.lookUpPlace(entry.lease, step.isLast)),
          expected,
          semaphore,
          real
        )
      }
      case "leave": {
        if (entry.requestId === null && entry.state !== "held") entry.state = "ended"
        else if (entry.state === "queued") entry.until = Math.min(entry.until, model.now + 30_000)
        model.settle(semaphore)
        return real.run(real.repo.leave(entry.lease, entry.polls))
      }
      case "renew": {
        const isOwn = entry.run === step.run
        const isHeld = entry.state === "held" && entry.until > model.now
        if (isOwn && isHeld) {
          entry.ttl = step.ttl
          entry.until = Math.max(entry.until, model.after(step.ttl, step.run))
        }
        const expected = !isOwn ? "Foreign" : !isHeld ? "Unknown" : this.#held(semaphore, entry, false)
        const renewed = await real.run(
          real.repo.renew(await this.#owner(step.run, model, real), name, entry.lease, step.ttl)
        )
        assert.strictEqual(inShort(renewed), expected)
        return
      }
      case "release": {
        const isOwn = entry.run === step.run
        if (isOwn && entry.state !== "ended") {
          const isQueued = entry.state === "queued"
          entry.state = "ended"
          if (!isQueued) model.settle(semaphore)
        }
        const released = await real.run(real.repo.release(await this.#owner(step.run, model, real), name, entry.lease))
        assert.strictEqual(released._tag, isOwn ? "Released" : "Foreign")
      }
    }
  }

  #take(step: Extract<Step, { do: "take" }>, lease: LeaseId, model: Model): string {
    if (model.isOver(step.run)) return "RunNotRunning"
    const semaphore = model.semaphores.get(step.semaphore) ?? new ModelSemaphore(step.capacity)
    model.semaphores.set(step.semaphore, semaphore)
    model.settle(semaphore)
    const known = semaphore.entries.find(
      (entry) => entry.state !== "ended" && entry.run === step.run && entry.requestId === step.requestId
    )
    if (known !== undefined && step.requestId !== null && !(known.state === "queued" && known.until <= model.now)) {
      if (known.state === "queued") {
        known.polls++
        known.until = Math.max(known.until, model.after(step.wait + 30_000, step.run))
        return this.#queued(semaphore, known, model)
      }
      const isNew = known.state === "granted"
      if (isNew) model.hold(known)
      return this.#held(semaphore, known, isNew)
    }
    if (semaphore.capacity !== step.capacity) {
      if (semaphore.holders.length > 0) return this.#refused("CapacityMismatch", semaphore)
      semaphore.capacity = step.capacity
    }
    const entry: Entry = {
      lease,
      run: step.run,
      requestId: step.requestId,
      ttl: step.ttl,
      state: "queued",
      slot: 0,
      fence: 0,
      since: 0,
      until: model.after(step.wait + (step.requestId === null ? 5_000 : 30_000), step.run),
      polls: 1
    }
    if (semaphore.holders.length < semaphore.capacity) {
      semaphore.entries.push(entry)
      model.grant(semaphore, entry)
      model.hold(entry)
      return this.#held(semaphore, entry, true)
    }
    if (step.requestId === null && step.wait === 0) return this.#refused("Full", semaphore)
    semaphore.entries.push(entry)
    return this.#queued(semaphore, entry, model)
  }

  #look(semaphore: ModelSemaphore, entry: Entry, isLast: boolean, model: Model): string {
    model.settle(semaphore)
    if (entry.state === "held") return this.#held(semaphore, entry, false)
    if (entry.state === "granted") {
      model.hold(entry)
      return this.#held(semaphore, entry, true)
    }
    if (model.isOver(entry.run)) return "RunNotRunning"
    if (entry.state === "queued" && !(isLast && entry.requestId === null)) return this.#queued(semaphore, entry, model)
    entry.state = "ended"
    return this.#refused("Full", semaphore)
  }

  #held(semaphore: ModelSemaphore, entry: Entry, isNew: boolean): string {
    return `Held ${entry.lease} ${entry.slot}/${semaphore.capacity} ${entry.ttl} ${isNew}`
  }
  #queued(semaphore: ModelSemaphore, entry: Entry, model: Model): string {
    const before = semaphore.queue.slice(0, semaphore.queue.indexOf(entry)).filter((one) => one.until > model.now)
    return `Queued ${entry.lease} at ${before.length + 1} polls ${entry.polls}`
  }
  #refused(tag: string, semaphore: ModelSemaphore): string {
    return `${tag} ${semaphore.capacity} ${semaphore.holders.map((entry) => entry.lease).join()}`
  }

  #assertTaken(taken: Taken, expected: string, semaphore: ModelSemaphore | undefined, real: Real): void {
    assert.strictEqual(inShort(taken), expected)
    if (taken._tag !== "Held") return
    const { fence, lease, name } = taken.lease
    const modelled = semaphore!.entries.find((entry) => entry.lease === lease)!.fence
    const known = real.fences.get(lease)
    if (known !== undefined) assert.strictEqual(fence, known.fence)
    // Fences rise with the grants, whenever the answers come.
    for (const [other, one] of real.fences) {
      if (one.name === name && other !== lease) assert.strictEqual(fence > one.fence, modelled > one.modelled)
    }
    real.fences.set(lease, { name, fence, modelled })
  }

  /** Whose lease it is to be, by the run's token; one whose run is over is known from before. */
  async #owner(run: number, model: Model, real: Real): Promise<LeaseOwner> {
    const before = real.owners[run]!
    const owner = (await real.run(real.repo.authenticate(before.tokenHash, real.workspaceId)))?.owner
    assert.strictEqual(owner === undefined, model.isOver(run))
    return owner ?? before
  }

  /** Who holds and waits now, by the list that people see. */
  async #compare(model: Model, real: Real): Promise<void> {
    const list = await real.run(real.repo.list(real.workspaceId))
    for (const [index, semaphore] of model.semaphores) {
      const shown = list.find(({ name }) => name === real.names[index])
      const living = semaphore.holders.filter((entry) => entry.until > model.now)
      assert.isAtMost(living.length, semaphore.capacity)
      assert.deepStrictEqual(
        shown?.holders.map(({ lease }) => lease),
        living.map((entry) => entry.lease)
      )
      assert.strictEqual(shown?.capacity, semaphore.capacity)
      const waiting = semaphore.queue.filter((entry) => entry.until > model.now)
      assert.deepStrictEqual(
        shown?.waiting.map(({ lease }) => lease),
        waiting.map((entry) => entry.lease)
      )
      assert.strictEqual(shown?.queued, waiting.length)
    }
  }
}

const semaphore = fc.nat(1)
const run = fc.constantFrom(0, 0, 1, 1, 2, retry)
const entry = fc.nat(11)
const ttl = fc.constantFrom(10_000, 20_000, 45_000)
const commands = fc.commands(
  [
    {
      arbitrary: fc.record({
        capacity: fc.constantFrom(1, 1, 2, 2, 2, 3),
        wait: fc.constantFrom(0, 20_000),
        requestId: fc.constantFrom("a", "b", "c", null),
        semaphore,
        run,
        ttl
      }),
      do: "take",
      weight: 8
    },
    { arbitrary: fc.record({ semaphore, entry, isLast: fc.boolean() }), do: "look", weight: 4 },
    { arbitrary: fc.record({ semaphore, entry, run, ttl }), do: "renew", weight: 2 },
    { arbitrary: fc.record({ semaphore, entry, run }), do: "release", weight: 5 },
    { arbitrary: fc.record({ semaphore, entry }), do: "leave", weight: 2 },
    { arbitrary: fc.record({ semaphore }), do: "settle", weight: 2 },
    { arbitrary: fc.record({ millis: fc.constantFrom(5_000, 10_000, 25_000) }), do: "pass", weight: 4 },
    { arbitrary: fc.record({ run: fc.constantFrom(0, 1, 2) }), do: "finish", weight: 1 }
  ].flatMap(({ arbitrary, weight, ...kind }) =>
    // A command that stands several times comes as many times as often.
    Array.from({ length: weight }, () =>
      (arbitrary as fc.Arbitrary<object>).map((fields) => new Command({ ...kind, ...fields } as Step))
    )
  ),
  { maxCommands: 60, size: "max" }
)

onEachStorage("Leases", (it) => {
  it.effect("behave as their model does", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<never>()
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const runWith = Effect.runPromiseWith(context)
      const setup = Effect.gen(function* () {
        const at = yield* makeDeployed()
        const runs = yield* Effect.forEach(tokenMillis.slice(0, retry), (millis) => startRun(at, millis))
        const owners = [...runs, yield* startRetry(yield* startRun(at), tokenMillis[retry])]
        return {
          model: new Model(),
          real: {
            run: runWith,
            repo,
            time,
            runs,
            owners,
            names: [unique("semaphore"), unique("semaphore")],
            workspaceId: at.workspace.id,
            fences: new Map()
          }
        }
      })
      const prepare = yield* Effect.map(Effect.context<Effect.Services<typeof setup>>(), (all) =>
        Effect.provideContext(setup, Context.merge(context, all))
      )
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(commands, async (commands) => fc.asyncModelRun(() => runWith(prepare), commands)),
          { numRuns: Number(process.env["MODEL_RUNS"] ?? 40), interruptAfterTimeLimit: 40_000 }
        )
      )
    })
  )
})
