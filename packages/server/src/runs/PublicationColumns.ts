import type { Cleanup, RunState } from "@delivery/domain/runs/TestRun"
import type { ActorRef } from "../access/Access.ts"
import { boolean, instant, integer, nullable, text, uuid } from "../storage/Table.ts"

/** The columns that the tables of runs and of retries have alike: who publishes, from where, and how cleaning up went. */
export const publicationColumns = {
  number: integer(),
  publisherKind: text<ActorRef["kind"]>(),
  publisherId: uuid<ActorRef["id"]>(),
  /** The credential that it was started with. Null for what was started before it was noted. */
  makerId: nullable(uuid()),
  baseUrl: text(),
  gitSha: text(),
  gitDirty: boolean(),
  hostname: text(),
  platform: text(),
  tokenHash: text(),
  fixtureScope: nullable(text()),
  fixtureUrl: nullable(text()),
  cleanupStatus: nullable(text<Cleanup["status"]>()),
  cleanupDeleted: nullable(integer()),
  cleanupRemaining: nullable(integer()),
  state: text<RunState>(),
  startedAt: instant(),
  expiresAt: instant(),
  finishedAt: nullable(instant())
}
