import { Conflict, Forbidden, type InvalidInput, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import {
  type ApiKey,
  type CreateApiKey,
  expiresSoonMillis,
  maxActiveApiKeys,
  type NewApiKey,
  type RevokeApiKey
} from "@delivery/domain/identity/ApiKey"
import {
  type AccountApiKey,
  type CreateAccountApiKey,
  maxAccountApiKeys,
  type NewAccountApiKey
} from "@delivery/domain/identity/AccountApiKey"
import { Caller } from "@delivery/domain/identity/Authorization"
import { distinctScopes, type Scopes } from "@delivery/domain/Scope"
import type { ApiKeyId, WorkspaceId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { NextId } from "../ids/NextId.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { asServer } from "../audit/ActsInstead.ts"
import { Audit } from "../audit/Audit.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Storage } from "../storage/Storage.ts"
import { type ActorRef, atLeast, freshProof, mayGive } from "../access/Access.ts"
import type { ApiKeyRow, KeyOwner } from "../access/ActorRows.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"
import { ApiKeysRepo, keySubject, type Maker } from "./ApiKeysRepo.ts"
import { mayEndOthers } from "./BlockedCallers.ts"
import { BlocksRepo } from "./BlocksRepo.ts"
import { expiryOf } from "./Expiry.ts"
import { InvitesRepo } from "./InvitesRepo.ts"
import { endExpiredPublishers, endKey, type KeyChainDependencies, limitsOfKey, recordOfKey } from "./KeyChains.ts"
import { MadeSignIns } from "./MadeSignIns.ts"
import { MadeTokens } from "./MadeTokens.ts"
import { MadeWebhooks } from "./MadeWebhooks.ts"
import { Makers, noMaker, within } from "./Makers.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { PersonsRepo } from "./PersonsRepo.ts"
import { presentAccess } from "./Standing.ts"
import { TrustedPublishersRepo } from "./TrustedPublishersRepo.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** API keys of persons and of workspaces (docs/contract.md, API keys). */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, Forbidden, Caller>
    readonly create: (
      input: CreateApiKey
    ) => Effect.Effect<NewApiKey, Unauthorized | InvalidInput | Forbidden | Conflict, Caller>
    readonly revoke: (id: string, input?: RevokeApiKey) => Effect.Effect<void, Forbidden | NotFound, Caller>
    readonly listAccount: Effect.Effect<ReadonlyArray<AccountApiKey>, NotFound | Forbidden, Caller>
    readonly createAccount: (
      input: CreateAccountApiKey
    ) => Effect.Effect<NewAccountApiKey, Unauthorized | InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly revokeAccount: (
      id: string,
      input?: RevokeApiKey
    ) => Effect.Effect<void, Unauthorized | NotFound | Forbidden, Caller>
    /** Ends what expired keys made, and has the audit tell of each that it expired, once; how many. */
    readonly expire: Effect.Effect<number>
    /** Stores a key for the owner: a new token, or the one given. The answer is the only place with the secret. */
    readonly issue: (owner: KeyOwner, name: string, fields?: KeyFields) => Effect.Effect<NewApiKey>
    /** The same for whoever has the audit tell of it. Called in the transaction of that. */
    readonly store: (owner: KeyOwner, name: string, fields: KeyFields) => Effect.Effect<NewApiKey>
  }
>()("@delivery/server/identity/ApiKeys") {
  static readonly layer = Layer.effect(ApiKeys, Effect.gen(make))
}

/** What a new key has beside its owner and its name. */
interface KeyFields {
  readonly token?: string | undefined
  readonly scopes?: Scopes
  readonly expiresAt?: Timestamp | null
  /** Null: the operator of the host. */
  readonly createdBy?: ActorRef | null
  readonly maker?: Maker
}

interface Dependencies extends KeyChainDependencies {
  readonly makers: Makers["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly usage: ApiKeyUsage["Service"]
  readonly audit: Audit["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* ApiKeysRepo,
    makers: yield* Makers,
    blocks: yield* BlocksRepo,
    persons: yield* PersonsRepo,
    workspaces: yield* WorkspacesRepo,
    members: yield* MembersRepo,
    usage: yield* ApiKeyUsage,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    audit: yield* Audit,
    invites: yield* InvitesRepo,
    publishers: yield* TrustedPublishersRepo,
    signIns: yield* MadeSignIns,
    webhooks: yield* MadeWebhooks,
    tokens: yield* MadeTokens,
    nextId: yield* NextId,
    newToken: yield* NewToken
  }
  return ApiKeys.of({
    list: list(dependencies),
    create: create(dependencies),
    revoke: revoke(dependencies),
    listAccount: listAccount(dependencies),
    createAccount: createAccount(dependencies),
    revokeAccount: revokeAccount(dependencies),
    expire: expire(dependencies),
    issue: issueAudited(dependencies),
    store: issue(dependencies)
  })
}

const standing = ({ repo: apiKeys, ...dependencies }: Dependencies) => ({ ...dependencies, apiKeys })

/** The person who calls: keys of one's own are a person's. */
const callingPerson = Effect.flatMap(Caller, ({ principal }) =>
  principal.kind === "user"
    ? Effect.succeed(principal)
    : Effect.fail(
        new Forbidden({ message: "An account API key cannot have API keys of its own.", reason: "account_key" })
      )
)

const list = ({ repo, usage }: Dependencies) =>
  Effect.gen(function* () {
    const { id } = yield* callingPerson
    const now = yield* Clock.currentTimeMillis
    return usage.merge(yield* repo.ofPerson(id)).map((key) => presentKey(key, now))
  }).pipe(Effect.withSpan("ApiKeys.list"))

const create = (dependencies: Dependencies) => {
  const { makers, persons, repo, storage } = dependencies
  const issueKey = issue(dependencies)
  const record = recordOfKey(dependencies)
  return Effect.fn("ApiKeys.create")(function* ({ name, ...input }: CreateApiKey) {
    const { id } = yield* callingPerson
    const limits = yield* limitsOf(input)
    yield* freshProof
    const created = Effect.gen(function* () {
      yield* persons.lock(id)
      const maker = yield* makers.hold
      if ((yield* repo.ofPerson(id)).length >= maxActiveApiKeys) {
        return yield* new Conflict({
          message: `You have ${maxActiveApiKeys} active API keys, which is the limit. Revoke one first.`,
          reason: "too_many_keys"
        })
      }
      const by = { kind: "user", id } as const
      const owner = { personId: id, workspaceId: null, role: null }
      const key = yield* issueKey(owner, name, { ...limits, maker, createdBy: by })
      yield* record(by, { ...owner, ...key }, "key_created")
      return key
    })
    return yield* storage.transaction(created)
  })
}

const revoke = (dependencies: Dependencies) => {
  const { blocks, repo, storage } = dependencies
  const end = endKey(dependencies)
  return Effect.fn("ApiKeys.revoke")(function* (id: string, { accountApiKeys }: RevokeApiKey = {}) {
    const { id: personId } = yield* callingPerson
    const { credential } = yield* Caller
    const revoked = Effect.gen(function* () {
      if (id !== credential.id) {
        yield* repo.holdFamilies([credential.id, id].filter(isId), "alone")
        yield* mayEndOthers({ apiKeys: repo, blocks })
      }
      const by = { kind: "user", id: personId } as const
      const keptBy = accountApiKeys && credential.id
      const ended = isId(id) ? yield* end(by, id as ApiKeyId, { personId }, { keptBy }) : undefined
      if (ended === undefined) return yield* NotFound.of("API key", id)
    })
    yield* storage.transaction(revoked)
  })
}

const listAccount = ({ repo, usage }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* atLeast("admin")
    const now = yield* Clock.currentTimeMillis
    const keys = usage.merge(yield* repo.ofWorkspace(workspace.id))
    return keys.map((key) => ({ ...presentKey(key, now), role: key.role! }))
  }).pipe(Effect.withSpan("ApiKeys.listAccount"))

const createAccount = (dependencies: Dependencies) => {
  const { makers, storage, workspaces } = dependencies
  const issueKey = issue(dependencies)
  const record = recordOfKey(dependencies)
  const hasRoom = hasRoomFor(dependencies)
  return Effect.fn("ApiKeys.createAccount")(function* ({ name, role, ...input }: CreateAccountApiKey) {
    const access = yield* atLeast("admin")
    const limits = yield* limitsOf(input)
    yield* freshProof
    const created = Effect.gen(function* () {
      yield* workspaces.lock(access.workspace.id)
      const by = yield* presentAccess(standing(dependencies), access, "admin")
      const maker = yield* makers.hold
      yield* hasRoom(by.workspace.id)
      const owner = { personId: null, workspaceId: by.workspace.id, role }
      const key = yield* issueKey(owner, name, { ...limits, maker, createdBy: by.actor })
      yield* record(by.actor, { ...owner, ...key }, "key_created")
      return { ...key, role }
    })
    return yield* storage.transaction(created)
  })
}

/** Keys of trusted publishers end by themselves, and as many are made as jobs run: they do not count. */
const hasRoomFor = ({ publishers, repo }: Dependencies) =>
  Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
    const trusted = new Set<string | null>((yield* publishers.list(workspaceId)).map(({ id }) => id))
    const stored = (yield* repo.ofWorkspace(workspaceId)).filter(({ makerId }) => !trusted.has(makerId))
    if (stored.length >= maxAccountApiKeys) {
      return yield* new Conflict({
        message: `The workspace has ${maxAccountApiKeys} account API keys, which is the limit. Revoke one first.`,
        reason: "too_many_keys"
      })
    }
  })

