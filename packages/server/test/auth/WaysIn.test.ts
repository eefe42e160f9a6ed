import type { PasskeyId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { PasskeysRepo } from "../../src/auth/PasskeysRepo.ts"
import { keepsWayIn } from "../../src/auth/WaysIn.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { addPerson, answer, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"

/** In which ways a person can sign in without the operator of the host (docs/contract.md, Passkeys). */

onEachStorage("Ways in", (it) => {
  it.effect("are passkeys, and mail to a proven address where the server sends mail", () =>
    Effect.gen(function* () {
      const passkeys = yield* PasskeysRepo
      const dependencies = { passkeys, persons: yield* PersonsRepo }
      const postBox = { sendInvite: () => Effect.void }
      const proven = yield* addPerson({ emailVerifiedAt: minute(1) })
      const unproven = yield* addPerson()
      const withPasskey = yield* addPerson()
      yield* passkeys.insert({
        id: newId<PasskeyId>(),
        personId: withPasskey.id,
        name: "Laptop",
        credentialId: unique("credential"),
        publicKey: "pQEC",
        counter: 0,
        transports: [],
        backupEligible: false,
        synced: false,
        createdAt: minute(1),
        lastUsedAt: null
      })
      const answersOf = (mail: { readonly sendInvite: (() => Effect.Effect<void>) | undefined }) =>
        Effect.forEach([proven, unproven, withPasskey], ({ id }) => answer(keepsWayIn({ ...dependencies, mail })(id)))
      assert.deepStrictEqual(yield* answersOf(postBox), ["ok", "Conflict last_method", "ok"])
      assert.deepStrictEqual(yield* answersOf({ sendInvite: undefined }), [
        "Conflict last_method",
        "Conflict last_method",
        "ok"
      ])
    })
  )
})
