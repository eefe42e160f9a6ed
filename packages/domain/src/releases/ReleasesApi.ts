import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NumberInQuery } from "../Numbers.ts"
import { Ref } from "../Text.ts"
import { ProductVersion, ReleasePage, TicketTrace } from "./Release.ts"

const product = PathRef.annotate({ description: "The slug or id of the product.", examples: ["shop"] })

/** What was released where (docs/contract.md, Releases). */
export class ReleasesApi extends HttpApiGroup.make("releases")
  .add(
    HttpApiEndpoint.get("history", `${workspacePath}/deployments/:product/:environment/history`, {
      params: {
        slug: WorkspaceRef,
        product,
        environment: PathRef.annotate({ description: "The slug or id of the environment.", examples: ["staging"] })
      },
      query: {
        before: Schema.optionalKey(
          NumberInQuery.pipe(
            Schema.annotateEncoded({
              description:
                "Only releases numbered below it. For the next page, send the number of the last one that you have."
            })
          )
        ),
        deployment: Schema.optionalKey(
          Ref.annotate({
            description:
              "The id of a deployment. `before` is a number of this one, and no release of a later deployment is answered. Send it with `before` as the last release that you have tells it: servers of before began with release 1 in each deployment.",
            examples: ["0197a1b2-0000-7000-8000-000000000006"]
          })
        )
      },
      success: ReleasePage,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List the releases of a deployment",
        "Lists the changes of the deployment's version, newest first, 100 a page. A page with fewer than 100 is the last. Where a deployment was deleted, its releases stay, and those of the one that was made anew come before them: `deployment` tells them apart. Each has the commits of its version, whichever environment they were sent for; tickets that you do not see are left out. Returns 404 if the product was never deployed there, or `deployment` is none of those. Any role may call this."
      )
    ),
    HttpApiEndpoint.get("version", `${workspacePath}/products/:product/versions/:version`, {
      params: {
        slug: WorkspaceRef,
        product,
        version: PathRef.annotate({ description: "The version.", examples: ["9fceb02"] })
      },
      success: ProductVersion,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "Get a version of a product",
        "Returns the commits of the version, every environment where it runs or ran and when, deleted deployments included, the runs that tested it there, and the tickets that its commits name. One commit is one version, however it is written: with 7 digits or more, in any case. Tickets that you do not see are left out. Returns 404 if the version was never released, or is the beginning of several commits. Any role may call this."
      )
    ),
    HttpApiEndpoint.get("trace", `${workspacePath}/tickets/:ticket/trace`, {
      params: {
        slug: WorkspaceRef,
        ticket: PathRef.annotate({
          description: "The identifier of the ticket, in any case, or its id.",
          examples: ["ENG-12"]
        })
      },
      success: TicketTrace,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "Trace a ticket",
        "Returns the commits whose subjects name the ticket by one of its identifiers, the releases of the versions that contain them, the runs that tested those versions, and the messages to agents about the ticket. `text` says where the ticket has come to: it takes a version to contain those that were first released before it, and one commit to be one version, however it is written. Any role may call this."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Releases",
      description: "Which version ran where and when, what it contains, and what became of a ticket."
    })
  ) {}