const revokeAccount = (dependencies: Dependencies) => {
  const { storage, workspaces } = dependencies
  const end = endKey(dependencies)
  return Effect.fn("ApiKeys.revokeAccount")(function* (id: string, { accountApiKeys }: RevokeApiKey = {}) {
    const access = yield* atLeast("admin")
    const { credential } = yield* Caller
    const revoked = Effect.gen(function* () {
      yield* workspaces.lock(access.workspace.id)
      const { actor, workspace } = yield* presentAccess(standing(dependencies), access, "admin")
      const owner = { workspaceId: workspace.id }
      const keptBy = accountApiKeys && credential.id
      const ended = isId(id) ? yield* end(actor, id as ApiKeyId, owner, { keptBy }) : undefined
      if (ended === undefined) return yield* NotFound.of("account API key", id)
    })
    yield* storage.transaction(revoked)
  })
}

const expiredAtOnce = 100

const expire = (dependencies: Dependencies) => {
  const { audit, repo, signIns, storage, tokens, webhooks, workspaces } = dependencies
  const endMade = endExpiredPublishers(dependencies)
  const tell = Effect.fnUntraced(function* (key: ApiKeyRow) {
    const by: ActorRef = key.personId === null ? { kind: "apiKey", id: key.id } : { kind: "user", id: key.personId }
    const of = key.personId === null ? [{ id: key.workspaceId }] : yield* workspaces.ofPerson(key.personId)
    const changes = [{ field: "expiresAt", from: null, to: key.expiresAt }]
    yield* audit.recordIn(of, by, { action: "key_expired", subject: keySubject(key), changes })
    yield* signIns.end([key.id], by)
    yield* webhooks.makersEnded({ makers: [key.id] }, by)
    yield* tokens.makersEnded([key.id], by)
    yield* endMade(by, key.id)
  })
  const some = Effect.gen(function* () {
    const ended = yield* repo.endExpired(timestamp(yield* Clock.currentTimeMillis), expiredAtOnce)
    yield* Effect.forEach(ended, tell, { discard: true })
    return ended.length
  })
  return Effect.gen(function* () {
    for (let all = 0; ;) {
      const ended = yield* storage.transaction(some)
      all += ended
      if (ended < expiredAtOnce) return all
    }
  }).pipe(asServer, Effect.withSpan("ApiKeys.expire"))
}

