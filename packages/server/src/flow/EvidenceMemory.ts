import { shownName } from "@delivery/domain/flow/ShownName"
import type { AgentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { agents, apiKeys } from "../access/ActorRows.ts"
import { personBehind } from "../access/Actors.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { projectProducts } from "../planning/ProjectsRepo.ts"
import { teams } from "../planning/TeamsRepo.ts"
import { tickets } from "../planning/TicketsRepo.ts"
import { ticketStatuses } from "../planning/TicketStatusesRepo.ts"
import { testsDeploymentNow } from "../runs/TestedDeployment.ts"
import { type TestRunRow, testRuns, testRunTestsTable } from "../runs/TestRunsRepo.ts"
import { beganBy } from "../runs/TestTimes.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  EvidenceRepo,
  type EvidenceResult,
  evidenceRuns,
  olderFailures,
  olderInterrupted,
  olderResults
} from "./EvidenceRepo.ts"

export const layer = Layer.effect(
  EvidenceRepo,
  Effect.map(MemoryStorage, (memory) =>
    EvidenceRepo.of({
      results: results(memory),
      personsOf: (owners) =>
        memory.read((database) => [...new Set(owners.flatMap((owner) => personOf(database, owner) ?? []))]),
      makersOf: (id, since) =>
        memory.read((database) => {
          const key = database.table(apiKeys).get(id)
          const maker =
            key === undefined || key.createdAt <= since ? undefined : personBehind(database, { kind: "apiKey", id })
          return maker === undefined ? [] : [maker]
        }),
      needing: (status) =>
        memory.read((database) =>
          database
            .table(tickets)
            .filter(({ completion, statusId }) => statusId === status && completion === "evidence")
            .map(({ id }) => id)
            .toSorted(compare)
        ),
      holding: holding(memory)
    })
  )
)

const holding =
  (memory: MemoryStorage["Service"]): EvidenceRepo["Service"]["holding"] =>
  (workspaceId, of) =>
    memory.read((database) =>
      database
        .table(tickets)
        .filter((one) => one.workspaceId === workspaceId && one.completion === "evidence" && one.blocks)
        .filter((one) => ("teamId" in of ? one.teamId === of.teamId : one.projectId === of.projectId))
        .filter(({ statusId }) => {
          const { category } = database.table(ticketStatuses).get(statusId)!
          return category !== "completed" && category !== "canceled"
        })
        .filter((one) => database.table(projectProducts).find(({ projectId }) => projectId === one.projectId))
        .map(({ id, number, teamId, title }) => ({
          id,
          team: { key: database.table(teams).get(teamId)!.key },
          number,
          title
        }))
    )

const personOf = (database: MemoryDatabase, { id, kind }: { readonly kind: string; readonly id: string }) =>
  kind === "user" ? id : kind === "agent" ? database.table(agents).get(id as AgentId)!.personId : null

const results =
  (memory: MemoryStorage["Service"]): EvidenceRepo["Service"]["results"] =>
  (workspaceId, productId, caseIds) =>
    memory.read((database) => {
      const [newest, before] = newestRuns(database, workspaceId, productId)
      const finished = before
        .filter(({ result }) => result !== null)
        .flatMap((run) => resultsOf(database, run, caseIds))
      const kinds = Map.groupBy(
        finished,
        ({ caseId, environment, status }) => `${environment} ${status === "failed"} ${caseId}`
      )
      const interrupted = before.filter(({ result }) => result === null).slice(0, olderInterrupted)
      return [
        ...newest.flatMap((run) => resultsOf(database, run, caseIds)),
        ...[
          ...[...kinds.values()].flatMap(lastOf),
          ...interrupted.flatMap((run) => resultsOf(database, run, caseIds))
        ].toSorted((a, b) => b.number - a.number)
      ]
    })

/** Of the results of one kind, newest first, those that are looked at. */
const lastOf = (results: ReadonlyArray<EvidenceResult>): ReadonlyArray<EvidenceResult> => {
  const last = results.slice(0, olderResults)
  const committed = results
    .slice(0, olderFailures)
    .filter(({ dirty, status }) => status === "failed" && !dirty)
    .slice(0, olderResults)
  return [...new Set([...last, ...committed])]
}

/** The finished runs of the product that are looked at, newest first, and those before them. */
const newestRuns = (database: MemoryDatabase, workspaceId: WorkspaceId, productId: ProductId) => {
  const runs = database
    .table(testRuns)
    .filter((run) => run.workspaceId === workspaceId && run.productId === productId)
    .filter(({ finishedAt, result, state }) => result !== null || (state === "interrupted" && finishedAt !== null))
    .toSorted((a, b) => b.number - a.number)
  return [runs.slice(0, evidenceRuns), runs.slice(evidenceRuns)] as const
}

const resultsOf = (
  database: MemoryDatabase,
  run: TestRunRow,
  caseIds: ReadonlyArray<string>
): ReadonlyArray<EvidenceResult> => {
  const { archivedAt, slug: environment } = database.table(environments).get(run.environmentId)!
  const publisher = { kind: run.publisherKind, id: run.publisherId } as ActorRef
  const key = publisher.kind === "apiKey" ? database.table(apiKeys).get(publisher.id) : undefined
  return (database.table(testRunTestsTable).get(run.id) ?? [])
    .filter(({ caseId, status }) => caseIds.includes(caseId) && status !== "skipped")
    .filter(({ status }) => run.result !== null || status === "failed")
    .map(({ attempts, caseId, status, title }) => ({
      caseId,
      title: shownName(title),
      number: run.number,
      run: run.id,
      status,
      environment,
      isActive: archivedAt === null,
      branch: run.gitBranch,
      commit: run.gitSha,
      dirty: run.gitDirty,
      isOfDeployment: testsDeploymentNow(database, run),
      wasOfDeployment: testsDeployment(run),
      deploymentChanged: run.deploymentChanged === true,
      finishedAt: run.finishedAt!,
      startedAt: beganBy(attempts[0]?.startedAt ?? null, run.finishedAt!),
      publisher,
      personId: personOf(database, publisher),
      keyName: key?.name ?? null,
      keyMaker: key === undefined ? null : (personBehind(database, publisher) ?? null),
      keyMadeAt: key?.createdAt ?? null
    }))
}
