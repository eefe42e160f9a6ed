import { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import {
  type CreateTestRule,
  maxTestRules,
  maxTicketsOfRule,
  type TestRule,
  type UpdateTestRule
} from "@delivery/domain/flow/TestRule"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { PersonId, TestRuleId } from "@delivery/domain/Ids"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { Audit } from "../audit/Audit.ts"
import { EnvironmentsRepo } from "../catalog/EnvironmentsRepo.ts"
import { ProductsRepo } from "../catalog/ProductsRepo.ts"
import { Settings } from "../Config.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { listed } from "../planning/TicketAnswers.ts"
import { checkOwner, checkProject } from "../planning/TicketRules.ts"
import { TeamsRepo } from "../planning/TeamsRepo.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { viewerOf } from "../planning/Viewer.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { type FoundTestRule, type TestRuleRow, TestRulesRepo } from "./TestRulesRepo.ts"
import { labelOf } from "./TestRulesWording.ts"

type Refusal = InvalidInput | NotFound | Forbidden | Conflict

/** Rules that make tickets of failing tests (docs/contract.md, Test rules). */
export class TestRules extends Context.Service<
  TestRules,
  {
    readonly list: Effect.Effect<ReadonlyArray<TestRule>, NotFound, Caller>
    readonly create: (input: CreateTestRule) => Effect.Effect<TestRule, Refusal, Caller>
    readonly update: (id: string, input: UpdateTestRule) => Effect.Effect<TestRule, Refusal, Caller>
    readonly delete: (id: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
    /** Those that the rule has made and that the caller sees, newest first. */
    readonly tickets: (id: string) => Effect.Effect<ReadonlyArray<TicketSummary>, NotFound, Caller>
  }
>()("@delivery/server/flow/TestRules") {
  static readonly layer = Layer.effect(TestRules, Effect.gen(make))
}

interface Dependencies {
  readonly repo: TestRulesRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly environments: EnvironmentsRepo["Service"]
  readonly teams: TeamsRepo["Service"]
  readonly tickets: TicketsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly audit: Audit["Service"]
  readonly nextId: NextId["Service"]
  readonly baseUrl: string
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* TestRulesRepo,
    products: yield* ProductsRepo,
    environments: yield* EnvironmentsRepo,
    teams: yield* TeamsRepo,
    tickets: yield* TicketsRepo,
    storage: yield* Storage,
    events: yield* Events,
    audit: yield* Audit,
    nextId: yield* NextId,
    baseUrl: (yield* Settings).baseUrl
  }
  return TestRules.of({
    list: list(dependencies),
    create: create(dependencies),
    update: update(dependencies),
    delete: remove(dependencies),
    tickets: ticketsOf(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    return (yield* repo.list(viewerOf(yield* anyRole))).map(present)
  }).pipe(Effect.withSpan("TestRules.list"))

const ticketsOf = ({ baseUrl, repo, tickets }: Dependencies) =>
  Effect.fn("TestRules.tickets")(function* (id: string) {
    const by = yield* anyRole
    const viewer = viewerOf(by)
    const rule = isId(id) ? yield* repo.find(viewer, id as TestRuleId) : undefined
    if (rule === undefined) return yield* NotFound.of("test rule", id)
    const made = yield* repo.made(rule.id, maxTicketsOfRule)
    const found = yield* Effect.forEach(made, (ticket) => tickets.find(viewer, ticket), { concurrency: 8 })
    return found.flatMap((ticket) => (ticket === undefined ? [] : [listed(baseUrl, by, ticket)]))
  })

/** A person, as whom a rule can act. */
const author: Effect.Effect<{ readonly by: Access; readonly authorId: PersonId }, NotFound | Forbidden, Caller> =
  Effect.flatMap(atLeast("member"), (by) =>
    by.principal.kind === "user"
      ? Effect.succeed({ by, authorId: by.principal.id })
      : Effect.fail(
          new Forbidden({
            message: "A rule acts as the person who made it: account API keys and agents have none.",
            reason: "account_key"
          })
        )
  )

const create = (dependencies: Dependencies) => {
  const { events, nextId, repo, storage } = dependencies
  const resolve = resolving(dependencies)
  return Effect.fn("TestRules.create")(function* (input: CreateTestRule) {
    const { authorId, by } = yield* author
    const created = Effect.gen(function* () {
      const at = timestamp(yield* Clock.currentTimeMillis)
      const { fields, product } = yield* resolve(by, undefined, input)
      yield* repo.hold(fields.productId)
      if ((yield* repo.count(fields.productId)) >= maxTestRules) return yield* tooMany
      const rule: TestRuleRow = {
        ...fields,
        id: yield* nextId<TestRuleId>(),
        workspaceId: by.workspace.id,
        authorId,
        state: "active",
        createdAt: at,
        updatedAt: at
      }
      yield* repo.insert(rule, yield* events.make(by, { kind: "test_rule_created", ...about(rule, product) }))
      return present((yield* repo.find(viewerOf(by), rule.id))!)
    })
    return yield* storage.transaction(created)
  })
}

const update = (dependencies: Dependencies) => {
  const { audit, events, repo, storage } = dependencies
  const resolve = resolving(dependencies)
  return Effect.fn("TestRules.update")(function* (id: string, input: UpdateTestRule) {
    const { authorId, by } = yield* author
    const viewer = viewerOf(by)
    const changed = Effect.gen(function* () {
      const found = isId(id) ? yield* repo.find(viewer, id as TestRuleId) : undefined
      if (found === undefined) return yield* NotFound.of("test rule", id)
      yield* repo.hold(found.productId)
      const before = yield* repo.find(viewer, found.id)
      if (before === undefined) return yield* NotFound.of("test rule", id)
      const { fields, product } = yield* resolve(by, before, input)
      const rule: TestRuleRow = {
        ...fields,
        id: before.id,
        workspaceId: before.workspaceId,
        authorId,
        state: input.state ?? before.state,
        createdAt: before.createdAt,
        updatedAt: yield* nextUpdate(before)
      }
      const isMoved = rule.productId !== before.productId
      if (isMoved && (yield* repo.count(rule.productId)) >= maxTestRules) return yield* tooMany
      yield* repo.update(rule, yield* events.make(by, { kind: "test_rule_updated", ...about(rule, product) }))
      if (rule.completion !== before.completion) {
        // What its tickets need from now on.
        const changes = [{ field: "completion", from: before.completion, to: rule.completion }]
        const action = rule.completion === "free" ? "evidence_waived" : "evidence_changed"
        yield* audit.record(by, { action, subject: about(rule, product).subject, changes })
      }
      return present((yield* repo.find(viewer, rule.id))!)
    })
    return yield* storage.transaction(changed)
  })
}

const remove = ({ events, repo, storage }: Dependencies) =>
  Effect.fn("TestRules.delete")(function* (id: string) {
    const { by } = yield* author
    const removed = Effect.gen(function* () {
      const found = isId(id) ? yield* repo.find(viewerOf(by), id as TestRuleId) : undefined
      if (found === undefined) return yield* NotFound.of("test rule", id)
      yield* repo.hold(found.productId)
      if ((yield* repo.find(viewerOf(by), found.id)) === undefined) return yield* NotFound.of("test rule", id)
      yield* repo.delete(
        found.id,
        yield* events.make(by, { kind: "test_rule_deleted", ...about(found, found.product) })
      )
    })
    yield* storage.transaction(removed)
  })

interface Resolved {
  readonly fields: Omit<TestRuleRow, "id" | "workspaceId" | "authorId" | "state" | "createdAt" | "updatedAt">
  /** The slug of the product, which may have been named by its id. */
  readonly product: string
}

/** What a body makes of the rule before it, with its references, which must exist and agree. */
const resolving = ({ environments, products, teams, tickets }: Dependencies) =>
  Effect.fnUntraced(function* (by: Access, before: FoundTestRule | undefined, input: UpdateTestRule) {
    const viewer = viewerOf(by)
    const productRef = input.product ?? before?.product ?? ""
    const product = yield* products.find(viewer.workspaceId, productRef)
    if (product === undefined) return yield* NotFound.reference("product", productRef)
    const environmentRef = input.environment === undefined ? (before?.environment ?? null) : input.environment
    const environment =
      environmentRef === null ? undefined : yield* environments.find(viewer.workspaceId, environmentRef)
    if (environmentRef !== null && environment === undefined) {
      return yield* NotFound.reference("environment", environmentRef)
    }
    const teamKey = input.team ?? before?.team ?? ""
    const team = yield* teams.find(viewer, teamKey)
    if (team === undefined) return yield* NotFound.reference("team", teamKey)
    const projectRef = input.project === undefined ? (before?.projectId ?? null) : input.project
    const project = projectRef === null ? null : yield* tickets.findProject(viewer, projectRef)
    if (project === undefined) return yield* NotFound.reference("project", projectRef ?? undefined)
    const ownerRef = input.owner === undefined ? (before?.ownerId ?? null) : input.owner
    const resolved = yield* tickets.resolve({
      workspaceId: viewer.workspaceId,
      teamId: team.id,
      owner: ownerRef ?? undefined,
      projectId: project?.id
    })
    if (ownerRef !== null && resolved.owner === undefined) return yield* NotFound.reference("owner", ownerRef)
    const owner = ownerRef === null ? undefined : resolved.owner?.owner
    const isOtherOwner = input.owner !== undefined
    const ask = input.ask === undefined ? (isOtherOwner ? null : (before?.ask ?? null)) : input.ask
    if (ask !== null && owner?.kind !== "agent") return yield* InvalidInput.at("ask", "Expected an agent as the owner")
    if (product.archivedAt !== null) return yield* Conflict.archived("product")
    if (team.archivedAt !== null) return yield* Conflict.archived("team")
    if (project !== null) yield* checkProject(project, resolved)
    if (owner !== undefined) yield* checkOwner({ ...team, archived: false }, resolved, isOtherOwner)
    const { failures, ofLast = failures } = input.when ?? before!
    const fields: Resolved["fields"] = {
      productId: product.id,
      environmentId: environment?.id ?? null,
      branch: input.branch === undefined ? (before?.branch ?? null) : input.branch,
      coverage: input.coverage === undefined ? (before?.coverage ?? null) : input.coverage,
      failures,
      ofLast,
      teamId: team.id,
      projectId: project?.id ?? null,
      ownerKind: owner?.kind ?? null,
      ownerId: owner?.id ?? null,
      ask,
      above: input.above ?? before?.above ?? 10,
      closeAfter: input.closeAfter ?? before?.closeAfter ?? 3,
      completion: input.completion ?? before?.completion ?? "free"
    }
    return { fields, product: product.slug } satisfies Resolved
  })

/** The subject of an event about a rule, which those see who see its team. */
export const about = (
  rule: Pick<TestRuleRow, "id" | "teamId" | "branch" | "failures" | "ofLast">,
  product: string
): Omit<NewEvent, "kind"> => ({
  subject: { type: "test_rule", id: rule.id, label: labelOf(rule, product), path: "test-rules" },
  teams: [rule.teamId]
})

const present = (rule: FoundTestRule): TestRule => ({
  id: rule.id,
  product: rule.product,
  environment: rule.environment,
  branch: rule.branch,
  coverage: rule.coverage,
  when: { failures: rule.failures, ofLast: rule.ofLast },
  team: rule.team,
  project: rule.project,
  owner: rule.ownerId,
  ask: rule.ask,
  above: rule.above,
  closeAfter: rule.closeAfter,
  completion: rule.completion,
  author: rule.author,
  state: rule.state,
  createdAt: rule.createdAt,
  updatedAt: rule.updatedAt
})

const tooMany = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: `The product has ${maxTestRules} rules already.`, reason: "too_many_rules" }))
)
