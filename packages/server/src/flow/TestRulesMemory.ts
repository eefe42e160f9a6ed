import type { TestRunId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { failureText } from "@delivery/domain/runs/ErrorGroups"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { Effect, Layer } from "effect"
import { resolveActor } from "../access/Actors.ts"
import { messages } from "../agents/MessagesRepo.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { storeEvent } from "../events/EventsRepo.ts"
import { projects } from "../planning/ProjectsRepo.ts"
import { teams } from "../planning/TeamsRepo.ts"
import { type TicketRow, tickets } from "../planning/TicketsRepo.ts"
import { ticketStatuses } from "../planning/TicketStatusesRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { seesTeamInMemory } from "../planning/Visibility.ts"
import { proves } from "../runs/RunScope.ts"
import { type TestRunRow, testRuns, testRunTestsTable } from "../runs/TestRunsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  type CaseTicket,
  type FoundTestRule,
  lookedAt,
  lookedAtElsewhere,
  type TestRuleRow,
  testRules,
  TestRulesRepo,
  testRuleTickets,
  uncountedPass
} from "./TestRulesRepo.ts"

export const layer = Layer.effect(
  TestRulesRepo,
  Effect.map(MemoryStorage, (memory) =>
    TestRulesRepo.of({
      list: (viewer) => memory.read((database) => seen(database, viewer)),
      find: (viewer, id) => memory.read((database) => seen(database, viewer).find((rule) => rule.id === id)),
      count: (productId) =>
        memory.read((database) => database.table(testRules).filter((rule) => rule.productId === productId).length),
      insert: put(memory),
      update: put(memory),
      delete: remove(memory),
      // Transactions run one after the other.
      hold: () => Effect.void,
      watched: (run) =>
        memory.read((database) =>
          rulesFor(database, run).length === 0 ? undefined : database.table(testRuns).get(run)!.productId
        ),
      ofRun: (run) => memory.read((database) => rulesFor(database, run)),
      others: (rule) =>
        memory.read((database) =>
          database
            .table(testRules)
            .filter((one) => one.state === "active" && one.productId === rule.productId && one.id !== rule.id)
            .toSorted(byId)
            .map((one) => withNames(database, one))
        ),
      failures: failures(memory),
      statuses: statuses(memory),
      failsElsewhere: failsElsewhere(memory),
      about: about(memory),
      openOf: openOf(memory),
      made: (rule, limit) =>
        memory.read((database) =>
          database
            .table(testRuleTickets)
            .filter(({ ruleId, ticketId }) => ruleId === rule && database.table(tickets).get(ticketId) !== undefined)
            .map(({ ticketId }) => ticketId)
            .toSorted((a, b) => compare(b, a))
            .slice(0, limit)
        ),
      isAsked: (ticket) =>
        memory.read(
          (database) =>
            database
              .table(messages)
              .find(({ status, ticketId }) => ticketId === ticket && ["queued", "delivered"].includes(status)) !==
            undefined
        ),
      link: ({ id, workspaceId }, ticketId) =>
        memory.write((database) =>
          Effect.sync(() => database.table(testRuleTickets).set(ticketId, { ticketId, workspaceId, ruleId: id }))
        )
    })
  )
)

type Memory = MemoryStorage["Service"]
type Repo = TestRulesRepo["Service"]

const withNames = (database: MemoryDatabase, rule: TestRuleRow): FoundTestRule => ({
  ...rule,
  product: database.table(products).get(rule.productId)!.slug,
  environment: rule.environmentId && database.table(environments).get(rule.environmentId)!.slug,
  team: database.table(teams).get(rule.teamId)!.key,
  project: rule.projectId && database.table(projects).get(rule.projectId)!.slug,
  author: resolveActor(database, { kind: "user", id: rule.authorId })
})

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => compare(a.id, b.id)

const seen = (database: MemoryDatabase, viewer: Viewer): ReadonlyArray<FoundTestRule> =>
  database
    .table(testRules)
    .filter(
      (rule) =>
        rule.workspaceId === viewer.workspaceId &&
        seesTeamInMemory(database, viewer, database.table(teams).get(rule.teamId)!)
    )
    .toSorted(byId)
    .map((rule) => withNames(database, rule))

const put =
  (memory: Memory): Repo["insert"] =>
  (rule, event) =>
    memory.write((database) =>
      Effect.sync(() => {
        database.table(testRules).set(rule.id, rule)
        storeEvent(database, event)
      })
    )

const remove =
  (memory: Memory): Repo["delete"] =>
  (id, event) =>
    memory.write((database) =>
      Effect.sync(() => {
        database.table(testRules).delete(id)
        database.table(testRuleTickets).deleteWhere(({ ruleId }) => ruleId === id)
        storeEvent(database, event)
      })
    )

const isFor = (rule: TestRuleRow, run: TestRunRow): boolean =>
  rule.productId === run.productId &&
  (rule.environmentId ?? run.environmentId) === run.environmentId &&
  (rule.branch ?? run.gitBranch) === run.gitBranch &&
  (rule.coverage ?? run.coverage) === run.coverage &&
  testsDeployment(run)

