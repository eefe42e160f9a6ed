import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived } from "../Archived.ts"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { CreateProduct, Product, UpdateProduct } from "./Product.ts"

const path = `${workspacePath}/products` as const
const params = {
  slug: WorkspaceRef,
  product: PathRef.annotate({ description: "The slug or id of the product.", examples: ["shop"] })
}
const slugInUse = 'The slug "shop" is already in use.'

/** Products (docs/contract.md, Catalog). Changes require an admin or owner. */
export class ProductsApi extends HttpApiGroup.make("products")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: { archived: Schema.optionalKey(Archived) },
      success: Schema.Struct({ products: Schema.Array(Product) }).annotate({
        identifier: "Products",
        description: "Products, by name."
      }),
      error: NotFound
    }).annotateMerge(doc("read", "List products", "Lists products by name. Any role may call this.")),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateProduct,
      success: Product.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Create a product",
        "Creates a product. Returns 409 `slug_in_use` if another product, archived or not, has the slug. Requires the role `admin` or `owner`.",
        {
          conflicts: { slug_in_use: slugInUse }
        }
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:product`, { params, success: Product, error: NotFound }).annotateMerge(
      doc("read", "Get a product", "Returns the product, archived or not. Any role may call this.")
    ),
    HttpApiEndpoint.patch("update", `${path}/:product`, {
      params,
      payload: UpdateProduct,
      success: Product,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Update a product",
        "Changes the fields that are sent. Archived products can be changed too. Returns 409 `slug_in_use` if another product has the slug, and 409 `needs_base_url` if the new type requires a `baseUrl` and a deployment has none. Requires the role `admin` or `owner`.",
        {
          conflicts: {
            slug_in_use: slugInUse,
            needs_base_url:
              "A product of the type website needs a baseUrl in each of its deployments, and one has none."
          }
        }
      )
    ),
    HttpApiEndpoint.post("archive", `${path}/:product/archive`, {
      params,
      success: Product,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Archive a product",
        "Takes the product out of lists and makes its deployments inactive. Its slug stays taken. Archiving an archived product changes nothing. Requires the role `admin` or `owner`."
      )
    ),
    HttpApiEndpoint.post("restore", `${path}/:product/restore`, {
      params,
      success: Product,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Restore a product",
        "Brings the product back into lists and makes its deployments active again, except in archived environments. Restoring a product that is not archived changes nothing. Requires the role `admin` or `owner`."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Products",
      description: "The things that the team ships: websites, APIs, apps, libraries and services."
    })
  ) {}
