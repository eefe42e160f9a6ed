import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { passkeyChallenges, passkeys, PasskeysRepo } from "./PasskeysRepo.ts"

type Memory = MemoryStorage["Service"]
type Repo = PasskeysRepo["Service"]

export const layer = Layer.effect(
  PasskeysRepo,
  Effect.map(MemoryStorage, (memory) =>
    PasskeysRepo.of({
      insert: insert(memory),
      ofPerson: (personId) =>
        memory.read((database) => database.table(passkeys).filter((row) => row.personId === personId)),
      ofCredential: (credentialId) =>
        memory.read((database) => database.table(passkeys).find((row) => row.credentialId === credentialId)),
      rename: rename(memory),
      remove: remove(memory),
      use: use(memory),
      addChallenge: addChallenge(memory),
      useChallenge: useChallenge(memory)
    })
  )
)

const insert =
  (memory: Memory): Repo["insert"] =>
  (passkey) =>
    memory.write((database) => {
      const rows = database.table(passkeys)
      return rows.find((row) => row.credentialId === passkey.credentialId) === undefined
        ? Effect.sync(() => rows.set(passkey.id, passkey))
        : Effect.fail(new UniqueViolation({ constraint: "passkeys_credential_id_key" }))
    })

const rename =
  (memory: Memory): Repo["rename"] =>
  (personId, id, name) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(passkeys)
        const known = rows.get(id)
        if (known?.personId !== personId) return undefined
        const renamed = { ...known, name }
        rows.set(id, renamed)
        return renamed
      })
    )

const remove =
  (memory: Memory): Repo["remove"] =>
  (personId, id) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(passkeys)
        if (rows.get(id)?.personId !== personId) return false
        rows.delete(id)
        return true
      })
    )

const use =
  (memory: Memory): Repo["use"] =>
  (change) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(passkeys)
        const known = rows.get(change.id)
        if (known === undefined) return false
        if (known.counter >= change.counter && (known.counter !== 0 || change.counter !== 0)) return false
        rows.set(known.id, { ...known, ...change })
        return true
      })
    )

const addChallenge =
  (memory: Memory): Repo["addChallenge"] =>
  (challenge) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(passkeyChallenges)
        rows.deleteWhere(({ expiresAt }) => expiresAt <= challenge.createdAt)
        rows.set(challenge.challengeHash, challenge)
      })
    )

const useChallenge =
  (memory: Memory): Repo["useChallenge"] =>
  ({ challengeHash, personId, purpose }, now) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(passkeyChallenges)
        const known = rows.get(challengeHash)
        if (known?.purpose !== purpose || known.personId !== personId || known.expiresAt <= now) return false
        rows.delete(challengeHash)
        return true
      })
    )
