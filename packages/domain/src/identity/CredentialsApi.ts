import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { WorkspaceCredential } from "./Credential.ts"

const path = `${workspacePath}/credentials` as const
const params = {
  slug: WorkspaceRef,
  credential: PathRef.annotate({
    description: "The credential's id.",
    examples: ["0197a1b2-0000-7000-8000-0000000000b1"]
  })
}

/** The credentials that may act in a workspace (docs/contract.md, Credentials). Admins and owners. */
export class CredentialsApi extends HttpApiGroup.make("credentials")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ credentials: Schema.Array(WorkspaceCredential) }).annotate({
        identifier: "WorkspaceCredentials",
        description: "Credentials, newest first."
      }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "List credentials",
        "Lists every credential that works and may act in the workspace, blocked ones too, newest first: API keys and sessions of active members, account API keys, one row for each sign-in of an agent, and the tokens of deployments. Requires the role `admin` or `owner`."
      )
    ),
    HttpApiEndpoint.post("block", `${path}/:credential/block`, {
      params,
      success: WorkspaceCredential,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Block a credential",
        "Keeps a credential out of the workspace: it meets this one as a stranger does (404; the token of an agent or a deployment gets 401), and others as before. What it made is blocked with it, and so is what it makes later. Blocking what is blocked already changes nothing. Only owners can block credentials of owners (403 `owner_only`). Requires the role `admin` or `owner`."
      )
    ),
    HttpApiEndpoint.post("unblock", `${path}/:credential/unblock`, {
      params,
      success: WorkspaceCredential,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Unblock a credential",
        "Lets a credential into the workspace again, with what was blocked with it. What is blocked with the credential that it was made with stays blocked (409) until that one is unblocked or has ended. Only owners can unblock credentials of owners, or their own API keys, sessions and agents (403 `owner_only`), and an API key that is limited to scopes only what may do no more than itself (403 `scope_missing`). One that expires unblocks only API keys that end with it or before (403 `key_expires`). A session needs a fresh proof (403 `sudo_required`). Requires the role `admin` or `owner`.",
        {
          conflicts: {
            maker_blocked: "It is blocked with the credential that it was made with. Unblock that one."
          }
        }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Credentials",
      description: "Every credential that may act in a workspace, whoever made it."
    })
  ) {}
