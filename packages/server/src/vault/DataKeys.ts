import type { WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { NextId } from "../ids/NextId.ts"
import { Keyring } from "../keys/Keyring.ts"
import {
  hashKey,
  keyedHash,
  keyLength,
  type KeySet,
  type LoadedKey,
  loadKey,
  makeCipher,
  NotAuthentic,
  open,
  seal,
  type ValueCipher
} from "./ValueCipher.ts"
import { type DataKey, type StoredDataKey, VaultKeysRepo } from "./VaultKeysRepo.ts"

/** How long a process encrypts under a data key before it looks whether another one has replaced it. */
export const keysKeptMillis = 60_000

/**
 * The data keys of workspaces (docs/contract.md, Vault). Each is made when it is first needed, and stored encrypted by
 * the keyring. Values are encrypted with AES-256-GCM and a random nonce: byte 1 is the format, then the data key's id
 * (16), nonce (12), ciphertext and tag (16). Authenticated with them: format, data key, workspace, secret, environment
 * and version, so that a value can be decrypted at its own place only.
 */
export class DataKeys extends Context.Service<
  DataKeys,
  {
    /**
     * The cipher of a workspace. Must be called outside of transactions: a key that is rolled back must not have
     * encrypted anything.
     */
    readonly cipher: (workspaceId: WorkspaceId) => Effect.Effect<ValueCipher>
  }
>()("@delivery/server/vault/DataKeys") {
  static readonly layer = Layer.effect(DataKeys, Effect.gen(make))
}

interface Dependencies {
  readonly repo: VaultKeysRepo["Service"]
  readonly keyring: Keyring["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = { repo: yield* VaultKeysRepo, keyring: yield* Keyring, nextId: yield* NextId }
  return DataKeys.of({ cipher: cachedCipher(dependencies) })
}

const cachedCipher = (dependencies: Dependencies) => {
  const ciphers = new Map<WorkspaceId, { readonly cipher: ValueCipher; checkedAt: number }>()
  const load = loadKeys(dependencies)
  const refresh = (workspaceId: WorkspaceId): Effect.Effect<{ readonly keys: KeySet; readonly cipher: ValueCipher }> =>
    Effect.gen(function* () {
      const checkedAt = yield* Clock.currentTimeMillis
      const known = ciphers.get(workspaceId)
      // Others go on with the known one meanwhile.
      if (known !== undefined) known.checkedAt = checkedAt
      const keys = yield* load(workspaceId)
      const cipher = makeCipher(
        keys,
        Effect.map(refresh(workspaceId), ({ keys }) => keys)
      )
      ciphers.set(workspaceId, { cipher, checkedAt })
      return { keys, cipher }
    })
  return (workspaceId: WorkspaceId) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const known = ciphers.get(workspaceId)
      return known !== undefined && now - known.checkedAt < keysKeptMillis
        ? Effect.succeed(known.cipher)
        : Effect.map(refresh(workspaceId), ({ cipher }) => cipher)
    })
}

const loadKeys = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const create = createDataKey(dependencies)
  return Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
    const found = yield* repo.dataKeys(workspaceId)
    if (found.length === 0) yield* create(workspaceId)
    const [current, ...replaced] = found.length === 0 ? yield* repo.dataKeys(workspaceId) : found
    if (current === undefined) return yield* Effect.die(new Error("No data key was stored."))
    const opened = yield* openDataKey(dependencies, current)
    return {
      current: opened.key,
      replaced: yield* Effect.forEach(replaced, (key) => Effect.map(openDataKey(dependencies, key), ({ key }) => key)),
      revision: keyedHash(opened.revisionKey)
    } satisfies KeySet
  })
}

/** A stored data key, ready to use, and the key of the revisions that it makes. */
export const openDataKey = ({ keyring }: Pick<Dependencies, "keyring">, stored: StoredDataKey) =>
  Effect.gen(function* () {
    const bytes = yield* Effect.catchTag(
      keyring.decrypt(dataKeyPurpose(stored), stored.sealed),
      "KeyringError",
      (error) => Effect.die(new NotAuthentic({ message: dataKeyProblem(stored, error) }))
    )
    const key = loadKey(stored.workspaceId, stored.id, bytes)
    const revisionKey =
      stored.revisionKey === null
        ? hashKey(bytes, "revision")
        : Buffer.from(Redacted.value(yield* open(key, revisionPurpose, stored.revisionKey)), "base64url")
    return { key, revisionKey }
  })

const revisionPurpose = "key of revisions"

/** A new data key of a workspace: its bytes, and the form that is stored. */
export const newDataKey = ({ keyring, nextId }: Omit<Dependencies, "repo">, workspaceId: WorkspaceId) =>
  Effect.gen(function* () {
    const id = yield* nextId<string>()
    const bytes = randomBytes(keyLength)
    return {
      id,
      workspaceId,
      keyId: keyring.activeId,
      sealed: yield* keyring.encrypt(dataKeyPurpose({ id, workspaceId }), bytes),
      createdAt: timestamp(yield* Clock.currentTimeMillis),
      bytes
    }
  })

/** The key of revisions, as it is stored beside a data key that did not make it. */
export const sealRevisionKey = (key: LoadedKey, revisionKey: Uint8Array): Uint8Array =>
  seal(key, revisionPurpose, Redacted.make(Buffer.from(revisionKey).toString("base64url")))

/** Makes the data key of a workspace, unless it has one. */
const createDataKey = (dependencies: Dependencies) =>
  Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
    const { bytes: _, ...key } = yield* newDataKey(dependencies, workspaceId)
    yield* dependencies.repo.insertDataKey({ ...key, revisionKey: null })
  })

/** The purpose that a data key is encrypted for. */
export const dataKeyPurpose = (key: Pick<DataKey, "id" | "workspaceId">): string =>
  `data-key:${key.id}:${key.workspaceId}`

/** Why a data key cannot be decrypted, for the log. */
export const dataKeyProblem = (
  key: Pick<DataKey, "id" | "workspaceId">,
  { keyId, reason }: { readonly keyId: string; readonly reason: "unknown_key" | "not_authentic" }
): string =>
  `The data key ${key.id} of the workspace ${key.workspaceId} cannot be decrypted: ` +
  (reason === "unknown_key"
    ? `VAULT_KEYS lacks the key ${keyId}.`
    : `it is not what was encrypted under the key ${keyId}.`)
