import { liveMillis } from "@delivery/domain/agents/Agent"
import { route, type RoutedComputer } from "@delivery/domain/agents/Routing"
import type { ComputerId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

/** The computer of a message that names none (docs/contract.md, Messages). */

const now = Date.parse("2026-11-22T12:00:00.000Z")

/** Milliseconds ago; often the same, and often around the minute that a session lives. */
const ago = fc.oneof(
  fc.constantFrom(0, 1, liveMillis - 1, liveMillis, liveMillis + 1, 86_400_000),
  fc.nat(3 * liveMillis)
)
const seenAt = ago.map((millis) => timestamp(now - millis))
const repository = fc.constantFrom("acme/shop", "Acme/Shop", "acme/till", "other/shop")
const session = fc.record({ repository: fc.option(repository), lastSeenAt: seenAt })
const computers = fc
  .array(fc.record({ lastSeenAt: seenAt, sessions: fc.array(session, { maxLength: 3 }) }), { maxLength: 5 })
  .map((all) => all.map((one, index): RoutedComputer => ({ ...one, id: `computer ${index}` as ComputerId })))
const repositories = fc.uniqueArray(repository, { maxLength: 2 })

const check = (
  property: (chosen: RoutedComputer | undefined, computers: ReadonlyArray<RoutedComputer>, wanted: Set<string>) => void
) =>
  fc.assert(
    fc.property(computers, repositories, (computers, repositories) => {
      const id = route(computers, repositories, now)
      const chosen = computers.find((one) => one.id === id)
      assert.strictEqual(chosen?.id ?? null, id)
      property(chosen, computers, new Set(repositories.map((name) => name.toLowerCase())))
    }),
    { numRuns: 2_000 }
  )

const live = timestamp(now - liveMillis)
const liveSessions = ({ sessions }: RoutedComputer) => sessions.filter(({ lastSeenAt }) => lastSeenAt > live)
const sessionsIn = (computer: RoutedComputer, wanted: Set<string>) =>
  liveSessions(computer).filter(({ repository }) => repository !== null && wanted.has(repository.toLowerCase()))
const last = (seen: ReadonlyArray<{ readonly lastSeenAt: string }>) =>
  seen
    .map(({ lastSeenAt }) => lastSeenAt)
    .toSorted()
    .at(-1) ?? ""
const seen = (computer: RoutedComputer) => last([computer, ...computer.sessions])

describe("routing", () => {
  it("finds a computer wherever there is one", () => {
    check((chosen, computers) => assert.strictEqual(chosen === undefined, computers.length === 0))
  })

  it("prefers a live session in one of the repositories, the latest of them", () => {
    check((chosen, computers, wanted) => {
      const best = last(computers.flatMap((one) => sessionsIn(one, wanted)))
      if (best !== "") assert.strictEqual(last(sessionsIn(chosen!, wanted)), best)
    })
  })

  it("else takes the latest live session", () => {
    check((chosen, computers, wanted) => {
      if (computers.some((one) => sessionsIn(one, wanted).length > 0)) return
      const best = last(computers.flatMap(liveSessions))
      if (best !== "") assert.strictEqual(last(liveSessions(chosen!)), best)
    })
  })

  it("else takes the computer that was seen last, live or not", () => {
    check((chosen, computers) => {
      if (chosen === undefined || computers.some((one) => liveSessions(one).length > 0)) return
      assert.strictEqual(seen(chosen), computers.map(seen).toSorted().at(-1))
    })
  })

  it("does not depend on the order of its input", () => {
    fc.assert(
      fc.property(computers, repositories, fc.infiniteStream(fc.nat()), (computers, repositories, keys) => {
        const mixed = computers
          .map((one) => ({ key: keys.next().value ?? 0, one: { ...one, sessions: one.sessions.toReversed() } }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ one }) => one)
        assert.strictEqual(route(mixed, repositories.toReversed(), now), route(computers, repositories, now))
      })
    )
  })
})
