import type { Actor } from "@delivery/domain/identity/Actor"
import type { ProjectId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { Viewer } from "./Viewer.ts"

/** The documents that projects had. In memory by `${projectId}/${number}`. */
export const projectTexts = table("project_texts", {
  workspaceId: uuid<WorkspaceId>(),
  projectId: uuid<ProjectId>(),
  number: integer(),
  /** Null where there was none. */
  text: nullable(text()),
  /** Who replaced it. */
  authorKind: text<ActorRef["kind"]>(),
  authorId: uuid<ActorRef["id"]>(),
  replacedAt: instant()
})

export type ProjectTextRow = Row<typeof projectTexts>

/** An earlier document with the name of who replaced it. */
export interface ProjectTextDetails extends ProjectTextRow {
  readonly author: Actor
}

/** Stores the documents that projects had. */
export class ProjectTextsRepo extends Context.Service<
  ProjectTextsRepo,
  {
    /**
     * Keeps a document under the next number of the project, which the transaction has locked, and the newest others up
     * to `maxEarlierTexts` and `maxEarlierBytes`.
     */
    readonly keep: (text: Omit<ProjectTextRow, "number">) => Effect.Effect<void>
    /** By the slug of the project, the last replaced first; undefined where the viewer sees no such project. */
    readonly list: (
      viewer: Viewer,
      slug: string,
      selection: {
        /** Exclusive. */
        readonly below: number | undefined
        readonly limit: number
      }
    ) => Effect.Effect<ReadonlyArray<ProjectTextDetails> | undefined>
  }
>()("@delivery/server/planning/ProjectTextsRepo") {}
