import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import { type ListedMute, maxMuted, maxMuteDays, type MuteCases } from "@delivery/domain/flow/Mute"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, type ActorRef, anyRole, atLeast } from "../access/Access.ts"
import { Audit } from "../audit/Audit.ts"
import { ProductsRepo } from "../catalog/ProductsRepo.ts"
import { Settings } from "../Config.ts"
import { ByItself } from "../events/ByItself.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import { present, rowOf } from "../planning/TicketAnswers.ts"
import { about, shownCases } from "../planning/TicketEvents.ts"
import { personBehind, TicketNotifications } from "../planning/TicketNotifications.ts"
import { type TicketDetails, TicketsRepo } from "../planning/TicketsRepo.ts"
import { findLocked, locate, lock, untilLocked } from "../planning/TicketTransactions.ts"
import { type Viewer, viewerOf } from "../planning/Viewer.ts"
import { CasesRepo } from "../runs/cases/CasesRepo.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { type MutingTicket, MutesRepo } from "./MutesRepo.ts"
import { changedTests, withNames } from "./NamedTests.ts"
import { type LateMute, lateTogether, OverdueMutes } from "./OverdueMutes.ts"

interface By {
  readonly workspace: { readonly id: WorkspaceId }
  readonly actor: ActorRef
}

/** Tickets that mute tests (docs/contract.md, Muting). */
export class Mutes extends Context.Service<
  Mutes,
  {
    /** @param product Its slug or id; without it, of all products. */
    readonly list: (product: string | undefined) => Effect.Effect<ReadonlyArray<ListedMute>, NotFound, Caller>
    readonly set: (
      ticket: string,
      input: MuteCases
    ) => Effect.Effect<Ticket, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly end: (ticket: string) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
    /** Ends what is no longer in force, in all workspaces. */
    readonly sweep: Effect.Effect<void>
  }
>()("@delivery/server/flow/Mutes") {
  static readonly layer = Layer.effect(Mutes, Effect.gen(make))
}

interface Dependencies {
  readonly repo: MutesRepo["Service"]
  readonly cases: CasesRepo["Service"]
  readonly tickets: TicketsRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly audit: Audit["Service"]
  readonly overdue: OverdueMutes["Service"]
  readonly notifications: TicketNotifications["Service"]
  readonly baseUrl: string
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* MutesRepo,
    cases: yield* CasesRepo,
    tickets: yield* TicketsRepo,
    products: yield* ProductsRepo,
    storage: yield* Storage,
    events: yield* Events,
    audit: yield* Audit,
    overdue: yield* OverdueMutes,
    notifications: yield* TicketNotifications,
    baseUrl: (yield* Settings).baseUrl
  }
  return Mutes.of({
    list: list(dependencies),
    set: set(dependencies),
    end: end(dependencies),
    sweep: sweep(dependencies)
  })
}

const now = Effect.map(Clock.currentTimeMillis, timestamp)

const list = ({ cases: casesRepo, products, repo }: Dependencies) =>
  Effect.fn("Mutes.list")(function* (ref: string | undefined) {
    const viewer = viewerOf(yield* anyRole)
    const product = ref === undefined ? undefined : yield* products.find(viewer.workspaceId, ref)
    if (ref !== undefined && product === undefined) return yield* NotFound.reference("product", ref)
    const at = yield* now
    const found = yield* repo.list(viewer, product?.id, at)
    const byProduct = Map.groupBy(found, ({ productId }) => productId)
    const named = new Map(
      yield* Effect.forEach(byProduct, ([productId, mutes]) => {
        const caseIds = [...new Set(mutes.flatMap(({ cases }) => cases))]
        return Effect.map(
          casesRepo.names({ workspaceId: viewer.workspaceId, productId }, caseIds),
          (names) => [productId, names] as const
        )
      })
    )
    return found.map(({ productId, ...mute }): ListedMute => {
      const cases = mute.cases.toSorted(compare)
      const names = named.get(productId)
      const tests = cases.map((caseId) => ({ caseId, title: null, file: null, ...names?.get(caseId) }))
      return { ...mute, cases, tests, overdue: mute.until <= at }
    })
  })

