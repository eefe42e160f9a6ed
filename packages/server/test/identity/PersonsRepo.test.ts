import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { onEachStorage } from "../support/Storages.ts"

onEachStorage("PersonsRepo", (it) => {
  it.effect("is empty until the first person", () =>
    Effect.gen(function*() {
      const persons = yield* PersonsRepo
      assert.isTrue(yield* persons.isEmpty)
    }))
})
