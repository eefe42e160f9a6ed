import { Schema } from "effect"
import { Body } from "../Body.ts"
import { ProductId } from "../Ids.ts"
import { atMost, Name, OneOf, Slug } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

export const ProductType = OneOf(["website", "api", "app", "library", "service"]).annotate({
  identifier: "ProductType",
  description: "What kind of thing the product is; websites and APIs need a `baseUrl` to be deployed.",
  examples: ["website"]
})
export type ProductType = typeof ProductType.Type

/** Whether a deployment of such a product must say where it answers. */
export const needsBaseUrl = (type: ProductType): boolean => type === "website" || type === "api"

/** A repository on a code host, `owner/name`. */
export const Repository = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/u, { message: "Expected owner/name" }),
  atMost(200)
).annotate({ description: "On the code host, `owner/name`." })

/** A product as other objects show it. */
export const ProductRef = Schema.Struct({
  id: ProductId,
  slug: Schema.String,
  name: Schema.String,
  type: ProductType,
  archived: Schema.Boolean
}).annotate({
  identifier: "ProductRef",
  description: "A product as other objects show it.",
  examples: [
    {
      id: ProductId.make("0197a1b2-0000-7000-8000-0000000000d1"),
      slug: "shop",
      name: "Shop",
      type: "website",
      archived: false
    }
  ]
})
export type ProductRef = typeof ProductRef.Type

/** Something the team ships (docs/contract.md, Catalog). */
export const Product = Schema.Struct({
  id: ProductId,
  slug: Schema.String,
  name: Schema.String,
  type: ProductType,
  repository: Schema.NullOr(Schema.String).annotate({ description: "On the code host, `owner/name`." }),
  archived: Schema.Boolean,
  archivedAt: Schema.NullOr(Timestamp).annotate({ description: "Null while not archived." }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "Product",
  description: "Something the team ships.",
  examples: [
    {
      id: ProductId.make("0197a1b2-0000-7000-8000-0000000000d1"),
      slug: "shop",
      name: "Shop",
      type: "website",
      repository: "acme/shop",
      archived: false,
      archivedAt: null,
      createdAt: "2026-11-21T09:30:00.000Z",
      updatedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Product = typeof Product.Type

export const CreateProduct = Body({
  slug: Slug,
  name: Name(100),
  type: ProductType,
  repository: Schema.optionalKey(Schema.NullOr(Repository))
}).annotate({
  identifier: "CreateProduct",
  description: "A new product.",
  examples: [{ slug: "shop", name: "Shop", type: "website", repository: "acme/shop" }]
})
export type CreateProduct = typeof CreateProduct.Type

export const UpdateProduct = Body({
  slug: Schema.optionalKey(Slug),
  name: Schema.optionalKey(Name(100)),
  type: Schema.optionalKey(ProductType),
  repository: Schema.optionalKey(Schema.NullOr(Repository))
}).annotate({
  identifier: "UpdateProduct",
  description: "The fields of a product to change.",
  examples: [{ name: "Web shop", repository: null }]
})
export type UpdateProduct = typeof UpdateProduct.Type
