import { Schema } from "effect"
import { Body } from "../Body.ts"
import { ProductId } from "../Ids.ts"
import { atLeast, atMost, Name, OneOf, Slug, Text } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

export const ProductType = OneOf(["website", "api", "app", "library", "service"]).annotate({
  identifier: "ProductType",
  description: "The kind of product. Deployments of websites and APIs must have a `baseUrl`.",
  examples: ["website"]
})
export type ProductType = typeof ProductType.Type

/** Whether deployments of such a product must have a `baseUrl`. */
export const needsBaseUrl = (type: ProductType): boolean => type === "website" || type === "api"

/** A repository on a code host, `owner/name`. */
export const Repository = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/u, { message: "Expected owner/name" }),
  atMost(200)
).annotate({ description: "The repository on the code host, as `owner/name`." })

/** The branch that others are merged into, as runs name it. */
export const BaseBranch = Text(500).check(atLeast(1)).annotate({
  description: "The branch that others are merged into. A failure that it has is not news on another branch."
})

/** The base branch of a product that names none. */
export const defaultBaseBranch = "main"

/** A product, in the short form that other objects have. */
export const ProductRef = Schema.Struct({
  id: ProductId,
  slug: Schema.String,
  name: Schema.String,
  type: ProductType,
  archived: Schema.Boolean
}).annotate({
  identifier: "ProductRef",
  description: "A product, in the short form that other objects have.",
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

/** Something that the team ships (docs/contract.md, Catalog). */
export const Product = Schema.Struct({
  id: ProductId,
  slug: Schema.String,
  name: Schema.String,
  type: ProductType,
  repository: Schema.NullOr(Schema.String).annotate({
    description: "The repository on the code host, as `owner/name`."
  }),
  baseBranch: Schema.String.annotate({ description: "The branch that others are merged into." }),
  archived: Schema.Boolean,
  archivedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was archived; null if it is not." }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "Product",
  description: "Something that the team ships.",
  examples: [
    {
      id: ProductId.make("0197a1b2-0000-7000-8000-0000000000d1"),
      slug: "shop",
      name: "Shop",
      type: "website",
      repository: "acme/shop",
      baseBranch: defaultBaseBranch,
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
  repository: Schema.optionalKey(Schema.NullOr(Repository)),
  baseBranch: Schema.optionalKey(BaseBranch.annotate({ default: defaultBaseBranch }))
}).annotate({
  identifier: "CreateProduct",
  description: "The fields of a new product.",
  examples: [{ slug: "shop", name: "Shop", type: "website", repository: "acme/shop" }]
})
export type CreateProduct = typeof CreateProduct.Type

export const UpdateProduct = Body({
  slug: Schema.optionalKey(Slug),
  name: Schema.optionalKey(Name(100)),
  type: Schema.optionalKey(ProductType),
  repository: Schema.optionalKey(Schema.NullOr(Repository)),
  baseBranch: Schema.optionalKey(BaseBranch)
}).annotate({
  identifier: "UpdateProduct",
  description: "The fields to change.",
  examples: [{ name: "Web shop", repository: null }]
})
export type UpdateProduct = typeof UpdateProduct.Type
