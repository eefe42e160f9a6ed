import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { makeArchivablesMemory } from "./ArchivablesMemory.ts"
import { environments, EnvironmentsRepo } from "./EnvironmentsRepo.ts"

export const layer = Layer.effect(
  EnvironmentsRepo,
  Effect.map(MemoryStorage, (memory) => makeArchivablesMemory(memory, environments))
)
