import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { approvalRequired } from "../catalog/Approval.ts"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { NumberInQuery } from "../Numbers.ts"
import {
  AssignSecret,
  Assigned,
  CreateSecret,
  Generated,
  GenerateSecret,
  ProductSecrets,
  RevealedSecret,
  SecretRef,
  SecretVersion,
  UpdateSecret,
  VaultSecrets
} from "./Secret.ts"
import { ValuesAsked } from "./ValuesAsked.ts"
import { StrictBody, strictBody } from "./VaultEdge.ts"

const path = `${workspacePath}/products/:productSlug/secrets` as const
const one = `${path}/:name` as const
const productParams = {
  slug: WorkspaceRef,
  productSlug: PathRef.annotate({ description: "The slug or id of the product.", examples: ["shop"] })
}
const params = {
  ...productParams,
  name: SecretRef
}

const query = { values: Schema.optionalKey(ValuesAsked) }

const archived = "The product is archived."
const notDeployed = "Shop is no longer deployed in Staging."
const requestIdReused = "The requestId was used for another request."
const writes = {
  approval_required: approvalRequired,
  archived,
  not_deployed: notDeployed,
  request_id_reused: requestIdReused
}

const noStore = {
  headers: {
    "Cache-Control": {
      description: "No cache may keep the response. Errors have this header too.",
      required: true,
      schema: { type: "string" },
      example: "no-store"
    }
  }
}

const reading =
  "Values of production environments are never returned, and viewers get no values at all: `value` is then null and `valueHidden` is true."
const answering =
  "The answer has the values that you may read, and the audit says that you read them: with `values=none` it has none."
const writing =
  "Returns 404 if a product or environment does not exist, 409 `archived` if one of them is archived, and 409 `not_deployed` if the deployment of the product in the environment was deleted. (Before the first deployment, values can be written.) In an environment whose `approvals` is on, returns 409 `approval_required` without an approval of a second person, and writes nothing. Requires the role `member` or higher."
const bulk =
  "Everything is written or nothing. One call writes at most 1,000 pairs of product and environment (400). Products that have no secret of this name get one. Returns 409 `request_id_reused` if the `requestId` was used for another request."

/** Secrets (docs/contract.md, Vault). Changes require a member. */
export class VaultApi extends HttpApiGroup.make("vault")
  .add(
    HttpApiEndpoint.get("listOfProduct", path, {
      params: productParams,
      success: ProductSecrets,
      error: NotFound
    }).annotateMerge(
      doc(
        "vault",
        "List a product's secrets",
        "Lists the secrets of the product by name, with their version in each environment, without values. Any role may call this.",
        {
          responses: { 200: noStore }
        }
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: productParams,
      query,
      payload: CreateSecret,
      success: RevealedSecret.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(StrictBody)
      .annotate(HttpApi.PayloadParseOptions, strictBody)
      .annotateMerge(
        doc(
          "vault",
          "Create a secret",
          `Creates a secret, and writes its first values if \`values\` is sent. Versions start at 1; environments without a value stay at 0. Returns 409 \`name_in_use\` if the product has a secret of this name, and 409 \`request_id_reused\` if the \`requestId\` was used for another request. ${answering} ${writing}`,
          {
            conflicts: { name_in_use: 'The name "DATABASE_URL" is already in use.', ...writes },
            responses: { 201: noStore }
          }
        )
      ),
    HttpApiEndpoint.get("get", one, { params, query, success: RevealedSecret, error: NotFound }).annotateMerge(
      doc(
        "vault",
        "Get a secret",
        `Returns the secret with its current version in each environment, and with its value where you may read it. ${reading} Returns 404 if \`values\` names an environment that the secret does not list. Any role may call this.`,
        {
          responses: { 200: noStore }
        }
      )
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      query,
      payload: UpdateSecret,
      success: RevealedSecret,
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(StrictBody)
      .annotate(HttpApi.PayloadParseOptions, strictBody)
      .annotateMerge(
        doc(
          "vault",
          "Update a secret",
          `Renames the secret and writes values. A new name counts as a write wherever the secret has a version. Everything is written or nothing. Each write makes the next version, even if the value is the same. Returns 409 \`name_in_use\` if the product has another secret of the new name. Returns 409 \`version_mismatch\` if a version differs from \`expectedVersions\`; \`current\` has the versions that differ. ${answering} ${writing}`,
          {
            conflicts: {
              version_mismatch: "staging is at version 4.",
              name_in_use: 'The name "DATABASE_URL" is already in use.',
              ...writes
            },
            responses: { 200: noStore }
          }
        )
      ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "vault",
        "Delete a secret",
        "Deletes the secret with all its versions. Its name is free at once; a secret created again under this name starts from version 1. The stored values are erased after 30 days. Returns 409 `archived` if the product is archived. Where the secret has a version in an environment whose `approvals` is on, it is 409 `approval_required` without an approval of a second person. Requires the role `member` or higher.",
        { conflicts: { approval_required: approvalRequired, archived }, responses: { 204: noStore } }
      )
    ),
    HttpApiEndpoint.get("list", `${workspacePath}/vault`, {
      params: { slug: WorkspaceRef },
      success: VaultSecrets,
      error: NotFound
    }).annotateMerge(
      doc(
        "vault",
        "List the workspace's secrets",
        "Lists the secrets of all products, archived ones included, by name and then by name of the product, without values. Any role may call this.",
        { responses: { 200: noStore } }
      )
    ),
    HttpApiEndpoint.post("assign", `${workspacePath}/vault/assignments`, {
      params: { slug: WorkspaceRef },
      payload: AssignSecret,
      success: Assigned,
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(StrictBody)
      .annotate(HttpApi.PayloadParseOptions, strictBody)
      .annotateMerge(
        doc(
          "vault",
          "Assign a value to many pairs",
          `Writes the same value for each of the products in each of the environments. \`null\` clears. ${bulk} ${writing}`,
          { conflicts: writes, responses: { 200: noStore } }
        )
      ),
    HttpApiEndpoint.post("generate", `${workspacePath}/vault/generations`, {
      params: { slug: WorkspaceRef },
      payload: GenerateSecret,
      success: Generated,
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(StrictBody)
      .annotate(HttpApi.PayloadParseOptions, strictBody)
      .annotateMerge(
        doc(
          "vault",
          "Generate values",
          `Makes one value for each environment on the server, and writes it for each of the products. Values are in the response only with \`reveal: true\`, and those of production never. ${bulk} ${writing}`,
          { conflicts: writes, responses: { 200: noStore } }
        )
      ),
    HttpApiEndpoint.get("versions", `${one}/environments/:environmentSlug/versions`, {
      params: {
        ...params,
        environmentSlug: PathRef.annotate({ description: "The slug or id of the environment.", examples: ["staging"] })
      },
      query: {
        before: Schema.optionalKey(
          NumberInQuery.pipe(
            Schema.annotateEncoded({
              description: "Only versions below this one. For the next page, send the oldest version that you have."
            })
          )
        )
      },
      success: Schema.Struct({ versions: Schema.Array(SecretVersion) }).annotate({
        identifier: "SecretVersions",
        description: "Versions, newest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "vault",
        "List a secret's versions in an environment",
        "Lists the versions of the secret in one environment, newest first, 100 a page, without values. A page with fewer than 100 is the last. Any role may call this.",
        { responses: { 200: noStore } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .middleware(NoStore)
  .annotateMerge(
    OpenApi.annotations({
      title: "Vault",
      description:
        "Secrets by product and environment, with versions. Values are encrypted at rest. Bodies are read strictly: an unknown property is refused with `HttpApiDecodeError`."
    })
  ) {}
