import type { Commit, TicketMention } from "@delivery/domain/catalog/Commit"
import type { CommitId, DeploymentId, EnvironmentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { ReleaseReadiness } from "@delivery/domain/catalog/ReleaseReadiness"
import type { ActorRef } from "../access/Access.ts"
import { instant, integer, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/**
 * The changes of each deployment's version, numbered from 1. In memory by `${deploymentId}/${number}`. The actor is null
 * where a server that knew no releases made the change, and its event was not found.
 */
export const deploymentReleases = table("deployment_releases", {
  workspaceId: uuid<WorkspaceId>(),
  deploymentId: uuid<DeploymentId>(),
  number: integer(),
  productId: uuid<ProductId>(),
  environmentId: uuid<EnvironmentId>(),
  version: nullable(text()),
  actorKind: nullable(text<ActorRef["kind"]>()),
  actorId: nullable(uuid<ActorRef["id"]>()),
  at: instant(),
  /** Why it went out although the readiness policy kept it back; null where nobody said so. */
  overrideReason: nullable(text()),
  /** What readiness said just before; null where nobody knows. */
  readiness: nullable(json<ReleaseReadiness>())
})

export type ReleaseRow = Row<typeof deploymentReleases>

/** The commits of each version of a product, by id in the order in which they were told. */
export const versionCommits = table("version_commits", {
  id: uuid<CommitId>(),
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  version: text(),
  sha: text(),
  subject: text(),
  author: nullable(text()),
  at: nullable(instant())
})

export type CommitRow = Row<typeof versionCommits>

/**
 * What subjects of commits may name tickets by. Which ticket that is, if any, is found when somebody reads it: teams and
 * tickets are of a higher room. In memory by `${commitId}/${teamKey}-${number}`.
 */
export const commitMentions = table("commit_mentions", {
  workspaceId: uuid<WorkspaceId>(),
  commitId: uuid<CommitId>(),
  teamKey: text(),
  number: integer()
})

/** A commit to be stored, and what it mentions. */
export interface NewCommit extends Pick<CommitRow, "id" | "sha" | "subject" | "author" | "at"> {
  readonly mentions: ReadonlyArray<TicketMention>
}

/** A release that is stored with the change that it is. */
export interface NewRelease extends ReleaseRow {
  /** None where the version is null. A version keeps the first commit of a SHA that it was told. */
  readonly commits: ReadonlyArray<NewCommit>
}

/** The commits of a body, each SHA once. */
export const distinctCommits = (commits: ReadonlyArray<Commit>): ReadonlyArray<Commit> => {
  const bySha = new Map<string, Commit>()
  for (const commit of commits) {
    const sha = commit.sha.toLowerCase()
    if (!bySha.has(sha)) bySha.set(sha, { ...commit, sha })
  }
  return [...bySha.values()]
}
