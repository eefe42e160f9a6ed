import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Event } from "./Event.ts"

/** What happened in a workspace (docs/contract.md, Events). */
export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", `${workspacePath}/events`, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ events: Schema.Array(Event) }).annotate({
        identifier: "Events",
        description: "The most recent events, newest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List events",
        "Lists the 50 most recent events, newest first. Secrets appear by name, never by value. Events of a private team appear only to those who see the team. Any role may call this."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Events", description: "What happened in the workspace, and who did it." })
  ) {}
