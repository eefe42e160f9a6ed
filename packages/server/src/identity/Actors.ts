import type { Actor, Person } from "@delivery/domain/identity/Actor"
import type { AgentId, ApiKeyId, PersonId } from "@delivery/domain/Ids"
import type { SqlClient, Statement } from "effect/sql"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import type { ActorRef } from "./Access.ts"
import { agentName, type AgentRow } from "./Agent.ts"
import type { ApiKeyRow } from "./ApiKeysRepo.ts"
import type { PersonRow } from "./PersonsRepo.ts"

/** Actors in answers: references are stored, present names are shown, and what is gone is `removed`. */

export interface ActorRow {
  readonly actorKind: ActorRef["kind"]
  readonly actorId: string
  readonly actorName: string | null
  readonly actorEmail: string | null
  /** Of an agent: who it works for. */
  readonly actorPerson?: Person | null
}

/** Columns that `readActor` needs; `at` names the pair of columns, such as `e.actor`. */
export const actorColumns = (sql: SqlClient.SqlClient, at: string): Statement.Fragment =>
  sql.literal(`${at}_kind as "actorKind", ${at}_id as "actorId",
    coalesce(initcap(actor_agent.client), actor_person.name, actor_key.name) as "actorName",
    actor_person.email as "actorEmail", case when actor_agent.id is not null then json_build_object(
      'id', actor_person.id, 'name', actor_person.name, 'email', actor_person.email) end as "actorPerson"`)

export const actorJoins = (sql: SqlClient.SqlClient, at: string): Statement.Fragment =>
  sql.literal(`left join agents actor_agent on ${at}_kind = 'agent' and actor_agent.id = ${at}_id
    left join persons actor_person
      on actor_person.id = case ${at}_kind when 'user' then ${at}_id else actor_agent.person_id end
    left join api_keys actor_key on ${at}_kind = 'apiKey' and actor_key.id = ${at}_id`)

export const readActor = (row: ActorRow): Actor => {
  if (row.actorName === null) return { kind: "removed" }
  switch (row.actorKind) {
    case "user":
      return { kind: "user", id: row.actorId as PersonId, name: row.actorName, email: row.actorEmail ?? "" }
    case "agent":
      return { kind: "agent", id: row.actorId as AgentId, name: row.actorName, person: row.actorPerson! }
    case "apiKey":
      return { kind: "apiKey", id: row.actorId as ApiKeyId, name: row.actorName }
  }
}

/** The same over the memory storage. */
export const resolveActor = (database: MemoryDatabase, ref: ActorRef): Actor => {
  if (ref.kind === "user") {
    const person = database.table<PersonRow>("persons").get(ref.id)
    return person === undefined
      ? { kind: "removed" }
      : { kind: "user", id: person.id, name: person.name, email: person.email }
  }
  if (ref.kind === "agent") {
    const agent = database.table<AgentRow>("agents").get(ref.id)
    const person = agent && database.table<PersonRow>("persons").get(agent.personId)
    return agent === undefined || person === undefined
      ? { kind: "removed" }
      : {
          kind: "agent",
          id: agent.id,
          name: agentName(agent.client),
          person: { id: person.id, name: person.name, email: person.email }
        }
  }
  const key = database.table<ApiKeyRow>("api_keys").get(ref.id)
  return key === undefined ? { kind: "removed" } : { kind: "apiKey", id: key.id, name: key.name }
}
