import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import { type ApiKey, type CreateApiKey, maxActiveApiKeys, type NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { AccountApiKey, CreateAccountApiKey, NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { ApiKeyId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { hashToken, makeToken } from "../ids/Tokens.ts"
import { Events } from "../events/Events.ts"
import { Storage } from "../storage/Storage.ts"
import { atLeast } from "../access/Access.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"
import { type ApiKeyRow, ApiKeysRepo, type KeyOwner } from "./ApiKeysRepo.ts"
import { PersonsRepo } from "./PersonsRepo.ts"

/** API keys of persons and of workspaces (service document, API keys; contract, section 3). */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, Forbidden, Caller>
    readonly create: (input: CreateApiKey) => Effect.Effect<NewApiKey, Forbidden | Conflict, Caller>
    readonly revoke: (id: string) => Effect.Effect<void, Forbidden | NotFound, Caller>
    readonly listAccount: Effect.Effect<ReadonlyArray<AccountApiKey>, NotFound | Forbidden, Caller>
    readonly createAccount: (
      input: CreateAccountApiKey
    ) => Effect.Effect<NewAccountApiKey, NotFound | Forbidden, Caller>
    readonly revokeAccount: (id: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
    /** Stores a key for the owner: a new token, or the one given. The answer is the only place with the secret. */
    readonly issue: (owner: KeyOwner, name: string, token?: string) => Effect.Effect<NewApiKey>
  }
>()("@delivery/server/identity/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* ApiKeysRepo
      const persons = yield* PersonsRepo
      const usage = yield* ApiKeyUsage
      const events = yield* Events

      const person = Effect.flatMap(Caller, ({ principal }) =>
        principal.kind === "user"
          ? Effect.succeed(principal)
          : Effect.fail(new Forbidden({ message: "An account API key has no keys of its own.", reason: "account_key" }))
      )

      const issue = Effect.fnUntraced(
        function* (owner: KeyOwner, name: string, given?: string) {
          const secret = given ?? (yield* makeToken("ctk_"))
          const key: ApiKeyRow = {
            ...owner,
            id: yield* nextId<ApiKeyId>(),
            name,
            tokenHash: hashToken(secret),
            tokenPrefix: secret.slice(0, 8),
            lastFour: secret.slice(-4),
            createdAt: timestamp(yield* Clock.currentTimeMillis),
            lastUsedAt: null,
            revokedAt: null
          }
          yield* repo.insert(key)
          return { id: key.id, name, tokenPrefix: key.tokenPrefix, lastFour: key.lastFour, secret }
        },
        Effect.provideService(SecureRandom.SecureRandom, random)
      )

      const subjectOf = (key: { readonly id: string; readonly name: string }) => ({
        type: "key",
        id: key.id,
        label: key.name,
        path: "settings/api-keys"
      })

      return ApiKeys.of({
        list: Effect.gen(function* () {
          const { id } = yield* person
          return yield* Effect.map(repo.ofPerson(id), usage.merge)
        }).pipe(Effect.withSpan("ApiKeys.list")),

        create: Effect.fn("ApiKeys.create")(function* ({ name }: CreateApiKey) {
          const { id } = yield* person
          return yield* storage.transaction(
            Effect.gen(function* () {
              yield* persons.lock(id)
              if ((yield* repo.ofPerson(id)).length >= maxActiveApiKeys) {
                return yield* new Conflict({
                  message: `You have ${maxActiveApiKeys} active API keys. Revoke one first.`,
                  reason: "too_many_keys"
                })
              }
              return yield* issue({ personId: id, workspaceId: null, role: null }, name)
            })
          )
        }),

        revoke: Effect.fn("ApiKeys.revoke")(function* (id: string) {
          const { id: personId } = yield* person
          const now = timestamp(yield* Clock.currentTimeMillis)
          const revoked = isId(id) ? yield* repo.revoke(id as ApiKeyId, { personId }, now) : undefined
          if (revoked === undefined) return yield* NotFound.of("API key")
        }),

        listAccount: Effect.gen(function* () {
          const { workspace } = yield* atLeast("admin")
          const keys = yield* Effect.map(repo.ofWorkspace(workspace.id), usage.merge)
          return keys.map((key) => ({ ...key, role: key.role! }))
        }).pipe(Effect.withSpan("ApiKeys.listAccount")),

        createAccount: Effect.fn("ApiKeys.createAccount")(function* ({ name, role }: CreateAccountApiKey) {
          const by = yield* atLeast("admin")
          return yield* storage.transaction(
            Effect.gen(function* () {
              const key = yield* issue({ personId: null, workspaceId: by.workspace.id, role }, name)
              yield* events.record(by, {
                kind: "key_created",
                subject: subjectOf(key),
                changes: [{ field: "role", from: null, to: role }]
              })
              return { ...key, role }
            })
          )
        }),

        revokeAccount: Effect.fn("ApiKeys.revokeAccount")(function* (id: string) {
          const by = yield* atLeast("admin")
          yield* storage.transaction(
            Effect.gen(function* () {
              const now = timestamp(yield* Clock.currentTimeMillis)
              const owner = { workspaceId: by.workspace.id }
              const revoked = isId(id) ? yield* repo.revoke(id as ApiKeyId, owner, now) : undefined
              if (revoked === undefined) return yield* NotFound.of("account API key")
              yield* events.record(by, { kind: "key_revoked", subject: subjectOf(revoked) })
            })
          )
        }),

        issue
      })
    })
  )
}
