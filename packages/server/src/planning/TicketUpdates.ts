import type { UpdateTicket } from "@delivery/domain/planning/Ticket"
import { datesInCategory } from "@delivery/domain/planning/StatusTimes"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { Conflict, NotFound } from "@delivery/domain/Errors"
import { Effect } from "effect"
import { type Access, atLeast } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { rankBetween } from "./Ranks.ts"
import { present, projectPart, rowOf, teamPart } from "./TicketAnswers.ts"
import { changesOf, updateEvents } from "./TicketEvents.ts"
import { checkOwner, checkProject, referencesOf } from "./TicketRules.ts"
import type { LockedProject, LockedTeam, ResolvedReferences, TeamStatus, TicketDetails } from "./TicketsRepo.ts"
import {
  type Dependencies,
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

export const update = (dependencies: Dependencies) => {
  const tryUpdate = updateOnce(dependencies)
  const retry = untilLocked(dependencies)
  return Effect.fn("Tickets.update")(function* (ref: string, input: UpdateTicket) {
    const by = yield* atLeast("member")
    return yield* retry(tryUpdate(by, ref, input))
  })
}

/** Undefined where the ticket moved before it was locked. */
const updateOnce = (dependencies: Dependencies) => {
  const { baseUrl, events, repo } = dependencies
  const lockForUpdate = hold(dependencies)
  return Effect.fnUntraced(function* (by: Access, ref: string, input: UpdateTicket) {
    const held = yield* lockForUpdate(viewerOf(by), ref, input)
    if (held === undefined) return undefined
    const { before, isMoved, resolved, team } = held
    const after = changed(held, input, yield* referencesOf(input, resolved, held.project))
    const changes = changesOf(before, after)
    if (changes.length === 0) return present(baseUrl, by, before)
    const changedFields = new Set(changes.map(({ field }) => field))
    yield* checkChange(held, after, changedFields)
    const at = yield* nextUpdate(before)
    const stored: TicketDetails = {
      ...after,
      ...datesInCategory(before, before.status.category, after.status.category, at),
      ...(isMoved ? { number: yield* repo.takeNumber(team.id), rank: rankBetween(resolved.lastRank, null) } : {}),
      updatedAt: at
    }
    const madeEvents = yield* Effect.all(updateEvents(before, stored, changes).map((event) => events.make(by, event)))
    const tagIds = changedFields.has("tags") ? stored.tags.map(({ id }) => id) : undefined
    yield* repo.update(rowOf(by.workspace.id, stored), tagIds, madeEvents)
    return present(baseUrl, by, stored)
  })
}

/** Undefined where the ticket moved before it was locked. */
const hold = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const team = findTeam(dependencies)
  const find = locate(dependencies)
  const lockTicket = lock(dependencies)
  const findTicket = findLocked(dependencies)
  return Effect.fnUntraced(function* (viewer: Viewer, ref: string, input: UpdateTicket) {
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
      tags: input.tags
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
  input: UpdateTicket,
  { milestone, owner, status, tags }: References
): TicketDetails => {
  const isOtherProject = input.project !== undefined && (project?.id ?? null) !== (before.project?.id ?? null)
  return {
    ...before,
    title: input.title ?? before.title,
    description: input.description === undefined ? before.description : input.description,
    plan: input.plan === undefined ? before.plan : input.plan,
    team: teamPart(team),
    status: status ?? (isMoved ? firstOf(resolved.statuses, before.status.category) : before.status),
    owner: owner === undefined ? before.owner : owner,
    project: input.project === undefined ? before.project : project && projectPart(project),
    milestone: milestone === undefined ? (isOtherProject ? null : before.milestone) : milestone,
    tags: tags ?? (isMoved ? before.tags.filter(({ teamId }) => teamId === null) : before.tags)
  }
}

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
