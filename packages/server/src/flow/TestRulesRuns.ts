import { isBroken, maxTicketsOfRun, sinceFailure } from "@delivery/domain/flow/TestRule"
import { Caller } from "@delivery/domain/identity/Authorization"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { AgentId, TestRunId, TicketId } from "@delivery/domain/Ids"
import { type Access, actorOf } from "../access/Access.ts"
import { Effect } from "effect"
import type { Messages } from "../agents/Messages.ts"
import type { EnvironmentsRepo } from "../catalog/EnvironmentsRepo.ts"
import { ByItself } from "../events/ByItself.ts"
import type { Events } from "../events/Events.ts"
import type { MembersRepo } from "../identity/MembersRepo.ts"
import type { Comments } from "../planning/Comments.ts"
import type { TeamRow, TeamsRepo } from "../planning/TeamsRepo.ts"
import type { Tickets } from "../planning/Tickets.ts"
import type { TicketsRepo } from "../planning/TicketsRepo.ts"
import { viewerOf } from "../planning/Viewer.ts"
import { grouped } from "../runs/cases/GroupedFailures.ts"
import { pageOf } from "../runs/RunAnswers.ts"
import type { FoundTestRun, TestRunsRepo } from "../runs/TestRunsRepo.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import type { Storage } from "../storage/Storage.ts"
import { about } from "./TestRules.ts"
import { type CaseTicket, type FoundTestRule, type TestRulesRepo, uncountedPass } from "./TestRulesRepo.ts"
import { type Failure, sorted } from "./TestRulesShares.ts"
import {
  descriptionOf,
  failedAgain,
  notAsked,
  ownedByNobody,
  passedAgain,
  type RunPlace,
  runsOf,
  type Scope,
  stillWaits,
  titleOf
} from "./TestRulesWording.ts"

/** What rules do when a run finishes, in the transaction of that (docs/contract.md, Test rules). */

export interface Dependencies {
  readonly repo: TestRulesRepo["Service"]
  readonly runs: TestRunsRepo["Service"]
  readonly tickets: Tickets["Service"]
  readonly ticketsRepo: TicketsRepo["Service"]
  readonly comments: Comments["Service"]
  readonly messages: Messages["Service"]
  readonly members: MembersRepo["Service"]
  readonly environments: EnvironmentsRepo["Service"]
  readonly teams: TeamsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly baseUrl: string
}

/** The run that has finished, and what is known of it. */
interface Finished {
  readonly run: FoundTestRun
  readonly place: RunPlace
  /** The rules that are for it. */
  readonly rules: ReadonlyArray<FoundTestRule>
  readonly failures: ReadonlyArray<Failure>
  /** The tickets that have a comment about the run. */
  readonly told: Set<TicketId>
}

type Team = Pick<TeamRow, "visibility">

/** A rule that acts as its author. */
interface Acting {
  readonly rule: FoundTestRule
  readonly author: Access
  readonly as: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, Caller>>
}

/** Holds the rules of the product, so of runs that finish at once each sees what those before it have made. */
export const applyRules = (dependencies: Dependencies) => {
  const { baseUrl, repo, runs } = dependencies
  const act = acting(dependencies)
  const hold = holdTeams(dependencies)
  const applyAll = applyEach(dependencies)
  return Effect.fnUntraced(function* (by: Access, run: FoundTestRun) {
    const productId = yield* repo.watched(run.id)
    if (productId === undefined) return
    yield* repo.hold(productId)
    const rules = yield* repo.ofRun(run.id)
    const muted = new Set((run.mutedCount === 0 ? [] : yield* runs.mutes(run.id)).map(({ caseId }) => caseId))
    const failed = (yield* repo.failures(run.id)).filter(({ caseId }) => !muted.has(caseId))
    const { slug } = by.workspace
    const place: RunPlace = {
      page: pageOf(baseUrl, slug, run.number),
      files: `${baseUrl}/v1/workspaces/${slug}/test-runs/${run.number}/files/`
    }
    const failures = yield* grouped(failed, ({ error }) => error)
    const ready = yield* Effect.forEach(rules, (rule) => act(by, rule))
    yield* hold(
      failures,
      ready.filter((one) => one !== undefined)
    )
    yield* applyAll(by, { run, place, rules, failures }, ready)
  })
}

