import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { DeploymentLocks } from "../catalog/DeploymentLocks.ts"
import { RunTokens } from "../auth/RunTokens.ts"
import * as Files from "../files/Files.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import * as CaseCountingMemory from "./cases/CaseCountingMemory.ts"
import { caseCounting, caseQueue, caseRecounts, staleDays } from "./cases/CaseCountingRepo.ts"
import * as CaseCountingRounds from "./cases/CaseCountingRounds.ts"
import * as CaseCountingSql from "./cases/CaseCountingSql.ts"
import { CaseCounting } from "./cases/CaseCounting.ts"
import { Cases } from "./cases/Cases.ts"
import * as CasesHttp from "./cases/CasesHttp.ts"
import * as CasesMemory from "./cases/CasesMemory.ts"
import { caseDays, caseMedians, caseResults, productDays, testCases } from "./cases/CasesRepo.ts"
import * as CasesSql from "./cases/CasesSql.ts"
import * as EndedPublishers from "./EndedPublishers.ts"
import { RunErasure } from "./erasure/RunErasure.ts"
import * as RunErasureMemory from "./erasure/RunErasureMemory.ts"
import { erasedRuns, pastRuns } from "./erasure/RunErasureRepo.ts"
import * as RunErasureSql from "./erasure/RunErasureSql.ts"
import * as RunRetention from "./erasure/RunRetention.ts"
import * as FilesOriginHttp from "./FilesOriginHttp.ts"
import { Fixtures } from "./Fixtures.ts"
import * as LargeBodies from "./LargeBodies.ts"
import { LeaseWaits } from "./LeaseWaits.ts"
import { Retries } from "./Retries.ts"
import * as RetriesHttp from "./RetriesHttp.ts"
import * as RetriesMemory from "./RetriesMemory.ts"
import { testRunAttempts, testRunRetries } from "./RetriesRepo.ts"
import * as RetriesSql from "./RetriesSql.ts"
import { ResultChanges } from "./ResultChanges.ts"
import * as RunAuthorizationHttp from "./RunAuthorizationHttp.ts"
import { testRunPostings, testRunReindex, testRunSearch } from "./search/SearchTables.ts"
import * as TestRunIndexing from "./search/TestRunIndexing.ts"
import * as RunRequestsMemory from "./RunRequestsMemory.ts"
import { testRunRequests } from "./RunRequestsRepo.ts"
import * as RunRequestsSql from "./RunRequestsSql.ts"
import * as RunShardsMemory from "./RunShardsMemory.ts"
import { testRunShards } from "./RunShardsRepo.ts"
import * as RunShardsSql from "./RunShardsSql.ts"
import { SavedFilters } from "./SavedFilters.ts"
import * as SavedFiltersHttp from "./SavedFiltersHttp.ts"
import * as SavedFiltersMemory from "./SavedFiltersMemory.ts"
import { savedFilters } from "./SavedFiltersRepo.ts"
import * as SavedFiltersSql from "./SavedFiltersSql.ts"
import * as SemaphoreGauges from "./SemaphoreGauges.ts"
import { Semaphores } from "./Semaphores.ts"
import * as SemaphoresHttp from "./SemaphoresHttp.ts"
import { semaphoreHours, semaphoreLeases, semaphores, SemaphoresRepo } from "./SemaphoresRepo.ts"
import * as SemaphoresMemory from "./SemaphoresMemory.ts"
import * as SemaphoresSql from "./SemaphoresSql.ts"
import { SignedUrls } from "./SignedUrls.ts"
import * as TestRunExpiry from "./TestRunExpiry.ts"
import { TestRunFiles } from "./TestRunFiles.ts"
import * as TestRunFilesMemory from "./TestRunFilesMemory.ts"
import { testRunFiles } from "./TestRunFilesRepo.ts"
import * as TestRunFilesSql from "./TestRunFilesSql.ts"
import { testRuns, TestRunsRepo, testRunTests } from "./TestRunsRepo.ts"
import { runLabel } from "./TestRunState.ts"
import { TestRuns } from "./TestRuns.ts"
import * as TestRunsHttp from "./TestRunsHttp.ts"
import * as TestRunsMemory from "./TestRunsMemory.ts"
import * as TestRunsSql from "./TestRunsSql.ts"

