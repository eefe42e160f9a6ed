import type { SqlClient, Statement } from "effect/sql"

/**
 * The number of an environment that whoever writes values there shares (`VaultRepo.lockTargets`), and whoever changes it holds alone,
 * beside its row. The row alone would not do: who locks it for itself waits as long as others keep sharing it, and whoever writes
 * again and again could keep approvals from being turned on.
 *
 * @param id The column of its id.
 */
export const environmentLock = (sql: SqlClient.SqlClient, id: string): Statement.Fragment =>
  sql`hashtextextended('environment:' || ${sql.literal(id)}, 0)`
