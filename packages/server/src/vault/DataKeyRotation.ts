import type { WorkspaceId } from "@delivery/domain/Ids"
import { Context, Effect, Layer } from "effect"
import type { SettingsError } from "../Config.ts"
import { NextId } from "../ids/NextId.ts"
import { Keyring } from "../keys/Keyring.ts"
import { Storage } from "../storage/Storage.ts"
import { DataKeyRotationRepo, type SealedValue } from "./DataKeyRotationRepo.ts"
import { DataKeys, keysKeptMillis, newDataKey, openDataKey, sealRevisionKey } from "./DataKeys.ts"
import { SealedSecrets } from "./SealedSecrets.ts"
import { loadKey } from "./ValueCipher.ts"
import { VaultKeys } from "./VaultKeys.ts"

/** What a rotation of data keys has done so far. */
export type RotationStep =
  | { readonly step: "replaced"; readonly dataKeys: number }
  | { readonly step: "sealed"; readonly values: number }
  | { readonly step: "waiting"; readonly seconds: number }

/** Replaces the data keys of all workspaces (docs/contract.md, Vault, At rest). For a command of the host. */
export class DataKeyRotation extends Context.Service<
  DataKeyRotation,
  {
    /**
     * Gives every workspace a new data key and encrypts its values and other secrets under it, while servers run. A server
     * encrypts under the key that it knows for up to a minute: what it wrote meanwhile is encrypted anew after that. Safe to
     * repeat and to interrupt at any time: replaced keys are kept, and open what is still under them.
     */
    readonly rotate: (options: {
      /** Whether servers may be running: what they encrypt under replaced keys is waited for. */
      readonly isShared: boolean
      readonly tell: (step: RotationStep) => Effect.Effect<void>
    }) => Effect.Effect<void, SettingsError>
    /** How many values of secrets, all versions counted, are under keys that were replaced. */
    readonly remaining: Effect.Effect<number>
  }
>()("@delivery/server/vault/DataKeyRotation") {
  static readonly layer = Layer.effect(DataKeyRotation, Effect.gen(make))
}

interface Dependencies {
  readonly storage: Storage["Service"]
  readonly keyring: Keyring["Service"]
  readonly nextId: NextId["Service"]
  readonly vaultKeys: VaultKeys["Service"]
  readonly dataKeys: DataKeys["Service"]
  readonly repo: DataKeyRotationRepo["Service"]
  readonly others: SealedSecrets["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    storage: yield* Storage,
    keyring: yield* Keyring,
    nextId: yield* NextId,
    vaultKeys: yield* VaultKeys,
    dataKeys: yield* DataKeys,
    repo: yield* DataKeyRotationRepo,
    others: yield* SealedSecrets
  }
  return DataKeyRotation.of({
    rotate: rotate(dependencies),
    remaining: dependencies.repo.countUnderReplaced
  })
}

/** How long a server may go on with a key: until it looks again, and until the request that it has begun then ends. */
const waitSeconds = keysKeptMillis / 1_000 + 15

const rotate = (dependencies: Dependencies): DataKeyRotation["Service"]["rotate"] =>
  Effect.fn("DataKeyRotation.rotate")(function* ({ isShared, tell }) {
    yield* dependencies.vaultKeys.prove
    yield* tell({ step: "replaced", dataKeys: yield* replaceAll(dependencies) })
    yield* tell({ step: "sealed", values: yield* sealAnew(dependencies) })
    if (!isShared) return
    yield* tell({ step: "waiting", seconds: waitSeconds })
    yield* Effect.sleep(waitSeconds * 1_000)
    yield* tell({ step: "sealed", values: yield* sealAnew(dependencies) })
  })

/** How many keys, or values, one transaction changes. */
const batch = 100

const replaceAll = (dependencies: Dependencies) =>
  Effect.gen(function* () {
    let count = 0
    let last: WorkspaceId | undefined
    for (;;) {
      const replaced = yield* replaceAfter(dependencies, last)
      last = replaced.at(-1)?.workspaceId
      if (last === undefined) return count
      count += replaced.length
    }
  })

const replaceAfter = (dependencies: Dependencies, last: WorkspaceId | undefined) =>
  dependencies.storage.transaction(
    Effect.gen(function* () {
      const found = yield* dependencies.repo.lockAfter(last, batch)
      for (const replaced of found) {
        const { revisionKey } = yield* openDataKey(dependencies, replaced)
        const { bytes, ...key } = yield* newDataKey(dependencies, replaced.workspaceId)
        const sealed = sealRevisionKey(loadKey(key.workspaceId, key.id, bytes), revisionKey)
        yield* dependencies.repo.replace(replaced, { ...key, revisionKey: sealed })
      }
      return found
    })
  )

/** Encrypts what is under replaced keys under those that encrypt now; how much it was. */
const sealAnew = (dependencies: Dependencies) =>
  Effect.gen(function* () {
    return (yield* sealValues(dependencies)) + (yield* sealOthers(dependencies))
  })

const sealValues = ({ dataKeys, repo }: Dependencies) =>
  Effect.gen(function* () {
    let count = 0
    let last: SealedValue | undefined
    for (;;) {
      const found = yield* repo.valuesUnderReplaced(last, batch)
      last = found.at(-1)
      if (last === undefined) return count
      const values = yield* Effect.forEach(found, (one) =>
        Effect.gen(function* () {
          const cipher = yield* dataKeys.cipher(one.workspaceId)
          return { found: one, sealed: cipher.encrypt(one, yield* cipher.decrypt(one, one.sealed)) }
        })
      )
      count += yield* repo.replaceValues(values)
    }
  })

const sealOthers = ({ dataKeys, others }: Dependencies) =>
  Effect.gen(function* () {
    let count = 0
    let after = ""
    for (;;) {
      const listed = yield* others.list(after, batch)
      const last = listed.at(-1)
      if (last === undefined) return count
      after = last.place
      for (const secret of listed) {
        const cipher = yield* dataKeys.cipher(secret.workspaceId)
        if (cipher.isCurrent(secret.sealed)) continue
        const sealed = cipher.seal(secret.purpose, yield* cipher.open(secret.purpose, secret.sealed))
        if (yield* others.replace(secret, sealed)) count += 1
      }
    }
  })
