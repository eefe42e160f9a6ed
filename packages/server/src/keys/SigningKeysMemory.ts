import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { type SigningKeyRow, signingKeys, SigningKeysRepo } from "./SigningKeysRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  SigningKeysRepo,
  Effect.map(MemoryStorage, (memory) =>
    SigningKeysRepo.of({
      list: list(memory),
      insert: insert(memory),
      retire: retire(memory),
      replacePrivateKey: replacePrivateKey(memory)
    })
  )
)

const rowKey = ({ generation }: Pick<SigningKeyRow, "generation">): string => String(generation)

const list = (memory: Memory) =>
  memory.read((database) =>
    Array.from(database.table(signingKeys).values()).toSorted((a, b) => b.generation - a.generation)
  )

const insert = (memory: Memory) => (key: Omit<SigningKeyRow, "retiresAt">, retireOlder: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const keys = database.table(signingKeys)
      if (keys.get(rowKey(key)) !== undefined) return
      for (const older of keys.filter((one) => one.generation < key.generation && one.retiresAt === null)) {
        keys.set(rowKey(older), { ...older, retiresAt: retireOlder })
      }
      keys.set(rowKey(key), { ...key, retiresAt: null })
    })
  )

const retire = (memory: Memory) => (now: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const keys = database.table(signingKeys)
      for (const key of keys.filter(({ retiresAt }) => retiresAt !== null && retiresAt <= now)) {
        keys.delete(rowKey(key))
      }
    })
  )

const replacePrivateKey = (memory: Memory) => (kid: string, from: string, to: string) =>
  memory.write((database) =>
    Effect.sync(() => {
      const keys = database.table(signingKeys)
      const key = keys.find((key) => key.kid === kid && key.sealedPrivateKey === from)
      if (key !== undefined) keys.set(rowKey(key), { ...key, sealedPrivateKey: to })
    })
  )
