import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { TicketPathRef } from "../planning/TicketsApi.ts"
import { TicketEvidence } from "./Evidence.ts"

/** What proves that the tests of tickets pass again (docs/contract.md, Evidence). */
export class EvidenceApi extends HttpApiGroup.make("evidence")
  .add(
    HttpApiEndpoint.get("get", `${workspacePath}/tickets/:ticket/evidence`, {
      params: { slug: WorkspaceRef, ticket: TicketPathRef },
      success: TicketEvidence,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "Get the evidence of a ticket",
        "Returns, for each test that the ticket is about, in how many runs it has passed since it failed last, by the rules of completing a ticket with evidence, and which runs do not count and why. Any role may call this."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Evidence",
      description: "What proves that the tests of a ticket pass again, before it is completed."
    })
  ) {}