const set = (dependencies: Dependencies) => {
  const { baseUrl, overdue, products, repo, tickets } = dependencies
  const change = changing(dependencies)
  return Effect.fn("Mutes.set")(function* (ref: string, input: MuteCases) {
    const by = yield* atLeast("member")
    const until = timestamp(Date.parse(input.until))
    const decide = Effect.fnUntraced(function* (before: TicketDetails, isArchived: boolean) {
      // The lock makes mutes of a product serial, so that together they stay within the limit.
      const product = yield* products.lock(by.workspace.id, input.product)
      if (product === undefined) return yield* NotFound.reference("product", input.product)
      yield* checkUntil(until)
      if (isArchived) return yield* Conflict.archived("team")
      if (product.archivedAt !== null) return yield* Conflict.archived("product")
      if (isClosed(before)) return yield* closed
      const { owner } = yield* tickets.resolve({
        workspaceId: by.workspace.id,
        teamId: before.team.id,
        owner: before.owner?.id
      })
      if (owner?.active !== true) return yield* noOwner
      const named = { productId: product.id, product: product.slug }
      const mute: MuteDetails = { ...named, cases: input.cases, until, by: by.actor }
      const isSame = before.mute !== null && keyOf(before.mute) === keyOf(mute)
      // What the same call stored may have ended by itself since.
      if (isSame && (yield* repo.isInForce(before.id, yield* now))) return undefined
      if (input.expected !== undefined && !isExpected(before.mute, input.expected, yield* now)) return yield* changed
      yield* noteLate(overdue, by.workspace.id, before)
      const late = yield* stillLate(overdue, before.id, { productId: product.id, cases: input.cases })
      const others = yield* repo.countOthers(by.workspace.id, product.id, before.id)
      if (others + input.cases.length + (late?.cases.length ?? 0) > maxMuted) return yield* tooMany
      if (late === undefined) yield* overdue.forget(before.id, product.id)
      else yield* overdue.note(before.id, by.workspace.id, late)
      const after = { ...before, mute, cases: before.cases ?? { ...named, caseIds: input.cases } }
      return { after, event: muted(after, before.mute, mute) }
    })
    return present(baseUrl, by, yield* change(by, ref, decide))
  })
}

/** Notes what the ticket muted until a time that has passed: nothing but muting it anew, or its end, settles it. */
export const noteLate = Effect.fnUntraced(function* (
  overdue: OverdueMutes["Service"],
  workspaceId: WorkspaceId,
  { id, mute }: Pick<TicketDetails, "id" | "mute">
) {
  if (mute === null || mute.until > (yield* now)) return
  yield* overdue.note(id, workspaceId, lateTogether(yield* overdue.noted(id, mute.productId), mute))
})

/** Whether the ticket mutes what the caller knows of. A mute that is over is shown until somebody ends it, and is nothing. */
const isExpected = (mute: MuteDetails | null, expected: NonNullable<MuteCases["expected"]> | null, at: string) => {
  if (expected === null || mute === null) return expected === null && (mute === null || mute.until <= at)
  const { cases, product, until } = expected
  if (product !== mute.product && product !== mute.productId) return false
  return keyOf({ ...mute, cases, until: timestamp(Date.parse(until)) }) === keyOf(mute)
}

/** What is late of a product, less what the ticket mutes anew. */
const stillLate = Effect.fnUntraced(function* (
  overdue: OverdueMutes["Service"],
  ticket: TicketId,
  anew: Pick<LateMute, "cases" | "productId">
) {
  const late = yield* overdue.noted(ticket, anew.productId)
  const again = new Set(anew.cases)
  const cases = late?.cases.filter((caseId) => !again.has(caseId)) ?? []
  return late === undefined || cases.length === 0 ? undefined : { ...late, cases }
})

const end = (dependencies: Dependencies) => {
  const { overdue } = dependencies
  const change = changing(dependencies)
  return Effect.fn("Mutes.end")(function* (ref: string) {
    const by = yield* atLeast("member")
    const decide = Effect.fnUntraced(function* (before: TicketDetails, isArchived: boolean) {
      if (isArchived) return yield* Conflict.archived("team")
      if (before.mute === null) return undefined
      yield* noteLate(overdue, by.workspace.id, before)
      return { after: { ...before, mute: null }, event: unmuted(before, before.mute) }
    })
    yield* change(by, ref, decide)
  })
}

