import {
  maxTags,
  type TicketChanges,
  type UpdatedTicket,
  type UpdateTicket,
  type UpdateTickets
} from "@delivery/domain/planning/Ticket"
import { maxListedCases } from "@delivery/domain/planning/TicketCases"
import { datesInCategory } from "@delivery/domain/planning/StatusTimes"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import { Effect } from "effect"
import { type Access, atLeast } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { rankBetween } from "./Ranks.ts"
import { listed, present, projectPart, rowOf, teamPart } from "./TicketAnswers.ts"
import { changesOf, updateEvents } from "./TicketEvents.ts"
import { concernedBy } from "./TicketNotifications.ts"
import { keepEarlier } from "./TicketTexts.ts"
import { ownerRefOf } from "./TicketOwners.ts"
import {
  checkCompletion,
  checkExpected,
  checkHolding,
  checkOwner,
  checkPersons,
  checkProject,
  referencesOf
} from "./TicketRules.ts"
import type {
  LockedProject,
  LockedTeam,
  ResolvedReferences,
  TagPart,
  TeamStatus,
  TicketDetails
} from "./TicketsRepo.ts"
import {
  type Dependencies,
  findCases,
  findLocked,
  findTeam,
  isSamePlace,
  locate,
  lock,
  untilLocked
} from "./TicketTransactions.ts"
import { type Viewer, viewerOf } from "./Viewer.ts"

/** What an update has locked, and what its body refers to. */
interface Held {
  readonly before: TicketDetails
  /** The team that the ticket is to be in, and whether it is another one. */
  readonly team: LockedTeam
  readonly isMoved: boolean
  /** That team, and the one that the ticket is in. */
  readonly teams: ReadonlyArray<LockedTeam>
  /** The project that the body names; or the ticket's own, where the change must agree with it. */
  readonly project: LockedProject | null
  readonly resolved: ResolvedReferences
}

type References = Effect.Success<ReturnType<typeof referencesOf>>

/** The body of a change of one ticket, or of many. */
type Changes = UpdateTicket & TicketChanges

export const update = (dependencies: Dependencies) => {
  const { baseUrl } = dependencies
  const tryUpdate = updateOnce(dependencies)
  const retry = untilLocked(dependencies)
  return Effect.fn("Tickets.update")(function* (ref: string, input: UpdateTicket) {
    const by = yield* atLeast("member")
    return present(baseUrl, by, yield* retry(tryUpdate(by, ref, input)))
  })
}

/** One after the other, each in a transaction of its own: it never holds the locks of two tickets. */
export const updateMany = (dependencies: Dependencies) => {
  const { baseUrl } = dependencies
  const tryUpdate = updateOnce(dependencies)
  const retry = untilLocked(dependencies)
  const checkOnce = eachOnce(dependencies)
  return Effect.fn("Tickets.updateMany")(function* ({ changes, tickets }: UpdateTickets) {
    const by = yield* atLeast("member")
    yield* checkOnce(viewerOf(by), tickets)
    return yield* Effect.forEach(tickets, (ticket) =>
      Effect.match(retry(tryUpdate(by, ticket, changes)), {
        onSuccess: (changed): UpdatedTicket => ({ ticket, ok: true, value: listed(baseUrl, by, changed) }),
        onFailure: (error): UpdatedTicket => ({ ticket, ok: false, error: refusalOf(error) })
      })
    )
  })
}

const refusalOf = (error: InvalidInput | NotFound | Forbidden | Conflict) => ({
  _tag: error._tag,
  message: error.message,
  ...("reason" in error && error.reason !== undefined ? { reason: error.reason } : {}),
  ...("missing" in error && error.missing !== undefined ? { missing: error.missing.slice(0, maxListedCases) } : {})
})

/** Fails where two of the refs name one ticket. */
const eachOnce = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (viewer: Viewer, refs: ReadonlyArray<string>) {
    const seen = new Set<string>()
    for (const [index, ref] of refs.entries()) {
      const id = (yield* repo.locate(viewer, ref))?.id
      if (id !== undefined && seen.has(id)) {
        return yield* InvalidInput.at(`tickets[${index}]`, "This ticket is named twice.")
      }
      if (id !== undefined) seen.add(id)
    }
  })

/** Undefined where the ticket moved before it was locked. */
const updateOnce = (dependencies: Dependencies) => {
  const { events, guards, notifications, repo } = dependencies
  const lockForUpdate = hold(dependencies)
  const findCasesOf = findCases(dependencies)
  return Effect.fnUntraced(function* (by: Access, ref: string, input: Changes) {
    const held = yield* lockForUpdate(viewerOf(by), ref, input)
    if (held === undefined) return undefined
    const { before, isMoved, resolved, team } = held
    yield* checkPersons(by, input, before)
    const references = yield* referencesOf(input, resolved, held.project)
    const after = changed(held, input, references, yield* findCasesOf(viewerOf(by), input.cases))
    if (after.tags.length > maxTags) {
      return yield* InvalidInput.at("addTags", `The ticket would have more than ${maxTags} tags.`)
    }
    const changes = changesOf(before, after)
    if (changes.length === 0) return before
    if (input.expected !== undefined) yield* checkExpected(before, input.expected)
    const changedFields = new Set(changes.map(({ field }) => field))
    yield* checkCompletion(after)
    yield* checkHolding(by, before, after)
    yield* checkChange(held, after, changedFields)
    const at = yield* nextUpdate(before)
    const {
      changes: told,
      events: more,
      ticket: stored
    } = yield* guards.changing(by, {
      before,
      override: input.override,
      after: {
        ...after,
        ...datesInCategory(before, before.status.category, after.status.category, at),
        ...(isMoved ? { number: yield* repo.takeNumber(team.id), rank: rankBetween(resolved.lastRank, null) } : {}),
        pastOwners: changedFields.has("owner") ? pastOwnersOf(before, at) : before.pastOwners,
        updatedAt: at
      }
    })
    const newEvents = [...updateEvents(before, stored, [...changes, ...told]), ...more]
    const madeEvents = yield* Effect.all(newEvents.map((event) => events.make(by, event)))
    const isReworded = ["team", "title", "description"].some((field) => changedFields.has(field))
    const tagIds = changedFields.has("tags") ? stored.tags.map(({ id }) => id) : undefined
    yield* repo.update(rowOf(by.workspace.id, stored), tagIds, madeEvents, isReworded)
    yield* keepEarlier(dependencies, by, before, stored)
    yield* notifications.endAssignment(before, stored)
    yield* notifications.notify(by, stored, concernedBy(before, stored))
    return stored
  })
}