const issue = ({ blocks, newToken, nextId, repo }: Dependencies) =>
  Effect.fnUntraced(function* (owner: KeyOwner, name: string, fields: KeyFields = {}) {
    const { createdBy = null, maker = noMaker, scopes = null, token } = fields
    const expiresAt = fields.expiresAt == null ? maker.expiresAt : within(fields.expiresAt, maker.expiresAt)
    const secret = token ?? (yield* newToken("ctk_"))
    const key: ApiKeyRow = {
      ...owner,
      id: yield* nextId<ApiKeyId>(),
      name,
      tokenHash: hashToken(secret),
      tokenPrefix: secret.slice(0, 8),
      lastFour: secret.slice(-4),
      scopes,
      createdByKind: createdBy?.kind ?? null,
      createdById: createdBy?.id ?? null,
      createdAt: timestamp(yield* Clock.currentTimeMillis),
      expiresAt,
      lastUsedAt: null,
      revokedAt: null,
      makerId: maker.id,
      familyId: maker.family
    }
    yield* repo.insert(key)
    yield* blocks.inherit(maker.id, key.id)
    const { id, lastFour, tokenPrefix } = key
    return { id, name, tokenPrefix, lastFour, scopes, expiresAt, secret }
  })

/** The first key of a person, or one that the operator of the host makes: no event, but an entry of the audit. */
const issueAudited = (dependencies: Dependencies): ApiKeys["Service"]["issue"] => {
  const { audit, storage, workspaces } = dependencies
  const issueKey = issue(dependencies)
  return (owner, name, fields = {}) => {
    const issued = Effect.gen(function* () {
      const key = yield* issueKey(owner, name, fields)
      const by = fields.createdBy ?? ({ kind: "user", id: owner.personId! } as const)
      const of = owner.workspaceId === null ? yield* workspaces.ofPerson(owner.personId) : [{ id: owner.workspaceId }]
      yield* audit.recordIn(of, by, {
        action: "key_created",
        subject: keySubject(key),
        changes: limitsOfKey(key)
      })
      return key
    })
    return storage.transaction(issued)
  }
}

/** What is asked of a new key, checked: nobody gives more than they have, and no key is for ever that has an end. */
const limitsOf = Effect.fnUntraced(function* (asked: Pick<CreateApiKey, "scopes" | "expiresAt">) {
  const scopes = distinctScopes(asked.scopes ?? null)
  yield* mayGive(scopes)
  return { scopes, expiresAt: yield* expiryOf(asked.expiresAt) }
})

/** A key as lists show it. */
const presentKey = <Key extends ApiKeyRow>(key: Key, now: number) => ({
  ...key,
  expiresSoon: key.expiresAt !== null && key.expiresAt <= timestamp(now + expiresSoonMillis)
})
