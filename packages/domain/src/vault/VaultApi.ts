import { Schema, SchemaTransformation } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { NumberInQuery } from "../runs/TestRun.ts"
import {
  AssignSecret,
  Assigned,
  CreateSecret,
  Generated,
  GenerateSecret,
  ProductSecrets,
  RevealedSecret,
  SecretVersion,
  UpdateSecret,
  VaultSecrets
} from "./Secret.ts"
import { StrictBody } from "./VaultEdge.ts"

const path = `${workspacePath}/products/:productSlug/secrets` as const
const one = `${path}/:name` as const
const productParams = {
  slug: WorkspaceRef,
  productSlug: PathRef.annotate({ description: "The product's slug or id.", examples: ["shop"] })
}
const params = {
  ...productParams,
  // The database cannot be asked for NUL; a slash, too, is in no name, and so not found.
  name: PathRef.annotate({ description: "The secret's name, percent-encoded.", examples: ["DATABASE_URL"] }).pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transform({ decode: (name) => name.replaceAll("\u0000", "/"), encode: (name) => name })
    )
  )
}

/** All that is wrong with a body at once, what is unknown in it too. */
const strict = { onExcessProperty: "error", errors: "all" } as const

const archived = "The product is archived."
const notDeployed = "Shop is no longer deployed in Staging."
const requestIdReused = "The requestId was used for another request."
const writes = { archived, not_deployed: notDeployed, request_id_reused: requestIdReused }

const noStore = {
  headers: {
    "Cache-Control": {
      description: "No cache keeps the answer; errors carry it too.",
      required: true,
      schema: { type: "string" },
      example: "no-store"
    }
  }
}

const reading =
  "Values of production environments are never answered, and viewers get none: there `value` is null and `valueHidden` true."
const writing =
  "Members and up. An unknown environment: 404. An archived product or environment: 409 `archived`. A pair whose deployment was deleted: 409 `not_deployed`; pairs that never were deployed are written as usual."
const bulk =
  "All or nothing, at most 1,000 pairs (400). Makes the secret of each product that has none. A `requestId` used for another request: 409 `request_id_reused`."

/** Secrets (docs/contract.md, Vault). Changes need a member. */
export class VaultApi extends HttpApiGroup.make("vault")
  .add(
    HttpApiEndpoint.get("listOfProduct", path, {
      params: productParams,
      success: ProductSecrets,
      error: NotFound
    }).annotateMerge(
      doc("List a product's secrets", "By name, with each environment's version; never values. Every role.", {
        responses: { 200: noStore }
      })
    ),
    HttpApiEndpoint.post("create", path, {
      params: productParams,
      payload: CreateSecret,
      success: RevealedSecret.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(StrictBody)
      .annotate(HttpApi.PayloadParseOptions, strict)
      .annotateMerge(
        doc(
          "Create a secret",
          `${writing} A name in use: 409 \`name_in_use\`. A \`requestId\` used for another request: 409 \`request_id_reused\`. Versions start at 1; an environment without a value stays at 0.`,
          {
            conflicts: { name_in_use: 'The name "DATABASE_URL" is already in use.', ...writes },
            responses: { 201: noStore }
          }
        )
      ),
    HttpApiEndpoint.get("get", one, { params, success: RevealedSecret, error: NotFound }).annotateMerge(
      doc(
        "Get a secret",
        `Each environment's current version, and its value where the caller may read it. ${reading}`,
        {
          responses: { 200: noStore }
        }
      )
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      payload: UpdateSecret,
      success: RevealedSecret,
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(StrictBody)
      .annotate(HttpApi.PayloadParseOptions, strict)
      .annotateMerge(
        doc(
          "Update a secret",
          `Renames it and writes values, all or nothing. Each write, of an equal value too, makes the next version. ${writing} A name in use: 409 \`name_in_use\`. Versions other than expected: 409 \`version_mismatch\`, with those in \`current\`.`,
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
        "Delete a secret",
        "With all its versions. Its name is free at once; a secret made again under it is a new one. Storage erases the values after 30 days. Members and up. An archived product: 409 `archived`.",
        { conflicts: { archived }, responses: { 204: noStore } }
      )
    ),
    HttpApiEndpoint.get("list", `${workspacePath}/vault`, {
      params: { slug: WorkspaceRef },
      success: VaultSecrets,
      error: NotFound
    }).annotateMerge(
      doc(
        "List the workspace's secrets",
        "By name, then product name, archived products' too; never values. Every role.",
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
      .annotate(HttpApi.PayloadParseOptions, strict)
      .annotateMerge(
        doc(
          "Assign a value to many pairs",
          `Writes one value for each product in each environment; null clears. ${bulk} ${writing}`,
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
      .annotate(HttpApi.PayloadParseOptions, strict)
      .annotateMerge(
        doc(
          "Generate values",
          `Makes one value for each environment, shared by its products, on the server. ${bulk} ${writing} Values are answered with \`reveal: true\` only, and never those of production.`,
          { conflicts: writes, responses: { 200: noStore } }
        )
      ),
    HttpApiEndpoint.get("versions", `${one}/environments/:environmentSlug/versions`, {
      params: {
        ...params,
        environmentSlug: PathRef.annotate({ description: "The environment's slug or id.", examples: ["staging"] })
      },
      query: {
        before: Schema.optionalKey(
          NumberInQuery.pipe(
            Schema.annotateEncoded({ description: "Only versions below this one: the oldest held, for the next page." })
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
        "List a secret's versions in an environment",
        "At most 100, newest first, without values; fewer than 100 are the last page. Every role.",
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
        "Named secrets per product and environment, with versions. Values are encrypted at rest. Bodies are read strictly: an unknown property is `HttpApiDecodeError`."
    })
  ) {}