/** An event that is in the audit too where a person did it. */
type MuteEvent = Required<Pick<NewEvent, "changes">> & NewEvent & { readonly kind: "ticket_muted" | "ticket_unmuted" }

type MuteDetails = NonNullable<TicketDetails["mute"]>

type MutingDetails = TicketDetails & { readonly mute: MuteDetails }

/** What a change makes of a ticket. */
interface Decision {
  readonly after: TicketDetails
  readonly event: MuteEvent
}

/** Changes the ticket of a path, which the transaction holds, with its team; not where `decide` answers undefined. */
const changing = (dependencies: Dependencies) => {
  const { audit, storage, tickets } = dependencies
  const planning = { repo: tickets }
  const find = locate(planning)
  const lockTicket = lock(planning)
  const findTicket = findLocked(planning)
  const retry = untilLocked({ storage })
  const store = storing(dependencies)
  return Effect.fnUntraced(function* <E>(
    by: Access,
    ref: string,
    decide: (before: TicketDetails, isArchived: boolean) => Effect.Effect<Decision | undefined, E>
  ) {
    const viewer = viewerOf(by)
    const changed = Effect.gen(function* () {
      const place = yield* find(viewer, ref)
      const team = (yield* tickets.lockTeams([place.teamId], "shared")).get(place.teamId)!
      const held = yield* lockTicket(place.id, ref)
      if (held.teamId !== place.teamId) return undefined
      const before = yield* findTicket(viewer, place.id, ref)
      const decided = yield* decide(before, team.archived)
      if (decided === undefined) return before
      const { changes, kind, subject } = decided.event
      yield* audit.record(by, { action: kind, subject, changes })
      return yield* store(by, before, decided)
    })
    return yield* retry(changed)
  })
}

const storing = ({ events, tickets }: Pick<Dependencies, "events" | "tickets">) =>
  Effect.fnUntraced(function* (by: By, before: TicketDetails, { after, event }: Decision) {
    const stored = { ...after, updatedAt: yield* nextUpdate(before) }
    yield* tickets.update(rowOf(by.workspace.id, stored), undefined, [yield* events.make(by, event)], false)
    return stored
  })

/** How many mutes one turn of the sweep ends. */
const sweepBatch = 100

const sweep = (dependencies: Dependencies) => {
  const { overdue, repo, storage } = dependencies
  const endAll = endMutes(dependencies)
  const tell = tellOfEnd(dependencies)
  const endOver = Effect.fnUntraced(function* (ticket: MutingTicket) {
    let late: MutingDetails | undefined
    yield* endAll(
      [ticket],
      Effect.fnUntraced(function* (held) {
        const at = yield* now
        if (yield* repo.isInForce(held.id, at)) return undefined
        if (held.mute.until <= at && !isClosed(held)) late = held
        return { workspace: { id: ticket.workspaceId }, actor: held.mute.by }
      })
    ).pipe(Effect.provideService(ByItself, "end of the mute"))
    if (late === undefined) return
    yield* noteLate(overdue, ticket.workspaceId, late)
    yield* tell(ticket.workspaceId, late)
  })
  return Effect.gen(function* () {
    for (let over = sweepBatch; over === sweepBatch;) {
      const found = yield* repo.over(yield* now, sweepBatch)
      over = found.length
      for (const ticket of found) {
        yield* storage.transaction(endOver(ticket))
      }
    }
  }).pipe(Effect.withSpan("Mutes.sweep"))
}

/** Tells who answers for the ticket, and who muted, that the time of its mute is over. */
const tellOfEnd = ({ notifications, tickets }: Dependencies) =>
  Effect.fnUntraced(function* (workspaceId: WorkspaceId, ticket: MutingDetails) {
    const actor = ticket.mute.by
    const { owner: muter } = yield* tickets.resolve({ workspaceId, teamId: ticket.team.id, owner: actor.id })
    const concerned = [ticket.owner, muter?.owner].flatMap((one) => (one ? [personBehind(one)] : []))
    yield* notifications.notify({ workspace: { id: workspaceId }, actor }, ticket, { ticket_mute_ended: concerned })
  })

