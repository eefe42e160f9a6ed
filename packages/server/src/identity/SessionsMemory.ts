import { Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { touchMemory } from "../storage/Touch.ts"
import { type Credential, findPerson, findWorkspace } from "./Credentials.ts"
import { type AuthenticatedSession, type SessionRow, sessions, SessionsRepo } from "./SessionsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  SessionsRepo,
  Effect.map(MemoryStorage, (memory) =>
    SessionsRepo.of({
      insert: (session) =>
        memory.write((database) => Effect.sync(() => database.table(sessions).set(session.id, session))),
      authenticate: (credential) => memory.read((database) => authenticate(database, credential)),
      ofPerson: (personId) =>
        memory.read((database) => database.table(sessions).filter((session) => session.personId === personId)),
      prove: prove(memory),
      end: (personId, id) =>
        Effect.map(
          endWhere(memory, (session) => session.id === id && session.personId === personId),
          ([ended]) => ended
        ),
      endOthers: (personId, but) => endWhere(memory, (session) => session.personId === personId && session.id !== but),
      endByToken: (tokenHash) =>
        Effect.map(
          endWhere(memory, (session) => session.tokenHash === tokenHash),
          ([ended]) => ended
        ),
      endOld: (beganBefore, seenBefore) =>
        Effect.asVoid(
          endWhere(memory, (session) => session.createdAt < beganBefore || session.lastSeenAt < seenBefore)
        ),
      touch: touchMemory(memory, sessions, "lastSeenAt")
    })
  )
)

const authenticate = (
  database: MemoryDatabase,
  { tokenHash, workspace }: Credential
): AuthenticatedSession | undefined => {
  const session = database.table(sessions).find((row) => row.tokenHash === tokenHash)
  return session && { session, ...findPerson(database, session.personId, findWorkspace(database, workspace)) }
}

const prove =
  (memory: Memory): SessionsRepo["Service"]["prove"] =>
  (id, from, to) =>
    memory.write((database) =>
      Effect.sync(() => {
        const session = database.table(sessions).get(id)
        if (session?.tokenHash !== from) return false
        database.table(sessions).set(id, { ...session, ...to })
        return true
      })
    )

const endWhere = (memory: Memory, isEnded: (session: SessionRow) => boolean) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(sessions)
      const ended = rows.filter(isEnded)
      for (const { id } of ended) rows.delete(id)
      return ended
    })
  )