const rulesFor = (database: MemoryDatabase, id: TestRunId): ReadonlyArray<FoundTestRule> => {
  const run = database.table(testRuns).get(id)
  if (run === undefined) return []
  return database
    .table(testRules)
    .filter((rule) => rule.state === "active" && isFor(rule, run))
    .toSorted(byId)
    .map((rule) => withNames(database, rule))
}

const testsOf = (database: MemoryDatabase, id: TestRunId) => database.table(testRunTestsTable).get(id) ?? []

const failures =
  (memory: Memory): Repo["failures"] =>
  (run) =>
    memory.read((database) =>
      testsOf(database, run)
        .filter(({ status }) => status === "failed")
        .toSorted((a, b) => compare(a.caseId, b.caseId))
        .map(({ attempts: [attempt], caseId, file, files, title }) => ({
          caseId,
          title,
          file,
          files: [...new Set([...files, ...attempt!.files])],
          error: failureText(attempt!)
        }))
    )

const statuses =
  (memory: Memory): Repo["statuses"] =>
  (rule, run, caseIds, limit, since) =>
    memory.read((database) => {
      const from = since === undefined ? undefined : database.table(tickets).get(since)!.createdAt
      const others = database
        .table(testRuns)
        .filter((one) => one.productId === rule.productId && one.result !== null && testsDeployment(one))
        .toSorted((a, b) => b.number - a.number)
        .slice(0, lookedAt)
        .filter((one) => one.id !== run && isFor(rule, one) && (from === undefined || one.finishedAt! >= from))
      const found = new Map<string, Array<string>>()
      const first = run === undefined ? [] : [run]
      const newest = others
        .slice(0, limit - first.length)
        .toSorted((a, b) => compare(b.finishedAt!, a.finishedAt!) || b.number - a.number)
      for (const id of [...first, ...newest.map((one) => one.id)]) {
        const isProof = proves(database.table(testRuns).get(id)!)
        for (const { caseId, status } of testsOf(database, id)) {
          if (status !== "skipped" && caseIds.includes(caseId)) {
            const told = status === "passed" && !isProof ? uncountedPass : status
            found.set(caseId, [...(found.get(caseId) ?? []), told])
          }
        }
      }
      return found
    })

const failsElsewhere =
  (memory: Memory): Repo["failsElsewhere"] =>
  (rule, caseIds, since) =>
    memory.read((database) => {
      const from = database.table(tickets).get(since)!.createdAt
      const elsewhere = database
        .table(testRuns)
        .filter((one) => one.productId === rule.productId && one.result !== null)
        .filter((one) => testsDeployment(one) && !isFor(rule, one) && one.finishedAt! >= from)
        .toSorted((a, b) => b.number - a.number)
        .slice(0, lookedAtElsewhere)
      const known = new Set<string>()
      for (const one of elsewhere) {
        const { environmentId, gitBranch, id, number } = one
        for (const { caseId, status } of testsOf(database, id)) {
          const key = JSON.stringify([environmentId, gitBranch, caseId])
          if (status === "skipped" || !caseIds.includes(caseId) || known.has(key)) continue
          if (status === "passed" && !proves(one)) continue
          known.add(key)
          if (status !== "failed") continue
          return { number, environment: database.table(environments).get(environmentId)!.name, branch: gitBranch }
        }
      }
      return undefined
    })

const categoryOf = (database: MemoryDatabase, ticket: TicketRow) =>
  database.table(ticketStatuses).get(ticket.statusId)!.category

const caseTicket = (database: MemoryDatabase, ticket: TicketRow): CaseTicket => ({
  id: ticket.id,
  teamId: ticket.teamId,
  category: categoryOf(database, ticket),
  caseIds: ticket.cases!.caseIds,
  completion: ticket.completion,
  ruleId: database.table(testRuleTickets).get(ticket.id)?.ruleId ?? null
})

const isShown = (database: MemoryDatabase, viewer: Viewer, { teamId }: TicketRow): boolean => {
  const team = database.table(teams).get(teamId)!
  return team.archivedAt === null && seesTeamInMemory(database, viewer, team)
}

const about =
  (memory: Memory): Repo["about"] =>
  (viewer, productId, caseIds) =>
    memory.read((database) =>
      database
        .table(tickets)
        .filter(
          (ticket) =>
            ticket.cases?.productId === productId &&
            ticket.cases.caseIds.some((caseId) => caseIds.includes(caseId)) &&
            isShown(database, viewer, ticket)
        )
        .toSorted(byId)
        .map((ticket) => caseTicket(database, ticket))
    )

const openOf =
  (memory: Memory): Repo["openOf"] =>
  (viewer, rule) =>
    memory.read((database) =>
      database
        .table(testRuleTickets)
        .filter(({ ruleId }) => ruleId === rule)
        .flatMap(({ ticketId }) => database.table(tickets).get(ticketId) ?? [])
        .filter(
          (ticket) =>
            ticket.cases !== null &&
            !["completed", "canceled"].includes(categoryOf(database, ticket)) &&
            isShown(database, viewer, ticket)
        )
        .toSorted(byId)
        .map((ticket) => caseTicket(database, ticket))
    )
