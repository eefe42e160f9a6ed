import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import {
  CreateTrustedPublisher,
  maxTrustedPublishers,
  TrustedPublisher,
  TrustedPublishers
} from "./TrustedPublisher.ts"

const path = `${workspacePath}/trusted-publishers` as const
const admins = "Requires the role `admin` or `owner`."

/** Workflows of CI that get keys of a workspace (docs/contract.md, Trusted publishers). Admins and owners. */
export class TrustedPublishersApi extends HttpApiGroup.make("trustedPublishers")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: TrustedPublishers,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "List trusted publishers",
        `Lists the trusted publishers of the workspace, newest first, and the issuers whose tokens this server takes. ${admins}`
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTrustedPublisher,
      success: TrustedPublisher.pipe(HttpApiSchema.status(201)),
      error: [InvalidInput, Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Trust a publisher",
        `Lets a workflow of a CI exchange its ID tokens for account API keys of the workspace that work for 15 minutes (\`POST /v1/token-exchange\`), so that no key is stored in the CI. All conditions must hold. Repository and owner are numbers, which stay when names change.

It ends, with the keys that it gave, when it is deleted, when the API key ends that it was made with, and when the member who made it is deactivated or gets a role below that of the keys. A key that is limited to scopes trusts nobody with more than it has (403 \`scope_missing\`). A session needs a fresh proof (403 \`sudo_required\`). An issuer that this server does not take: 400. ${admins}`,
        {
          conflicts: {
            already_trusted:
              "A publisher with the same issuer, repository, owner, workflow, ref and environment is trusted.",
            too_many_publishers: `The workspace has ${maxTrustedPublishers} trusted publishers, which is the limit.`
          }
        }
      )
    ),
    HttpApiEndpoint.delete("delete", `${path}/:publisher`, {
      params: {
        slug: WorkspaceRef,
        publisher: PathRef.annotate({
          description: "The trusted publisher's id.",
          examples: ["0197a1b2-0000-7000-8000-0000000000d1"]
        })
      },
      success: HttpApiSchema.NoContent.annotate({ description: "It is trusted no more, and its keys have ended." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Delete a trusted publisher",
        `Trusts the publisher no more. The keys that it gave end at once, with what was made with them. A session needs a fresh proof (403 \`sudo_required\`). ${admins}`
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Trusted publishers",
      description: "Workflows of CI that get short-lived keys of a workspace, so that none is stored there."
    })
  ) {}
