import {
  type CreateProduct,
  defaultBaseBranch,
  needsBaseUrl,
  type UpdateProduct
} from "@delivery/domain/catalog/Product"
import { Conflict } from "@delivery/domain/Errors"
import type { ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import type { Access } from "../access/Access.ts"
import { Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { type Archivables, makeArchivables } from "./Archivables.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { type ProductRow, ProductsRepo } from "./ProductsRepo.ts"

/** Products (docs/contract.md, Catalog). */
export class Products extends Context.Service<Products, Archivables<ProductRow, CreateProduct, UpdateProduct>>()(
  "@delivery/server/catalog/Products"
) {
  static readonly layer = Layer.effect(Products, Effect.gen(make))
}

function* make() {
  const events = yield* Events
  return makeArchivables<ProductRow, CreateProduct, UpdateProduct>({
    noun: "product",
    name: "Products",
    repo: yield* ProductsRepo,
    storage: yield* Storage,
    created: () => [],
    record: (by, event) => events.record(by, event),
    nextId: yield* NextId,
    newRow,
    editable: ["slug", "name", "type", "repository", "baseBranch"],
    checkArchive: () => Effect.succeed([]),
    checkUpdate: checkUpdate(yield* DeploymentsRepo)
  })
}

const newRow = (input: CreateProduct, id: ProductId, workspaceId: WorkspaceId, now: Timestamp): ProductRow => ({
  id,
  workspaceId,
  slug: input.slug,
  name: input.name,
  type: input.type,
  repository: input.repository ?? null,
  baseBranch: input.baseBranch ?? defaultBaseBranch,
  archivedAt: null,
  createdAt: now,
  updatedAt: now
})

/** If the new type needs a `baseUrl`, each deployment of the product must have one. */
const checkUpdate = (deployments: DeploymentsRepo["Service"]) =>
  Effect.fnUntraced(function* (_: Access, before: ProductRow, after: ProductRow) {
    if (!needsBaseUrl(after.type) || needsBaseUrl(before.type)) return []
    if (!(yield* deployments.someWithoutBaseUrl(before.id))) return []
    return yield* new Conflict({
      message: `A product of the type ${after.type} needs a baseUrl in each of its deployments, and one has none.`,
      reason: "needs_base_url"
    })
  })