/** One rule after the other. What one cannot do is undone alone. */
const applyEach = (dependencies: Dependencies) => {
  const { storage, teams } = dependencies
  const stop = stopRule(dependencies)
  const apply = applyRule(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    finished: Omit<Finished, "told">,
    ready: ReadonlyArray<Acting | undefined>
  ) {
    const { rules } = finished
    let told: ReadonlySet<TicketId> = new Set()
    let left = maxTicketsOfRun
    for (const [index, rule] of rules.entries()) {
      const one = ready[index]
      const team = one && (yield* teams.find(viewerOf(one.author), rule.team))
      if (one === undefined || team === undefined || team.archivedAt !== null) {
        yield* stop(by, rule)
        continue
      }
      // Each of the rules behind it may make one ticket at least.
      const most = left - (rules.length - 1 - index)
      const toldByIt = new Set(told)
      const applied = storage.transaction(apply({ ...finished, told: toldByIt }, one, team, most))
      const made = yield* Effect.catch(applied, (error) =>
        Effect.as(
          Effect.logWarning(`The ${nameOf(rule)} of ${rule.product} did nothing for a run: ${error.message}`),
          undefined
        )
      )
      if (made === undefined) continue
      told = toldByIt
      left -= made
    }
  })
}

/** The rule as its author; undefined where they may not act for it any more. */
const acting = ({ members }: Dependencies) =>
  Effect.fnUntraced(function* ({ workspace }: Access, rule: FoundTestRule) {
    const member = yield* members.find(workspace.id, rule.authorId)
    if (member === undefined || !member.active || !isAtLeast(member.role, "member")) return undefined
    const principal = { kind: "user", id: member.id, name: member.name, email: member.email } as const
    const author: Access = { workspace: { ...workspace, role: member.role }, principal, actor: actorOf(principal) }
    const caller = {
      principal,
      membership: author.workspace,
      credential: { kind: "session", id: rule.id, lastFour: "" }
    } as const
    const one: Acting = {
      rule,
      author,
      as: (call) => call.pipe(Effect.provideService(Caller, caller), Effect.provideService(ByItself, nameOf(rule)))
    }
    return one
  })

/** As events and tickets call it. */
const nameOf = (rule: FoundTestRule): string => `test rule (${runsOf(rule)})`

/** Holds every team that may get or change a ticket, at once and in one order, before any ticket. */
const holdTeams = ({ repo, ticketsRepo }: Dependencies) =>
  Effect.fnUntraced(function* (failures: Finished["failures"], ready: ReadonlyArray<Acting>) {
    const ids = failures.map(({ caseId }) => caseId)
    const teams = yield* Effect.forEach(ready, ({ author, rule }) =>
      Effect.gen(function* () {
        const viewer = viewerOf(author)
        const named = ids.length === 0 ? [] : yield* repo.about(viewer, rule.productId, ids)
        const open = yield* repo.openOf(viewer, rule.id)
        return [rule.teamId, ...named.map(({ teamId }) => teamId), ...open.map(({ teamId }) => teamId)]
      })
    )
    yield* ticketsRepo.lockTeams([...new Set(teams.flat())], "exclusive")
  })

/** Stops a rule that cannot act as its author any more. */
const stopRule = ({ events, repo }: Dependencies) =>
  Effect.fnUntraced(function* ({ workspace }: Access, found: FoundTestRule) {
    const { author: _, environment: __, product, project: ___, team: ____, ...rule } = found
    const by = { workspace, actor: { kind: "user" as const, id: rule.authorId } }
    const stopped = { ...rule, state: "stopped" as const, updatedAt: yield* nextUpdate(rule) }
    const changes = [{ field: "state", from: rule.state, to: "stopped" }]
    yield* repo.update(stopped, yield* events.make(by, { kind: "test_rule_stopped", ...about(rule, product), changes }))
  })

/** Answers how many tickets it has made or reopened. */
const applyRule = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const tell = tellTicket(dependencies)
  const reopen = reopenTicket(dependencies)
  const open = openTicket(dependencies)
  const close = closeTickets(dependencies)
  return Effect.fnUntraced(function* (finished: Finished, one: Acting, team: Team, most: number) {
    const { failures, run } = finished
    const { author, rule } = one
    const ids = failures.map(({ caseId }) => caseId)
    const statuses = ids.length === 0 ? new Map() : yield* repo.statuses(rule, run.id, ids, rule.ofLast)
    const named = ids.length === 0 ? [] : yield* repo.about(viewerOf(author), rule.productId, ids)
    // A ticket that anybody may complete does not stand for one that needs evidence.
    const tickets = named.filter(({ completion }) => rule.completion === "free" || completion === "evidence")
    const { again, shares } = sorted({ failures, statuses, tickets, rule, most })
    for (const { completed, tests } of shares) {
      yield* completed === undefined
        ? open(finished, one, team, tests)
        : reopen(finished, one, completed.id, again.get(completed)!)
    }
    for (const [ticket, tests] of again) yield* tell(finished, one, ticket.id, tests)
    yield* close(finished, one)
    return shares.length
  })
}