/** Undefined where the ticket moved before it was locked. */
const hold = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const team = findTeam(dependencies)
  const find = locate(dependencies)
  const lockTicket = lock(dependencies)
  const findTicket = findLocked(dependencies)
  return Effect.fnUntraced(function* (viewer: Viewer, ref: string, input: Changes) {
    const place = yield* find(viewer, ref)
    const targetId = input.team === undefined ? place.teamId : (yield* team(viewer, input.team)).id
    const isMoved = targetId !== place.teamId
    const teams = yield* repo.lockTeams([...new Set([place.teamId, targetId])], isMoved ? "exclusive" : "shared")
    const needsProject = isMoved || typeof input.milestone === "number"
    const projectRef = input.project === undefined ? (needsProject ? place.projectId : null) : input.project
    const project = projectRef === null ? null : yield* repo.lockProject(viewer, projectRef)
    if (project === undefined) {
      return typeof input.project === "string" ? yield* NotFound.reference("project", input.project) : undefined
    }
    const now = yield* lockTicket(place.id, ref)
    if (!isSamePlace(place, now)) return undefined
    const before = yield* findTicket(viewer, place.id, ref)
    const resolved = yield* repo.resolve({
      workspaceId: viewer.workspaceId,
      teamId: targetId,
      owner: input.owner ?? (isMoved && input.owner === undefined ? before.owner?.id : undefined),
      projectId: project?.id,
      milestone: input.milestone ?? undefined,
      tags: input.tags ?? input.addTags
    })
    const held: Held = { before, team: teams.get(targetId)!, isMoved, teams: [...teams.values()], project, resolved }
    return held
  })
}

/**
 * The ticket after the change. In another team it gets the first status of its category, and loses the tags of the team
 * that it leaves; in another project it loses its milestone.
 */
const changed = (
  { before, isMoved, project, resolved, team }: Held,
  input: Changes,
  { milestone, owner, status, tags }: References,
  cases: TicketDetails["cases"] | undefined
): TicketDetails => {
  const category = input.category ?? (isMoved ? before.status.category : undefined)
  const kept = isMoved ? before.tags.filter(({ teamId }) => teamId === null) : before.tags
  const isOtherProject = input.project !== undefined && (project?.id ?? null) !== (before.project?.id ?? null)
  return {
    ...before,
    title: input.title ?? before.title,
    description: input.description === undefined ? before.description : input.description,
    plan: input.plan === undefined ? before.plan : input.plan,
    team: teamPart(team),
    status: status ?? (category === undefined ? before.status : firstOf(resolved.statuses, category)),
    owner: owner === undefined ? before.owner : owner,
    project: input.project === undefined ? before.project : project && projectPart(project),
    milestone: milestone === undefined ? (isOtherProject ? null : before.milestone) : milestone,
    cases: cases === undefined ? before.cases : cases,
    completion: input.completion ?? before.completion,
    passes: input.passes ?? before.passes,
    blocks: input.blocks ?? before.blocks,
    tags: input.tags === undefined ? withChanges(kept, tags ?? [], input.removeTags ?? []) : (tags ?? [])
  }
}

/** Those who owned the ticket, with who has owned it until now. */
const pastOwnersOf = ({ owner, pastOwners }: TicketDetails, until: string): TicketDetails["pastOwners"] => {
  if (owner === null) return pastOwners
  const others = (pastOwners ?? []).filter(({ id }) => id !== owner.id)
  return [...others, { ...ownerRefOf(owner), until }]
}

const withChanges = (
  tags: ReadonlyArray<TagPart>,
  added: ReadonlyArray<TagPart>,
  removed: ReadonlyArray<string>
): ReadonlyArray<TagPart> => [
  ...new Map(
    [...tags, ...added].filter(({ id }) => !removed.includes(id)).map((tag): [string, TagPart] => [tag.id, tag])
  ).values()
]

/** Every category keeps at least one status. */
const firstOf = (statuses: ReadonlyArray<TeamStatus>, category: StatusCategory): TeamStatus =>
  statuses.filter((status) => status.category === category).toSorted((a, b) => a.position - b.position)[0]!

const checkChange = Effect.fnUntraced(function* (
  { isMoved, project, resolved, team, teams }: Held,
  { owner }: TicketDetails,
  changedFields: ReadonlySet<string>
): Effect.fn.Return<void, Conflict> {
  if (teams.some(({ archived }) => archived)) return yield* Conflict.archived("team")
  if (project !== null && (isMoved || changedFields.has("project") || changedFields.has("milestone"))) {
    yield* checkProject(project, resolved)
  }
  if (owner !== null && (isMoved || changedFields.has("owner"))) {
    yield* checkOwner(team, resolved, changedFields.has("owner"))
  }
})
