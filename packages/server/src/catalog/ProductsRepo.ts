import type { ProductType } from "@delivery/domain/catalog/Product"
import type { ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { Context } from "effect"
import { instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { ArchivablesRepo } from "./Archivables.ts"

/** The products of each workspace. */
export const products = table("products", {
  id: uuid<ProductId>(),
  workspaceId: uuid<WorkspaceId>(),
  slug: text(),
  name: text(),
  type: text<ProductType>(),
  repository: nullable(text()),
  baseBranch: text(),
  archivedAt: nullable(instant()),
  createdAt: instant(),
  updatedAt: instant()
})

export type ProductRow = Row<typeof products>

/** Stores products. A slug is used once in a workspace. */
export class ProductsRepo extends Context.Service<ProductsRepo, ArchivablesRepo<ProductRow>>()(
  "@delivery/server/catalog/ProductsRepo"
) {}
