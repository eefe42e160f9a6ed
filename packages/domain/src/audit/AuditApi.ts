import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { isId, OneOf, Ref, undocumented } from "../Text.ts"
import { TimestampInput } from "../Timestamp.ts"
import { AuditEntry, AuditOutcome, AuditPage } from "./Audit.ts"
import { adminOperations, auditActions } from "./AuditActions.ts"

const isCursor = Schema.makeFilter<string>((text) => isId(text) || "Expected the nextCursor of a page", {
  toJsonSchema: undocumented
})

/** The filters of the audit; they combine. */
export const auditFilters = {
  actor: Schema.optionalKey(
    Ref.annotate({
      description:
        "Only what this person, agent, account API key or deployment token did, by id. An unknown one matches nothing.",
      examples: ["0197a1b2-0000-7000-8000-000000000001"]
    })
  ),
  action: Schema.optionalKey(
    OneOf([...auditActions, ...adminOperations]).annotate({
      description:
        "Only this action. Names with a dot are operations that were refused. One that does not exist is 400, with all that do.",
      examples: ["secret_read"]
    })
  ),
  outcome: Schema.optionalKey(
    AuditOutcome.annotate({
      description: "Only what happened (`allowed`), or only what was refused or did not work (`refused`).",
      examples: ["refused"]
    })
  ),
  subject: Schema.optionalKey(
    Ref.annotate({
      description: "Only what was done to this subject, by id.",
      examples: ["0197a1b2-0000-7000-8000-000000000051"]
    })
  ),
  from: Schema.optionalKey(
    TimestampInput.annotate({
      description: "Only from this time on, inclusive. An ISO 8601 timestamp with an offset.",
      examples: ["2026-11-01T00:00:00.000Z"]
    })
  ),
  to: Schema.optionalKey(
    TimestampInput.annotate({
      description: "Only up to this time, inclusive. An ISO 8601 timestamp with an offset.",
      examples: ["2026-11-30T23:59:59.999Z"]
    })
  )
}

export const auditQuery = {
  ...auditFilters,
  cursor: Schema.optionalKey(
    Schema.String.check(isCursor).annotate({
      description: "The `nextCursor` of the previous page. The page has entries that are older.",
      examples: ["0197a1b2-0000-7000-8000-0000000000e1"]
    })
  )
}

/** Who did what in a workspace, for its admins and owners (docs/contract.md, Audit). */
export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", `${workspacePath}/audit`, {
      params: { slug: WorkspaceRef },
      query: auditQuery,
      success: [
        AuditPage,
        HttpApiSchema.StreamNdjson({ schema: AuditEntry }).annotate({
          description: "All entries that match, newest first, one a line. The connection is cut if the export fails."
        })
      ],
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "List the audit",
        `Lists who did what, newest first, 100 a page: reads and writes of secret values, also by deployed products, sign-ins and proofs that failed, the life of API keys, sessions, agents' sign-ins and invites, members and their roles, exports, and operations with the scope \`admin\` that were refused (403). Filters combine; send the same filters for every page. Actors are named as they were then. Entries are kept for 400 days unless the server says otherwise.

A sign-in, and whatever happens to a key or session of a person, is in each workspace that the person is an active member of at that time. A failed proof of somebody whom the service does not know is in none.

With \`Accept: application/x-ndjson\`, the answer has all entries that match, from \`cursor\` on, one JSON object a line. This export is an entry itself, \`audit_exported\`. Requires the role \`admin\` or \`owner\`.`
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Audit",
      description: "Who did what in the workspace, with which credential and from where, for admins and owners."
    })
  ) {}
