import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeArchivablesSql } from "./ArchivablesSql.ts"
import { products, ProductsRepo } from "./ProductsRepo.ts"

export const layer = Layer.effect(
  ProductsRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    makeArchivablesSql(sql, products, ["slug", "name", "type", "repository", "baseBranch"])
  )
)
