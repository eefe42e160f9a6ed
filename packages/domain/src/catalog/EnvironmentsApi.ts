import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived } from "../Archived.ts"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { approvalRequired } from "./Approval.ts"
import { CreateEnvironment, Environment, UpdateEnvironment } from "./Environment.ts"

const path = `${workspacePath}/environments` as const
const params = {
  slug: WorkspaceRef,
  environment: PathRef.annotate({ description: "The slug or id of the environment.", examples: ["staging"] })
}
const slugInUse = { conflicts: { slug_in_use: 'The slug "staging" is already in use.' } }

/** Environments (docs/contract.md, Catalog). Changes require an admin or owner. */
export class EnvironmentsApi extends HttpApiGroup.make("environments")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: { archived: Schema.optionalKey(Archived) },
      success: Schema.Struct({ environments: Schema.Array(Environment) }).annotate({
        identifier: "Environments",
        description: "Environments, by name."
      }),
      error: NotFound
    }).annotateMerge(doc("read", "List environments", "Lists environments by name. Any role may call this.")),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateEnvironment,
      success: Environment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Create an environment",
        "Creates an environment. With `approvals: true`, writes of secret values there need a second person from the start. Returns 409 `slug_in_use` if another environment, archived or not, has the slug. Requires the role `admin` or `owner`.",
        slugInUse
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:environment`, { params, success: Environment, error: NotFound }).annotateMerge(
      doc("read", "Get an environment", "Returns the environment, archived or not. Any role may call this.")
    ),
    HttpApiEndpoint.patch("update", `${path}/:environment`, {
      params,
      payload: UpdateEnvironment,
      success: Environment,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Update an environment",
        "Changes the fields that are sent. Archived environments can be changed too. Returns 409 `slug_in_use` if another environment has the slug. Returns 409 `holds_secrets` if the class changes from production to non-production while the environment holds secret values, because they would become readable. Where none is current, the values of earlier versions are erased for good. Where `approvals` is on, a change of the class, and turning it off, is 409 `approval_required` without an approval of a second person; turning it on needs none. Changes of the class and of `approvals` are entries of the audit. Requires the role `admin` or `owner`.",
        {
          conflicts: {
            ...slugInUse.conflicts,
            approval_required: approvalRequired,
            holds_secrets:
              "The environment holds secret values. They would become readable in an environment of another class."
          }
        }
      )
    ),
    HttpApiEndpoint.post("archive", `${path}/:environment/archive`, {
      params,
      success: Environment,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Archive an environment",
        "Takes the environment out of lists and makes its deployments inactive. Its slug stays taken. Archiving an archived environment changes nothing. Where `approvals` is on, it is 409 `approval_required` without an approval of a second person. It is an entry of the audit. Requires the role `admin` or `owner`.",
        { conflicts: { approval_required: approvalRequired } }
      )
    ),
    HttpApiEndpoint.post("restore", `${path}/:environment/restore`, {
      params,
      success: Environment,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Restore an environment",
        "Brings the environment back into lists and makes its deployments active again, except those of archived products. Restoring an environment that is not archived changes nothing. Requires the role `admin` or `owner`."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Environments",
      description: "The places where products run, such as staging and production."
    })
  ) {}
