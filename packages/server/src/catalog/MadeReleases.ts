import { type Commit, ticketMentions } from "@delivery/domain/catalog/Commit"
import type { CommitId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { NextId } from "../ids/NextId.ts"
import type { DeploymentState, Pair } from "./DeploymentsRepo.ts"
import { distinctCommits, type NewRelease, type ReleaseRow } from "./ReleaseRows.ts"

/** Who changes a deployment. */
export interface By {
  readonly workspace: { readonly id: WorkspaceId }
  readonly actor: ActorRef
}

/** What readiness said of a version. */
export type Judged = ReleaseRow["readiness"]

/** The release that a deployment has got, with the commits of a body. */
export const newRelease = ({ nextId }: { readonly nextId: NextId["Service"] }) =>
  Effect.fnUntraced(function* (
    by: By,
    pair: Pair,
    deployment: DeploymentState,
    {
      commits = [],
      judged = null,
      override
    }: {
      readonly commits?: ReadonlyArray<Commit>
      readonly override?: string | undefined
      readonly judged?: Judged
    } = {}
  ) {
    const release: NewRelease = {
      workspaceId: by.workspace.id,
      deploymentId: deployment.id,
      number: deployment.release,
      productId: pair.product.id,
      environmentId: pair.environment.id,
      version: deployment.version,
      actorKind: by.actor.kind,
      actorId: by.actor.id,
      at: deployment.versionUpdatedAt,
      overrideReason: override ?? null,
      readiness: deployment.version === null ? null : judged,
      commits: yield* Effect.forEach(distinctCommits(commits), ({ at, author, sha, subject }) =>
        Effect.map(nextId<CommitId>(), (id) => ({
          id,
          sha,
          subject,
          author: author ?? null,
          at: at === undefined ? null : timestamp(Date.parse(at)),
          mentions: ticketMentions(subject)
        }))
      )
    }
    return release
  })