/**
 * Ends what tickets mute, in a transaction, which holds their teams and then each of them.
 *
 * @param decide Who does it; undefined where it goes on.
 */
export const endMutes = (dependencies: Pick<Dependencies, "events" | "tickets">) => {
  const { tickets } = dependencies
  const store = storing(dependencies)
  const endOne = Effect.fnUntraced(function* (
    { id, workspaceId }: MutingTicket,
    decide: (ticket: MutingDetails) => Effect.Effect<By | undefined>
  ) {
    const held = yield* tickets.lock(id)
    const before = held && (yield* tickets.find(everything(workspaceId), id))
    if (before === undefined || before.mute === null) return
    const by = yield* decide({ ...before, mute: before.mute })
    if (by !== undefined) {
      yield* store(by, before, { after: { ...before, mute: null }, event: unmuted(before, before.mute) })
    }
  })
  return Effect.fnUntraced(function* (
    muting: ReadonlyArray<MutingTicket>,
    decide: (ticket: MutingDetails) => Effect.Effect<By | undefined>
  ) {
    const places = yield* Effect.forEach(muting, ({ id, workspaceId }) => tickets.locate(everything(workspaceId), id))
    yield* tickets.lockTeams([...new Set(places.flatMap((place) => place?.teamId ?? []))], "shared")
    for (const ticket of muting) yield* endOne(ticket, decide)
  })
}

/** What the server itself sees of a workspace. */
const everything = (workspaceId: WorkspaceId): Viewer => ({ workspaceId, seesPrivateTeams: true, personId: null })

/** Whether the ticket is completed or canceled. */
export const isClosed = ({ status }: TicketDetails): boolean =>
  status.category === "completed" || status.category === "canceled"

const keyOf = ({ cases, productId, until }: MuteDetails): string =>
  JSON.stringify([productId, until, cases.toSorted(compare)])

const testsOf = ({ cases, product }: MuteDetails): string => shownCases({ product, caseIds: cases })!

const muted = (ticket: TicketDetails, before: MuteDetails | null, mute: MuteDetails): MuteEvent => ({
  kind: "ticket_muted",
  ...about(ticket),
  changes: [
    { field: "mute", ...namesOfChange(before, mute) },
    { field: "until", from: before && before.until, to: mute.until }
  ].filter(({ from, to }) => from !== to)
})

/** How many tests, with the names of those that came or went, as far as an event holds them. */
const namesOfChange = (before: MuteDetails | null, mute: MuteDetails) => {
  const isSameProduct = before?.productId === mute.productId
  const { added, gone } = isSameProduct
    ? changedTests(before.cases, mute.cases)
    : { added: mute.cases, gone: before?.cases ?? [] }
  return { from: before && namedWith(testsOf(before), gone), to: namedWith(testsOf(mute), added) }
}

const namedWith = (tests: string, caseIds: ReadonlyArray<string>): string =>
  caseIds.length === 0 ? tests : withNames(`${tests}, `, caseIds.toSorted(compare))

export const unmuted = (ticket: TicketDetails, mute: MuteDetails): MuteEvent => ({
  kind: "ticket_unmuted",
  ...about(ticket),
  changes: [
    { field: "mute", from: testsOf(mute), to: null },
    { field: "until", from: mute.until, to: null }
  ]
})

const checkUntil = Effect.fnUntraced(function* (until: string) {
  const millis = yield* Clock.currentTimeMillis
  if (until <= timestamp(millis)) return yield* InvalidInput.at("until", "Expected a time to come")
  if (until > timestamp(millis + maxMuteDays * 24 * 60 * 60_000)) {
    return yield* InvalidInput.at("until", `Expected a time at most ${maxMuteDays} days from now`)
  }
  return undefined
})

const closed = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The ticket is completed or canceled.", reason: "ticket_closed" }))
)

const changed = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "Somebody has changed what the ticket mutes.", reason: "mute_changed" }))
)

const tooMany = Effect.suspend(() =>
  Effect.fail(
    new Conflict({
      message: `At most ${maxMuted} tests of a product are muted at a time.`,
      reason: "too_many_mutes"
    })
  )
)

const noOwner = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "Nobody who is still there is responsible for the ticket.", reason: "no_owner" }))
)
