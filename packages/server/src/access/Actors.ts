import { Actor, Person } from "@delivery/domain/identity/Actor"
import type { AgentId, ApiKeyId, DeploymentTokenId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { type PgClient, PgTypes } from "@effect/sql-pg"
import type { SqlClient, Statement } from "effect/sql"
import { column, texts } from "../storage/Columns.ts"
import { type JsonExpression, jsonObject } from "../storage/Json.ts"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { type ActorRef, isSameActor } from "./Access.ts"
import { agentName, agents, apiKeys, deploymentTokens, persons } from "./ActorRows.ts"

/**
 * Actors in answers: references are stored, present names are shown, and what is gone is `removed`. As columns of SQL and
 * over the memory storage, side by side.
 */

export interface ActorRow {
  readonly actorKind: ActorRef["kind"]
  readonly actorId: string
  readonly actorName: string | null
  readonly actorEmail: string | null
  /** Of an agent: the person it works for. */
  readonly actorPerson?: Person | null
}

/**
 * Columns that `readActor` needs; `at` names the pair of columns, such as `e.actor`. A statement that shows several
 * actors names each, and its columns and aliases begin with the name.
 */
export const actorColumns = (sql: SqlClient.SqlClient, at: string, name = "actor"): Statement.Fragment =>
  sql.literal(`${at}_kind as "${name}Kind", ${at}_id as "${name}Id",
    ${actorNameOf(name)} as "${name}Name",
    ${name}_person.email as "${name}Email", case when ${name}_agent.id is not null then json_build_object(
      'id', ${name}_person.id, 'name', ${name}_person.name, 'email', ${name}_person.email) end as "${name}Person"`)

const actorNameOf = (name: string): string =>
  `coalesce(${name}_agent.client_name, initcap(${name}_agent.client), ${name}_person.name, ${name}_key.name,
      ${name}_token.name)`

/** The actor that `readActor` reads, as JSON of an answer, over the same joins. */
export const actorJson = (at: string, name = "actor"): JsonExpression => {
  const [user, agent, apiKey, deploymentToken, removed] = Actor.members
  const own = { kind: `${at}_kind`, id: `${at}_id`, name: actorNameOf(name) }
  const person = { id: `${name}_person.id`, name: `${name}_person.name`, email: `${name}_person.email` }
  return `case when ${own.name} is null then ${jsonObject(removed, { kind: "'removed'" })} else case ${at}_kind
    when 'user' then ${jsonObject(user, { ...own, email: `coalesce(${name}_person.email, '')` })}
    when 'agent' then ${jsonObject(agent, { ...own, person: jsonObject(Person, person) })}
    when 'apiKey' then ${jsonObject(apiKey, own)}
    when 'deploymentToken' then ${jsonObject(deploymentToken, own)} end end`
}

export const actorJoins = (sql: SqlClient.SqlClient, at: string, name = "actor"): Statement.Fragment =>
  sql.literal(`left join agents ${name}_agent on ${at}_kind = 'agent' and ${name}_agent.id = ${at}_id
    left join persons ${name}_person
      on ${name}_person.id = case ${at}_kind when 'user' then ${at}_id else ${name}_agent.person_id end
    left join api_keys ${name}_key on ${at}_kind = 'apiKey' and ${name}_key.id = ${at}_id
    left join deployment_tokens ${name}_token on ${at}_kind = 'deploymentToken' and ${name}_token.id = ${at}_id`)

/** Actors as a table of a kind and an id. */
export const actorRows = (sql: PgClient.PgClient, actors: ReadonlyArray<ActorRef>): Statement.Fragment =>
  sql`unnest(${texts(actors, ({ kind }) => kind)}, ${column(actors, PgTypes.OID.uuid, ({ id }) => id)})`

/** The actors, and the agents in the workspace of those who are persons: these act for them. */
export const actorsAndAgents = (
  sql: PgClient.PgClient,
  workspaceId: WorkspaceId,
  actors: ReadonlyArray<ActorRef>
): Statement.Fragment =>
  sql`select kind, id from ${actorRows(sql, actors)} as a (kind, id)
    union select 'agent', g.id from agents g join ${actorRows(sql, actors)} as p (kind, id)
      on p.kind = 'user' and p.id = g.person_id where g.workspace_id = ${workspaceId}`

/** Of an actor the person, whoever an agent works for, or who made a key, also by another key: as a statement of one row at most. */
export const selectPersonBehind = (
  sql: PgClient.PgClient,
  kind: Statement.Fragment,
  id: Statement.Fragment
): Statement.Fragment =>
  sql`with recursive behind (kind, id) as (
      select ${kind}, ${id}
      union
      select k.created_by_kind, k.created_by_id from behind b
      join api_keys k on b.kind = 'apiKey' and k.id = b.id where k.created_by_id is not null
    )
    select id from behind where kind = 'user'
    union select g.person_id from behind b join agents g on b.kind = 'agent' and g.id = b.id`

/** The same over the memory storage. */
export const personBehind = (database: MemoryDatabase, actor: ActorRef): PersonId | undefined => {
  switch (actor.kind) {
    case "user":
      return actor.id
    case "agent":
      return database.table(agents).get(actor.id)!.personId
    case "deploymentToken":
      return undefined
    case "apiKey": {
      const key = database.table(apiKeys).get(actor.id)
      if (key === undefined || key.createdByKind === null) return undefined
      return personBehind(database, { kind: key.createdByKind, id: key.createdById } as ActorRef)
    }
  }
}

export const readActor = (row: ActorRow): Actor => {
  if (row.actorName === null) return { kind: "removed" }
  switch (row.actorKind) {
    case "user":
      return { kind: "user", id: row.actorId as PersonId, name: row.actorName, email: row.actorEmail ?? "" }
    case "agent":
      return { kind: "agent", id: row.actorId as AgentId, name: row.actorName, person: row.actorPerson! }
    case "apiKey":
      return { kind: "apiKey", id: row.actorId as ApiKeyId, name: row.actorName }
    case "deploymentToken":
      return { kind: "deploymentToken", id: row.actorId as DeploymentTokenId, name: row.actorName }
  }
}

/** The same over the memory storage. */
export const resolveActor = (database: MemoryDatabase, ref: ActorRef): Actor => {
  switch (ref.kind) {
    case "user": {
      const person = database.table(persons).get(ref.id)
      return person === undefined
        ? { kind: "removed" }
        : { kind: "user", id: person.id, name: person.name, email: person.email }
    }
    case "agent": {
      const agent = database.table(agents).get(ref.id)
      const person = agent && database.table(persons).get(agent.personId)
      return agent === undefined || person === undefined
        ? { kind: "removed" }
        : {
            kind: "agent",
            id: agent.id,
            name: agentName(agent),
            person: { id: person.id, name: person.name, email: person.email }
          }
    }
    case "apiKey": {
      const key = database.table(apiKeys).get(ref.id)
      return key === undefined ? { kind: "removed" } : { kind: "apiKey", id: key.id, name: key.name }
    }
    case "deploymentToken": {
      const token = database.table(deploymentTokens).get(ref.id)
      return token === undefined ? { kind: "removed" } : { kind: "deploymentToken", id: token.id, name: token.name }
    }
  }
}

/** The same as `actorsAndAgents`, of one actor. */
export const isActorOrAgent = (database: MemoryDatabase, actor: ActorRef, actors: ReadonlyArray<ActorRef>): boolean =>
  actors.some((one) => isSameActor(one, actor)) ||
  (actor.kind === "agent" &&
    actors.some(({ id, kind }) => kind === "user" && id === database.table(agents).get(actor.id)?.personId))
