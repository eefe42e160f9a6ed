import type { ProductType } from "@delivery/domain/catalog/Product"
import type { ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { isId, isSlug } from "@delivery/domain/Text"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, failOnDuplicate, iso, isoOrNull, UniqueViolation } from "../storage/Sql.ts"

export interface ProductRow {
  readonly id: ProductId
  readonly workspaceId: WorkspaceId
  readonly slug: string
  readonly name: string
  readonly type: ProductType
  readonly repository: string | null
  readonly archivedAt: Timestamp | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** Stores products; a slug is used once in a workspace. */
export class ProductsRepo extends Context.Service<
  ProductsRepo,
  {
    readonly insert: (product: ProductRow) => Effect.Effect<void, UniqueViolation>
    readonly update: (product: ProductRow) => Effect.Effect<void, UniqueViolation>
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<ProductRow>>
    /** By slug or id. */
    readonly find: (workspaceId: WorkspaceId, ref: string) => Effect.Effect<ProductRow | undefined>
    /** By slug or id; holds the row until the transaction ends. */
    readonly lock: (workspaceId: WorkspaceId, ref: string) => Effect.Effect<ProductRow | undefined>
  }
>()("@delivery/server/catalog/ProductsRepo") {
  static readonly layerSql = Layer.effect(
    ProductsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const products = sql.literal(`select id, workspace_id as "workspaceId", slug, name, type, repository,
        archived_at as "archivedAt", created_at as "createdAt", updated_at as "updatedAt" from products`)
      const one = (workspaceId: WorkspaceId, ref: string, lock: string) =>
        isId(ref) || isSlug(ref)
          ? sql<SqlRow>`${products} where workspace_id = ${workspaceId}
              and ${isId(ref) ? sql`id = ${ref}` : sql`slug = ${ref}`} ${sql.literal(lock)}`.pipe(
              Effect.map((rows) => rows.map(readRow)[0]),
              dieOnSqlError
            )
          : Effect.undefined
      return ProductsRepo.of({
        insert: (product) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into products (id, workspace_id, slug, name, type, repository,
              archived_at, created_at, updated_at)
            values (${product.id}, ${product.workspaceId}, ${product.slug}, ${product.name}, ${product.type},
              ${product.repository}, ${dateOrNull(product.archivedAt)}, ${date(product.createdAt)},
              ${date(product.updatedAt)})`)
          ),
        update: (product) =>
          failOnDuplicate(
            Effect.asVoid(sql`update products set slug = ${product.slug}, name = ${product.name},
              type = ${product.type}, repository = ${product.repository},
              archived_at = ${dateOrNull(product.archivedAt)}, updated_at = ${date(product.updatedAt)}
            where id = ${product.id}`)
          ),
        list: (workspaceId) =>
          sql<SqlRow>`${products} where workspace_id = ${workspaceId}`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        find: (workspaceId, ref) => one(workspaceId, ref, ""),
        lock: (workspaceId, ref) => one(workspaceId, ref, "for update")
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    ProductsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const put = (product: ProductRow) =>
        memory.write((database) => {
          const products = database.table<ProductRow>("products")
          const isTaken = (other: ProductRow) =>
            other.workspaceId === product.workspaceId && other.slug === product.slug && other.id !== product.id
          return products.find(isTaken) !== undefined
            ? Effect.fail(new UniqueViolation({ constraint: "products_slug_key" }))
            : Effect.sync(() => products.set(product.id, product))
        })
      const find = (workspaceId: WorkspaceId, ref: string) =>
        memory.read((database) =>
          database
            .table<ProductRow>("products")
            .find((product) => product.workspaceId === workspaceId && (product.id === ref || product.slug === ref))
        )
      return ProductsRepo.of({
        insert: put,
        update: put,
        list: (workspaceId) =>
          memory.read((database) =>
            database.table<ProductRow>("products").filter((product) => product.workspaceId === workspaceId)
          ),
        find,
        lock: find
      })
    })
  )
}

type SqlRow = Omit<ProductRow, "archivedAt" | "createdAt" | "updatedAt"> & {
  readonly archivedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const readRow = (row: SqlRow): ProductRow => ({
  ...row,
  archivedAt: isoOrNull(row.archivedAt),
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})