/** Of several rules, one tells a ticket of a run. */
const tellTicket = ({ comments }: Dependencies) =>
  Effect.fnUntraced(function* (
    { place, run, told }: Finished,
    { as, rule }: Acting,
    id: TicketId,
    tests: ReadonlyArray<Failure>
  ) {
    if (told.has(id)) return
    yield* as(comments.create(id, { body: failedAgain(tests, run, place, nameOf(rule)) }))
    told.add(id)
  })

const reopenTicket = (dependencies: Dependencies) => {
  const move = moveTo(dependencies)
  const tell = tellTicket(dependencies)
  const ask = askOwner(dependencies)
  return Effect.fnUntraced(function* (
    finished: Finished,
    one: Acting,
    ticket: TicketId,
    tests: ReadonlyArray<Failure>
  ) {
    const refused = yield* move(one, ticket, "unstarted")
    yield* tell(finished, one, ticket, tests)
    if (refused === undefined) yield* ask(finished, one, ticket)
  })
}

/** Moves the ticket to the first status of a category. Answers why it was refused. */
const moveTo = ({ tickets }: Dependencies) =>
  Effect.fnUntraced(function* ({ as }: Acting, id: TicketId, category: "unstarted" | "completed") {
    const [moved] = yield* as(tickets.updateMany({ tickets: [id], changes: { category } }))
    return moved!.ok ? undefined : moved!.error
  })

const openTicket = (dependencies: Dependencies) => {
  const { comments, repo, tickets, ticketsRepo } = dependencies
  const ask = askOwner(dependencies)
  return Effect.fnUntraced(function* (finished: Finished, one: Acting, team: Team, tests: ReadonlyArray<Failure>) {
    const { as, rule } = one
    const { place, run, told } = finished
    const { isLinked, owner } = yield* ticketsRepo.resolve({
      workspaceId: rule.workspaceId,
      teamId: rule.teamId,
      owner: rule.ownerId ?? undefined,
      projectId: rule.projectId ?? undefined
    })
    const project =
      rule.project === null ? undefined : yield* ticketsRepo.findProject(viewerOf(one.author), rule.project)
    const mayOwn = owner?.active === true && (team.visibility === "open" || owner.seesPrivateTeam)
    const ticket = yield* as(
      tickets.create({
        team: rule.team,
        title: titleOf(tests, run),
        description: descriptionOf(tests, run, place, nameOf(rule)),
        cases: { product: rule.product, caseIds: tests.map(({ caseId }) => caseId) },
        completion: rule.completion,
        // An owner who has left or does not see it, and a project that is gone, cannot keep a failure from its ticket.
        owner: mayOwn ? rule.ownerId : null,
        project: isLinked && project?.archived === false ? rule.project : null
      })
    )
    yield* repo.link(rule, ticket.id)
    told.add(ticket.id)
    if (rule.ownerKind !== null && !mayOwn) {
      const body = ownedByNobody(rule.ownerKind, owner?.active === true, nameOf(rule))
      yield* as(comments.create(ticket.id, { body }))
    }
    yield* ask(finished, one, ticket.id)
  })
}

/** Sends the agent who owns the ticket a message, unless it has one. Where it cannot be sent, the ticket says so. */
const askOwner = ({ comments, messages, repo, ticketsRepo }: Dependencies) =>
  Effect.fnUntraced(function* ({ place, run }: Finished, { as, author, rule }: Acting, ticket: TicketId) {
    const owner = (yield* ticketsRepo.find(viewerOf(author), ticket))?.owner
    if (owner?.kind !== "agent" || (yield* repo.isAsked(ticket))) return
    const note = `Tests of this ticket failed in run ${run.number}: ${place.page}`
    const sent = as(messages.send({ agent: owner.id satisfies AgentId, ticket, ask: rule.ask ?? "build", note }))
    yield* Effect.catch(sent, (refused) => as(comments.create(ticket, { body: notAsked(refused, nameOf(rule)) })))
  })

/** In how many runs at most a test is looked for. */
const lookBack = 40

