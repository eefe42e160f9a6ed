import type { IdentityId, PasskeyId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { IdentitiesRepo } from "../../src/auth/IdentitiesRepo.ts"
import * as OidcProvider from "../../src/auth/OidcProvider.ts"
import { PasskeysRepo } from "../../src/auth/PasskeysRepo.ts"
import { keepsWayIn, waysInOf } from "../../src/auth/WaysIn.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { addPerson, answer, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"

/** In which ways a person can sign in without the operator of the host (docs/contract.md, Passkeys). */

onEachStorage("Ways in", (it) => {
  it.effect(
    "are passkeys, accounts at providers that the server has, and mail to a proven address where the server sends mail",
    () =>
      Effect.gen(function* () {
        const passkeys = yield* PasskeysRepo
        const identities = yield* IdentitiesRepo
        const provider = yield* OidcProvider.make({
          kind: "oidc",
          id: "corp",
          issuer: "https://login.corp.example/",
          clientId: "delivery",
          clientSecret: Redacted.make("secret")
        })
        const dependencies = { identities, passkeys, persons: yield* PersonsRepo, providers: { all: [provider] } }
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
        const withAccount = Effect.fnUntraced(function* (issuer: string) {
          const person = yield* addPerson()
          const account = { personId: person.id, provider: "corp", issuer, subject: unique("subject"), email: null }
          yield* identities.insert({ id: newId<IdentityId>(), ...account, createdAt: minute(1), lastUsedAt: minute(1) })
          return person
        })
        const known = yield* withAccount("https://login.corp.example")
        const gone = yield* withAccount("https://gone.example")
        const waysOf = (mail: { readonly sendInvite: (() => Effect.Effect<void>) | undefined }) =>
          Effect.forEach([proven, unproven, withPasskey, known, gone], ({ id }) =>
            Effect.gen(function* () {
              const all = { ...dependencies, mail }
              const ways = yield* waysInOf(all)(id)
              assert.strictEqual(yield* answer(keepsWayIn(all)(id)), ways.length === 0 ? "Conflict last_method" : "ok")
              return ways
            })
          )
        assert.deepStrictEqual(yield* waysOf(postBox), [["mail"], [], ["passkey"], ["identity"], []])
        assert.deepStrictEqual(yield* waysOf({ sendInvite: undefined }), [[], [], ["passkey"], ["identity"], []])
      })
  )
})
