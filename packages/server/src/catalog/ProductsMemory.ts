import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { makeArchivablesMemory } from "./ArchivablesMemory.ts"
import { products, ProductsRepo } from "./ProductsRepo.ts"

export const layer = Layer.effect(
  ProductsRepo,
  Effect.map(MemoryStorage, (memory) => makeArchivablesMemory(memory, products))
)
