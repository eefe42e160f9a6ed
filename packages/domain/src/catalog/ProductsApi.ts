import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived, doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { CreateProduct, Product, UpdateProduct } from "./Product.ts"

const path = `${workspacePath}/products` as const
const params = {
  slug: WorkspaceRef,
  product: PathRef.annotate({ description: "The product's slug or id.", examples: ["shop"] })
}
const slugInUse = 'The slug "shop" is already in use.'

/** Products (docs/contract.md, Catalog). Changes need an admin or owner. */
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
    }).annotateMerge(doc("List products", "By name. Every role.")),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateProduct,
      success: Product.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc("Create a product", "Admins and owners. A slug in use, by an archived product too: 409 `slug_in_use`.", {
        conflicts: { slug_in_use: slugInUse }
      })
    ),
    HttpApiEndpoint.get("get", `${path}/:product`, { params, success: Product, error: NotFound }).annotateMerge(
      doc("Get a product", "Archived or not. Every role.")
    ),
    HttpApiEndpoint.patch("update", `${path}/:product`, {
      params,
      payload: UpdateProduct,
      success: Product,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Update a product",
        "Changes the fields sent; archived products too. Admins and owners. A slug in use: 409 `slug_in_use`; a type that needs a `baseUrl` while a deployment has none: 409 `needs_base_url`.",
        {
          conflicts: {
            slug_in_use: slugInUse,
            needs_base_url: "A deployment of the product has no baseUrl, which the type website needs."
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
        "Archive a product",
        "It leaves lists and its deployments become inactive; its slug stays taken. An archived product stays as it is. Admins and owners."
      )
    ),
    HttpApiEndpoint.post("restore", `${path}/:product/restore`, {
      params,
      success: Product,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Restore a product",
        "Its deployments become active again, except in archived environments. A product that is not archived stays as it is. Admins and owners."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Products", description: "What the team ships." })) {}
