import { NotFound } from "@delivery/domain/Errors"
import type { EarlierDocument, EarlierDocuments } from "@delivery/domain/planning/ProjectText"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect } from "effect"
import { type Access, anyRole } from "../access/Access.ts"
import { askedForPage, pageOf } from "./EarlierTexts.ts"
import type { ProjectRow } from "./ProjectsRepo.ts"
import type { ProjectTextDetails, ProjectTextsRepo } from "./ProjectTextsRepo.ts"
import { viewerOf } from "./Viewer.ts"

/** The documents that projects had (docs/contract.md, Earlier texts). */

interface Dependencies {
  readonly texts: ProjectTextsRepo["Service"]
}

/** Keeps the document that a change replaces. The transaction has locked the project. */
export const keepEarlier = (
  { texts }: Dependencies,
  by: Access,
  before: Pick<ProjectRow, "id" | "document">,
  after: Pick<ProjectRow, "document">,
  replacedAt: Timestamp
) =>
  before.document === after.document
    ? Effect.void
    : texts.keep({
        workspaceId: by.workspace.id,
        projectId: before.id,
        text: before.document,
        authorKind: by.actor.kind,
        authorId: by.actor.id,
        replacedAt
      })

/** @param cursor The `nextCursor` of the page before. */
export const history = ({ texts }: Dependencies) =>
  Effect.fn("Projects.history")(function* (slug: string, { cursor }: { readonly cursor?: number | undefined }) {
    const viewer = viewerOf(yield* anyRole)
    const found = yield* texts.list(viewer, slug, { below: cursor, limit: askedForPage })
    if (found === undefined) return yield* NotFound.of("project", slug)
    const answer: EarlierDocuments = pageOf(found, present)
    return answer
  })

const present = ({ author, number, replacedAt, text }: ProjectTextDetails): EarlierDocument => ({
  number,
  text,
  replacedBy: author,
  replacedAt
})
