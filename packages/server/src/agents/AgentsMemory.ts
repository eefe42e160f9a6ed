import { maxSessions } from "@delivery/domain/agents/Agent"
import type { AgentId, ComputerId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { type AgentRow, agents, persons } from "../access/ActorRows.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  AgentsRepo,
  type ComputerRow,
  computers,
  sessionKey,
  type SessionReport,
  type SessionRow,
  sessions,
  type StoredAgent
} from "./AgentsRepo.ts"
import { signIns } from "./SignInsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  AgentsRepo,
  Effect.map(MemoryStorage, (memory) =>
    AgentsRepo.of({
      register: register(memory),
      lock: lock(memory),
      revoke: revoke(memory),
      list: list(memory),
      ofPerson: ofPerson(memory),
      putComputer: putComputer(memory),
      touchComputers: touchComputers(memory),
      putSession: putSession(memory),
      endSession: endSession(memory)
    })
  )
)

const later = (a: Timestamp, b: Timestamp): Timestamp => (a < b ? b : a)

const register = (memory: Memory) => (agent: AgentRow) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(agents)
      const existing = rows.find(
        ({ client, clientName, personId, revokedAt, workspaceId }) =>
          workspaceId === agent.workspaceId &&
          personId === agent.personId &&
          client === agent.client &&
          clientName === agent.clientName &&
          revokedAt === null
      )
      if (existing === undefined) rows.set(agent.id, agent)
      return existing ?? agent
    })
  )

const lock = (memory: Memory) => (workspaceId: WorkspaceId, id: AgentId) =>
  memory.read((database) => {
    const agent = database.table(agents).get(id)
    return agent?.workspaceId === workspaceId && agent.revokedAt === null ? agent : undefined
  })

const revoke = (memory: Memory) => (id: AgentId, at: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(agents)
      rows.set(id, { ...rows.get(id)!, revokedAt: at })
    })
  )

const list =
  (memory: Memory): AgentsRepo["Service"]["list"] =>
  (workspaceId, personId, sessionsAfter) =>
    memory.read((database): ReadonlyArray<StoredAgent> =>
      database
        .table(agents)
        .filter(
          (agent) =>
            agent.workspaceId === workspaceId &&
            agent.revokedAt === null &&
            (personId === undefined || agent.personId === personId) &&
            database.table(members).get(memberKey(workspaceId, agent.personId))?.active === true
        )
        .map((agent) => storedAgent(database, agent, sessionsAfter))
    )

const storedAgent = (database: MemoryDatabase, agent: AgentRow, sessionsAfter: Timestamp): StoredAgent => {
  const { email, id, name } = database.table(persons).get(agent.personId)!
  const isByServerUrl = ({ agentId, computerId }: { readonly agentId: AgentId; readonly computerId: string | null }) =>
    agentId === agent.id && computerId === null
  return {
    id: agent.id,
    client: agent.client,
    clientName: agent.clientName,
    createdAt: agent.createdAt,
    person: { id, name, email },
    serverUrl: database.table(signIns).find(isByServerUrl) !== undefined,
    computers: database
      .table(computers)
      .filter((computer) => computer.agentId === agent.id)
      .map(({ id, lastSeenAt, name }) => ({
        id,
        name,
        lastSeenAt,
        sessions: database
          .table(sessions)
          .filter((session) => session.computerId === id && session.lastSeenAt > sessionsAfter)
          .map(({ branch, id, lastSeenAt, repository }) => ({ id, repository, branch, lastSeenAt }))
      }))
  }
}

const ofPerson = (memory: Memory) => (workspaceId: WorkspaceId, personId: PersonId) =>
  memory.read((database) =>
    database
      .table(agents)
      .filter((agent) => agent.workspaceId === workspaceId && agent.personId === personId && agent.revokedAt === null)
      .map(({ id }) => id)
  )

const putComputer = (memory: Memory) => (computer: ComputerRow) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(computers)
      const existing = rows.find((row) => row.agentId === computer.agentId && row.name === computer.name)
      const put =
        existing === undefined ? computer : { ...existing, lastSeenAt: later(existing.lastSeenAt, computer.lastSeenAt) }
      rows.set(put.id, put)
      return put
    })
  )

const touchComputers = (memory: Memory) => (seen: ReadonlyMap<ComputerId, Timestamp>) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(computers)
      for (const [id, at] of seen) {
        const computer = rows.get(id)
        if (computer !== undefined) rows.set(id, { ...computer, lastSeenAt: later(computer.lastSeenAt, at) })
      }
    })
  )

const putSession = (memory: Memory) => (session: SessionReport) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(sessions)
      const existing = rows.get(sessionKey(session))
      const put: SessionRow = {
        repository: existing?.repository ?? null,
        branch: existing?.branch ?? null,
        ...session,
        lastSeenAt: later(existing?.lastSeenAt ?? session.lastSeenAt, session.lastSeenAt)
      }
      rows.set(sessionKey(put), put)
      const others = rows
        .filter(({ computerId, id }) => computerId === session.computerId && id !== session.id)
        .toSorted((a, b) => compare(b.lastSeenAt, a.lastSeenAt) || compare(a.id, b.id))
      for (const old of others.slice(maxSessions - 1)) rows.delete(sessionKey(old))
      return put
    })
  )

const endSession =
  (memory: Memory): AgentsRepo["Service"]["endSession"] =>
  (session) =>
    memory.write((database) => Effect.sync(() => database.table(sessions).delete(sessionKey(session))))