/** Test runs, their retries and files, saved filters of them and of tests, and the semaphores that their tests share. */

export const tables = [
  testRuns,
  testRunTests,
  testRunShards,
  testRunRequests,
  testRunRetries,
  testRunAttempts,
  testRunFiles,
  testRunSearch,
  testRunPostings,
  testRunReindex,
  erasedRuns,
  pastRuns,
  testCases,
  caseResults,
  caseDays,
  caseMedians,
  productDays,
  caseCounting,
  caseQueue,
  caseRecounts,
  staleDays,
  savedFilters,
  semaphores,
  semaphoreLeases,
  semaphoreHours
]

export const layerSql = Layer.mergeAll(
  TestRunsSql.layer,
  RunShardsSql.layer,
  RunRequestsSql.layer,
  RetriesSql.layer,
  TestRunFilesSql.layer,
  RunErasureSql.layer,
  CasesSql.layer,
  CaseCountingSql.layer,
  SavedFiltersSql.layer,
  SemaphoresSql.layer
)

export const layerMemory = Layer.mergeAll(
  TestRunsMemory.layer,
  RunShardsMemory.layer,
  RunRequestsMemory.layer,
  RetriesMemory.layer,
  TestRunFilesMemory.layer,
  RunErasureMemory.layer,
  CasesMemory.layer,
  CaseCountingMemory.layer,
  SavedFiltersMemory.layer,
  SemaphoresMemory.layer
)

/** Identity's `MemberRuns`: interrupts what members publish whose access ends. */
const layerMemberRuns = EndedPublishers.layer

/** The `RunTokens` of `auth`: a reported token gives way to one that nobody has. */
const layerRunTokens = Layer.effect(
  RunTokens,
  Effect.gen(function* () {
    const repo = yield* SemaphoresRepo
    const newToken = yield* NewToken
    return RunTokens.of({
      end: Effect.fnUntraced(function* (tokenHash) {
        const holder = yield* repo.replaceToken(tokenHash, hashToken(yield* newToken("stk_")))
        return (
          holder && {
            workspaceId: holder.workspaceId,
            publisher: holder.publisher,
            run: { type: "run", id: holder.runId, label: runLabel + holder.run }
          }
        )
      })
    })
  })
)

/** The catalog's `DeploymentLocks`: the locked runs. */
export const layerDeploymentLocks = Layer.effect(
  DeploymentLocks,
  Effect.map(TestRunsRepo, (repo) =>
    DeploymentLocks.of({
      heldBy: (deployment) =>
        Effect.flatMap(Clock.currentTimeMillis, (millis) => repo.locks(deployment, timestamp(millis)))
    })
  )
)

/** All that this room supplies to lower ones. */
export const layerPorts = Layer.mergeAll(layerMemberRuns, layerRunTokens, layerDeploymentLocks)

/** The `FilesOrigin` of `http`, over the signed URLs that it answers. */
export const layerFilesOrigin = Layer.provideMerge(FilesOriginHttp.layer, SignedUrls.layer)

/** What requests call. */
export const layerServices = Layer.mergeAll(
  TestRunFiles.layer,
  Retries.layer,
  RunErasure.layer,
  Cases.layer,
  CaseCounting.layer,
  SavedFilters.layer,
  Semaphores.layer
).pipe(
  Layer.provideMerge(TestRuns.layer),
  Layer.provideMerge([Fixtures.layer, LeaseWaits.layer, ResultChanges.layer]),
  Layer.provide(Files.layerUploads)
)

/** What commands of the host call. */
export const layerHost = Layer.provide(CaseCounting.layer, ResultChanges.layer)

/** Ends overdue runs and retries. */
export const layerExpiry = TestRunExpiry.layer

/** Indexes runs for the search. */
export const layerIndexing = TestRunIndexing.layer

/** What a server does by itself, over the services. */
export const layerBackground = Layer.mergeAll(
  layerExpiry,
  layerIndexing,
  RunRetention.layer,
  CaseCountingRounds.layer,
  SemaphoreGauges.layer
)

export const layerHttp = Layer.mergeAll(
  TestRunsHttp.layer,
  RetriesHttp.layer,
  CasesHttp.layer,
  SavedFiltersHttp.layer,
  SemaphoresHttp.layer
).pipe(Layer.provide([RunAuthorizationHttp.layer, LargeBodies.layer]))
