import { Layer } from "effect"
import { Fixtures } from "./Fixtures.ts"
import { LeaseWaits } from "./LeaseWaits.ts"
import { Retries } from "./Retries.ts"
import { RetriesHttp } from "./RetriesHttp.ts"
import { RetriesRepo } from "./RetriesRepo.ts"
import { RunAuthorizationLive } from "./RunAuthorizationHttp.ts"
import { Semaphores } from "./Semaphores.ts"
import { SemaphoresHttp } from "./SemaphoresHttp.ts"
import { SemaphoresRepo } from "./SemaphoresRepo.ts"
import { TestRunExpiry } from "./TestRunExpiry.ts"
import { TestRunFiles } from "./TestRunFiles.ts"
import { TestRunFilesRepo } from "./TestRunFilesRepo.ts"
import * as TestRunIndexing from "./search/TestRunIndexing.ts"
import { TestRuns } from "./TestRuns.ts"
import { TestRunsHttp } from "./TestRunsHttp.ts"
import { TestRunsRepo } from "./TestRunsRepo.ts"

/** Test runs, their retries and files, and the semaphores that their tests share. */

export const layerSql = Layer.mergeAll(
  TestRunsRepo.layerSql,
  RetriesRepo.layerSql,
  TestRunFilesRepo.layerSql,
  SemaphoresRepo.layerSql
)

export const layerMemory = Layer.mergeAll(
  TestRunsRepo.layerMemory,
  RetriesRepo.layerMemory,
  TestRunFilesRepo.layerMemory,
  SemaphoresRepo.layerMemory
)

export const layer = Layer.mergeAll(
  TestRunFiles.layer,
  Retries.layer,
  TestRunExpiry,
  TestRunIndexing.layer,
  Semaphores.layer
).pipe(Layer.provideMerge(TestRuns.layer), Layer.provideMerge([Fixtures.layer, LeaseWaits.layer]))

export const layerHttp = Layer.mergeAll(TestRunsHttp, RetriesHttp, SemaphoresHttp).pipe(
  Layer.provide(RunAuthorizationLive)
)
