import type { AuthorizationId, PersonId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import {
  type AuthorizationCodeRow,
  type AuthorizationRow,
  AuthorizationsRepo
} from "../../src/agents/AuthorizationsRepo.ts"
import { addPerson, addWorkspace, assertHolds, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"

/** The port of authorizations and their codes, on every storage. */

const asked = {
  clientId: "https://app.example/client.json",
  clientName: "App",
  client: "other",
  redirectUri: "http://localhost:1/callback",
  scope: "read write",
  codeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
} as const

const authorization = (fields: Partial<AuthorizationRow> = {}): AuthorizationRow => ({
  ...asked,
  id: newId<AuthorizationId>(),
  clientKind: "document",
  state: "a state",
  createdAt: minute(0),
  expiresAt: minute(10),
  ...fields
})

const codeOf = (
  workspaceId: WorkspaceId,
  personId: PersonId,
  fields: Partial<AuthorizationCodeRow> = {}
): AuthorizationCodeRow => ({
  ...asked,
  codeHash: unique("code"),
  workspaceId,
  personId,
  makerId: newId(),
  expiresAt: minute(1),
  signInId: null,
  keptUntil: minute(1),
  ...fields
})

onEachStorage("AuthorizationsRepo", (it) => {
  it.effect("keeps an authorization until it is taken or has expired", () =>
    Effect.gen(function* () {
      const repo = yield* AuthorizationsRepo
      const [first, second] = [authorization(), authorization({ state: null, client: "claude", scope: "read" })]
      for (const one of [first, second]) yield* repo.insert(one)
      assert.deepStrictEqual(yield* repo.find(first.id, minute(9)), first)
      assert.deepStrictEqual(yield* repo.find(second.id, minute(9)), second)
      assert.isUndefined(yield* repo.find(first.id, minute(10)))
      assert.isUndefined(yield* repo.take(first.id, minute(10)))
      assert.deepStrictEqual(yield* repo.take(first.id, minute(9)), first)
      assert.isUndefined(yield* repo.take(first.id, minute(9)))
      assert.isUndefined(yield* repo.find(first.id, minute(9)))
      // The next one has those forgotten that nobody can take any more.
      yield* repo.insert(authorization({ createdAt: minute(10), expiresAt: minute(20) }))
      assert.isUndefined(yield* repo.find(second.id, minute(0)))
      assert.isUndefined(yield* repo.find(newId(), minute(0)))
    })
  )

  it.effect("gives an authorization to one of those who take it at once", () =>
    Effect.gen(function* () {
      const repo = yield* AuthorizationsRepo
      for (let round = 0; round < 5; round++) {
        const one = authorization()
        yield* repo.insert(one)
        const taken = yield* Effect.forEach(Array.from({ length: 10 }), () => repo.take(one.id, minute(1)), {
          concurrency: "unbounded"
        })
        assert.lengthOf(
          taken.filter((row) => row !== undefined),
          1
        )
      }
    })
  )

  it.effect("keeps a code that was used, and forgets the others in time", () =>
    Effect.gen(function* () {
      const repo = yield* AuthorizationsRepo
      const [workspace, person] = [yield* addWorkspace(), yield* addPerson()]
      const [used, unused, next] = [
        codeOf(workspace.id, person.id),
        codeOf(workspace.id, person.id),
        codeOf(workspace.id, person.id, { expiresAt: minute(3), keptUntil: minute(3) })
      ]
      for (const one of [used, unused]) yield* repo.insertCode(one, minute(0))
      assert.deepStrictEqual(yield* repo.lockCode(used.codeHash), used)
      yield* assertHolds(repo.lockCode(used.codeHash))
      const signInId = newId<SignInId>()
      yield* repo.useCode(used.codeHash, signInId, minute(60))
      yield* repo.useCode("none", signInId, minute(60))
      assert.deepStrictEqual(yield* repo.lockCode(used.codeHash), { ...used, signInId, keptUntil: minute(60) })
      yield* repo.insertCode(next, minute(1))
      assert.isUndefined(yield* repo.lockCode(unused.codeHash))
      assert.isDefined(yield* repo.lockCode(used.codeHash))
      assert.isUndefined(yield* repo.lockCode("none"))
    })
  )

  it.effect("forgets the codes of a member that were not used", () =>
    Effect.gen(function* () {
      const repo = yield* AuthorizationsRepo
      const [one, two] = [yield* addWorkspace(), yield* addWorkspace()]
      const [person, other] = [yield* addPerson(), yield* addPerson()]
      const codes = [
        codeOf(one.id, person.id),
        codeOf(one.id, person.id, { signInId: newId<SignInId>(), keptUntil: minute(60) }),
        codeOf(two.id, person.id),
        codeOf(one.id, other.id)
      ]
      for (const code of codes) yield* repo.insertCode(code, minute(0))
      yield* repo.endCodes(one.id, person.id)
      // One that was exchanged is kept, so that a second use is noticed.
      for (const { codeHash } of codes.slice(1, 3)) yield* repo.endCode(codeHash)
      const kept = yield* Effect.forEach(codes, ({ codeHash }) =>
        Effect.map(repo.lockCode(codeHash), (row) => row !== undefined)
      )
      assert.deepStrictEqual(kept, [false, true, false, true])
    })
  )
})
