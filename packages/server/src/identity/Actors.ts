import type { Actor } from "@delivery/domain/identity/Actor"
import type { ApiKeyId, PersonId } from "@delivery/domain/Ids"
import type { SqlClient, Statement } from "effect/sql"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import type { ActorRef } from "./Access.ts"
import type { ApiKeyRow } from "./ApiKeysRepo.ts"
import type { PersonRow } from "./PersonsRepo.ts"

/** Actors in answers: references are stored, present names are shown, and what is gone is `removed`. */

export interface ActorRow {
  readonly actorKind: "user" | "apiKey"
  readonly actorId: string
  readonly actorName: string | null
  readonly actorEmail: string | null
}

/** Columns that `readActor` needs; `at` names the pair of columns, such as `e.actor`. */
export const actorColumns = (sql: SqlClient.SqlClient, at: string): Statement.Fragment =>
  sql.literal(`${at}_kind as "actorKind", ${at}_id as "actorId", coalesce(actor_person.name, actor_key.name) as "actorName",
    actor_person.email as "actorEmail"`)

export const actorJoins = (sql: SqlClient.SqlClient, at: string): Statement.Fragment =>
  sql.literal(`left join persons actor_person on ${at}_kind = 'user' and actor_person.id = ${at}_id
    left join api_keys actor_key on ${at}_kind = 'apiKey' and actor_key.id = ${at}_id`)

export const readActor = (row: ActorRow): Actor => {
  if (row.actorName === null) return { kind: "removed" }
  return row.actorKind === "user"
    ? { kind: "user", id: row.actorId as PersonId, name: row.actorName, email: row.actorEmail ?? "" }
    : { kind: "apiKey", id: row.actorId as ApiKeyId, name: row.actorName }
}

/** The same over the memory storage. */
export const resolveActor = (database: MemoryDatabase, ref: ActorRef): Actor => {
  if (ref.kind === "user") {
    const person = database.table<PersonRow>("persons").get(ref.id)
    return person === undefined
      ? { kind: "removed" }
      : { kind: "user", id: person.id, name: person.name, email: person.email }
  }
  const key = database.table<ApiKeyRow>("api_keys").get(ref.id)
  return key === undefined ? { kind: "removed" } : { kind: "apiKey", id: key.id, name: key.name }
}
