import type { SessionId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { touchMemory } from "../storage/Touch.ts"
import { isBlocked } from "./BlocksRepo.ts"
import { type Credential, findPerson, findWorkspace } from "./Credentials.ts"
import { memberKey, members } from "./MembersRepo.ts"
import { type AuthenticatedSession, type SessionRow, sessions, SessionsRepo } from "./SessionsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  SessionsRepo,
  Effect.map(MemoryStorage, (memory) =>
    SessionsRepo.of({
      insert: (session) =>
        memory.write((database) => Effect.sync(() => database.table(sessions).set(session.id, session))),
      authenticate: (credential) => memory.read((database) => authenticate(database, credential)),
      state: (asked, { createdAfter, seenAfter }) =>
        memory.read((database) =>
          JSON.stringify(
            asked.map((credential) => {
              const found = authenticate(database, credential)
              return found === undefined
                ? null
                : [found, found.session.lastSeenAt <= seenAfter, found.session.createdAt <= createdAfter]
            })
          )
        ),
      find: find(memory),
      hold: find(memory),
      ofPerson: (personId) =>
        memory.read((database) => database.table(sessions).filter((session) => session.personId === personId)),
      ofMembers: (workspaceId) =>
        memory.read((database) => {
          const rows = database.table(members)
          return database
            .table(sessions)
            .filter(({ personId }) => rows.get(memberKey(workspaceId, personId))?.active === true)
        }),
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

/** Transactions run one after the other: nobody ends it meanwhile. */
const find = (memory: Memory) => (id: SessionId) => memory.read((database) => database.table(sessions).get(id))

const authenticate = (
  database: MemoryDatabase,
  { tokenHash, workspace }: Credential
): AuthenticatedSession | undefined => {
  const session = database.table(sessions).find((row) => row.tokenHash === tokenHash)
  if (session === undefined) return undefined
  const asked = findWorkspace(database, workspace)
  const found = isBlocked(database, asked?.id, session.id) ? undefined : asked
  return { session, ...findPerson(database, session.personId, found) }
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