/** Completes the open tickets of the rule whose tests have all passed often enough. */
const closeTickets = (dependencies: Dependencies) => {
  const { comments, repo } = dependencies
  const move = moveTo(dependencies)
  const heldBy = holderOf(dependencies)
  const wait = tellWaiting(dependencies)
  const findOthers = othersThan(dependencies)
  return Effect.fnUntraced(function* (finished: Finished, one: Acting) {
    const { as, author, rule } = one
    const { place, run, told } = finished
    if (run.git.dirty || run.deploymentChanged || run.publisher.kind === "agent") return
    const open = (yield* repo.openOf(viewerOf(author), rule.id)).filter(({ id }) => !told.has(id))
    if (open.length === 0) return
    const ids = [...new Set(open.flatMap(({ caseIds }) => caseIds))]
    const statuses = yield* repo.statuses(rule, run.id, ids, lookBack)
    // Once for all tickets, and only where one is well.
    const others = yield* Effect.cached(findOthers(finished, rule))
    for (const ticket of open) {
      const { caseIds, id } = ticket
      const found = caseIds.map((caseId) => sinceFailure(statuses.get(caseId) ?? []))
      const passes = Math.min(...found.map((since) => countOf(since, "passed")))
      if (passes < rule.closeAfter) continue
      const holder = yield* heldBy(yield* others, ticket)
      // What needs more evidence than this stays open.
      const refused = holder === undefined ? yield* move(one, id, "completed") : undefined
      if (holder !== undefined || refused !== undefined) {
        if (holder !== undefined || refused?.reason === "evidence_missing") yield* wait(one, id, holder)
        continue
      }
      const elsewhere = yield* repo.failsElsewhere(rule, caseIds, id)
      const scope = scopeOf(rule, run.environment.name)
      const uncounted = Math.max(...found.map((since) => countOf(since, uncountedPass)))
      const body = passedAgain({ passes, uncounted, scope, elsewhere }, run, place, nameOf(rule))
      yield* as(comments.create(id, { body }))
    }
  })
}

const countOf = (statuses: ReadonlyArray<string>, status: string): number =>
  statuses.filter((one) => one === status).length

const scopeOf = ({ branch, coverage, environment }: FoundTestRule, name: string): Scope => ({
  environment: environment === null ? null : name,
  branch,
  coverage
})

/** Says once what a ticket waits for whose tests have passed often enough for its own rule, and again after they failed. */
const tellWaiting = ({ comments, environments }: Dependencies) =>
  Effect.fnUntraced(function* ({ as, rule }: Acting, id: TicketId, holder: FoundTestRule | undefined) {
    const nameIn = (one: FoundTestRule) =>
      one.environment === null
        ? Effect.succeed("")
        : Effect.map(environments.find(one.workspaceId, one.environment), (found) => found?.name ?? one.environment!)
    const body = stillWaits(
      {
        closeAfter: rule.closeAfter,
        scope: scopeOf(rule, yield* nameIn(rule)),
        waitsFor: holder && { closeAfter: holder.closeAfter, scope: scopeOf(holder, yield* nameIn(holder)) }
      },
      nameOf(rule)
    )
    const begin = body.slice(0, body.indexOf("("))
    const newest = yield* as(comments.newest(id, { limit: 50, bytes: 200_000 }))
    const last = newest.comments.findLast((comment) => comment.body.startsWith(begin))
    if (last?.body !== body) yield* as(comments.create(id, { body }))
  })

/** Another rule of the product, which may know that a test fails elsewhere. */
interface Other {
  readonly rule: FoundTestRule
  /** The run, where the rule is for it. */
  readonly run: TestRunId | undefined
  /** The tests that its own open tickets are about. */
  readonly caseIds: ReadonlySet<string>
}

const othersThan = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* ({ rules, run }: Finished, rule: FoundTestRule) {
    return yield* Effect.forEach(yield* repo.others(rule), (other) => {
      const viewer = { workspaceId: other.workspaceId, personId: other.authorId, seesPrivateTeams: true }
      const isOfRun = rules.some(({ id }) => id === other.id)
      return Effect.map(repo.openOf(viewer, other.id), (open): Other => ({
        rule: other,
        run: isOfRun ? run.id : undefined,
        caseIds: new Set(open.flatMap((ticket) => ticket.caseIds))
      }))
    })
  })

/**
 * The other rule in whose runs a test of a ticket has failed, since that was made, and not recovered. Where it has a ticket of that
 * rule, that one is about it.
 */
const holderOf = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (others: ReadonlyArray<Other>, { caseIds, id }: CaseTicket) {
    for (const { caseIds: own, rule, run } of others) {
      const left = caseIds.filter((caseId) => !own.has(caseId))
      if (left.length === 0) continue
      const statuses = yield* repo.statuses(rule, run, left, lookBack, id)
      if (left.some((caseId) => isBroken(statuses.get(caseId) ?? [], rule.closeAfter))) return rule
    }
    return undefined
  })
