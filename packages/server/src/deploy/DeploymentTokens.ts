import {
  type CreateDeploymentToken,
  type DeploymentToken,
  maxLiveTokens,
  type NewDeploymentToken,
  type RotateDeploymentToken,
  tokenOverlap
} from "@delivery/domain/deploy/DeploymentToken"
import { Conflict, Forbidden, type InvalidInput, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { DeploymentTokenId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, atLeast, freshProof, mayGive, personOf } from "../access/Access.ts"
import { type DeploymentTokenRow, isLive } from "../access/ActorRows.ts"
import { asServer } from "../audit/ActsInstead.ts"
import { Audit } from "../audit/Audit.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { archived, deployedPair, isActive } from "../catalog/Deployments.ts"
import { type DeployedPair, DeploymentsRepo } from "../catalog/DeploymentsRepo.ts"
import { ApiKeysRepo, type Maker } from "../identity/ApiKeysRepo.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { expiryOf } from "../identity/Expiry.ts"
import { Makers } from "../identity/Makers.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { presentAccess } from "../identity/Standing.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { DeploymentTokensRepo, type TokenWithMaker } from "./DeploymentTokensRepo.ts"
import { tokenScopes, tokenSubject } from "./TokenSubjects.ts"
import { TokenUsage } from "./TokenUsage.ts"

type Refusal = Unauthorized | NotFound | Forbidden

/** The deployment that a path names, and a token of it. */
type OnePath = readonly [product: string, environment: string, token: string]

/** Tokens with which products read their own secrets (docs/contract.md, Deployment tokens). */
export class DeploymentTokens extends Context.Service<
  DeploymentTokens,
  {
    readonly list: (
      product: string,
      environment: string
    ) => Effect.Effect<ReadonlyArray<DeploymentToken>, NotFound | Forbidden, Caller>
    readonly create: (
      product: string,
      environment: string,
      input: CreateDeploymentToken
    ) => Effect.Effect<NewDeploymentToken, Refusal | InvalidInput | Conflict, Caller>
    readonly rotate: (
      path: OnePath,
      input?: RotateDeploymentToken
    ) => Effect.Effect<NewDeploymentToken, Refusal | Conflict, Caller>
    readonly revoke: (path: OnePath) => Effect.Effect<void, Refusal, Caller>
    /** Has the audit tell of each token that has expired, once; how many. */
    readonly expire: Effect.Effect<number>
  }
>()("@delivery/server/deploy/DeploymentTokens") {
  static readonly layer = Layer.effect(DeploymentTokens, Effect.gen(make))
}

interface Dependencies {
  readonly repo: DeploymentTokensRepo["Service"]
  readonly deployments: DeploymentsRepo["Service"]
  readonly usage: TokenUsage["Service"]
  readonly makers: Makers["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
  readonly audit: Audit["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* DeploymentTokensRepo,
    deployments: yield* DeploymentsRepo,
    usage: yield* TokenUsage,
    makers: yield* Makers,
    blocks: yield* BlocksRepo,
    apiKeys: yield* ApiKeysRepo,
    members: yield* MembersRepo,
    workspaces: yield* WorkspacesRepo,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    audit: yield* Audit,
    nextId: yield* NextId,
    newToken: yield* NewToken
  }
  return DeploymentTokens.of({
    list: list(dependencies),
    create: create(dependencies),
    rotate: rotate(dependencies),
    revoke: revoke(dependencies),
    expire: expire(dependencies)
  })
}

/** An admin or owner in person: an account key has no say in what reads production. */
const adminInPerson = Effect.flatMap(atLeast("admin"), (access) =>
  personOf(access.principal) === undefined
    ? Effect.fail(
        new Forbidden({
          message: "An account API key cannot see, make or end deployment tokens.",
          reason: "account_key"
        })
      )
    : Effect.succeed(access)
)

const list = ({ deployments, repo, usage }: Dependencies) =>
  Effect.fn("DeploymentTokens.list")(function* (product: string, environment: string) {
    const { workspace } = yield* adminInPerson
    const { deployment } = yield* deployedPair(deployments, workspace.id, product, environment)
    const tokens = yield* repo.ofDeployment(deployment.id, timestamp(yield* Clock.currentTimeMillis))
    return tokens.map((token) => present(usage.merge(token)))
  })

/**
 * Changes the tokens of a deployment, as an admin or owner whose access is what it is now. The credential that they call with
 * and the deployment stay until the transaction ends.
 */
const changing = (dependencies: Dependencies) => {
  const { deployments, makers, repo, storage, workspaces } = dependencies
  return <A, E>(
    access: Access,
    product: string,
    environment: string,
    change: (by: Access, pair: DeployedPair, maker: Maker) => Effect.Effect<A, E, Caller>
  ) =>
    storage.transaction(
      Effect.gen(function* () {
        yield* workspaces.lock(access.workspace.id)
        const by = yield* presentAccess(dependencies, access, "admin")
        const maker = yield* makers.hold
        const pair = yield* deployedPair(deployments, by.workspace.id, product, environment)
        if (!(yield* repo.holdDeployment(pair.deployment.id))) {
          return yield* NotFound.of("deployment", `${product}/${environment}`)
        }
        return yield* change(by, pair, maker)
      })
    )
}

const create = (dependencies: Dependencies) => {
  const { events, repo } = dependencies
  const change = changing(dependencies)
  const add = issue(dependencies)
  return Effect.fn("DeploymentTokens.create")(function* (
    product: string,
    environment: string,
    input: CreateDeploymentToken
  ) {
    const access = yield* adminInPerson
    yield* mayGive(tokenScopes)
    const expiresAt = yield* expiryOf(input.expiresAt)
    yield* freshProof
    return yield* change(
      access,
      product,
      environment,
      Effect.fnUntraced(function* (by, pair, maker) {
        if (!isActive(pair)) return yield* archived(pair)
        const limits = { name: input.name, allowedAddresses: input.allowedAddresses ?? null, expiresAt }
        const made = yield* add(by, pair, maker, limits)
        const live = yield* repo.ofDeployment(pair.deployment.id, made.createdAt)
        if (live.filter(({ replacedBy }) => replacedBy === null).length > maxLiveTokens) {
          return yield* new Conflict({
            message: `The deployment has ${maxLiveTokens} tokens, which is the limit. Revoke one first.`,
            reason: "too_many_tokens"
          })
        }
        yield* events.record(
          by,
          { kind: "token_created", subject: tokenSubject({ ...pair, ...made }) },
          { changes: limitsOf(limits) }
        )
        return made
      })
    )
  })
}

const rotate = (dependencies: Dependencies) => {
  const { blocks, events, repo } = dependencies
  const change = changing(dependencies)
  const add = issue(dependencies)
  return Effect.fn("DeploymentTokens.rotate")(function* (
    [product, environment, token]: OnePath,
    { overlapSeconds = tokenOverlap.default }: RotateDeploymentToken = {}
  ) {
    const access = yield* adminInPerson
    yield* mayGive(tokenScopes)
    yield* freshProof
    return yield* change(
      access,
      product,
      environment,
      Effect.fnUntraced(function* (by, pair, maker) {
        const before = yield* repo.lock(pair.deployment.id, token)
        const now = yield* Clock.currentTimeMillis
        if (before !== undefined && before.replacedBy !== null) {
          return yield* new Conflict({ message: "The token was rotated already.", reason: "rotated" })
        }
        if (before === undefined || !isLive(before, timestamp(now))) {
          return yield* NotFound.of("deployment token", token)
        }
        if (!isActive(pair)) return yield* archived(pair)
        const made = yield* add(by, pair, maker, before)
        yield* blocks.inherit(before.id, made.id)
        const until = timestamp(now + overlapSeconds * 1_000)
        yield* repo.replace(before, made.id, until)
        yield* events.record(
          by,
          { kind: "token_rotated", subject: tokenSubject({ ...pair, ...before }) },
          {
            changes: [
              { field: "replacedBy", from: null, to: made.id },
              { field: "expiresAt", from: before.expiresAt, to: until }
            ]
          }
        )
        return made
      })
    )
  })
}

const revoke = (dependencies: Dependencies) => {
  const { events, repo } = dependencies
  const change = changing(dependencies)
  return Effect.fn("DeploymentTokens.revoke")(function* ([product, environment, token]: OnePath) {
    const access = yield* adminInPerson
    yield* change(
      access,
      product,
      environment,
      Effect.fnUntraced(function* (by, pair) {
        const found = yield* repo.lock(pair.deployment.id, token)
        const now = timestamp(yield* Clock.currentTimeMillis)
        if (found === undefined || !isLive(found, now)) return yield* NotFound.of("deployment token", token)
        yield* repo.revoke(found.id, now)
        yield* events.record(by, { kind: "token_revoked", subject: tokenSubject({ ...pair, ...found }) })
      })
    )
  })
}

/** Stores a new token of the deployment. The answer is the only place with the token itself. */
const issue = ({ blocks, newToken, nextId, repo }: Dependencies) =>
  Effect.fnUntraced(function* (
    { principal, workspace }: Access,
    { deployment }: DeployedPair,
    maker: Maker,
    { allowedAddresses, expiresAt, name }: Pick<DeploymentTokenRow, "name" | "allowedAddresses" | "expiresAt">
  ) {
    const person = personOf(principal)!
    const token = yield* newToken("dtk_")
    const row: DeploymentTokenRow = {
      id: yield* nextId<DeploymentTokenId>(),
      workspaceId: workspace.id,
      deploymentId: deployment.id,
      name,
      tokenHash: hashToken(token),
      tokenPrefix: token.slice(0, 8),
      lastFour: token.slice(-4),
      allowedAddresses,
      createdById: person.id,
      createdAt: timestamp(yield* Clock.currentTimeMillis),
      expiresAt,
      lastUsedAt: null,
      lastUsedFrom: null,
      revokedAt: null,
      replacedBy: null,
      makerId: maker.id
    }
    yield* repo.insert(row)
    yield* blocks.inherit(maker.id, row.id)
    return { ...present({ ...row, maker: { ...person, active: true }, makerEndedAt: null }), token }
  })

const present = ({ maker, ...token }: Omit<TokenWithMaker, "environment" | "product">): DeploymentToken => ({
  id: token.id,
  name: token.name,
  tokenPrefix: token.tokenPrefix,
  lastFour: token.lastFour,
  createdBy: { kind: "user", ...maker },
  createdAt: token.createdAt,
  lastUsedAt: token.lastUsedAt,
  lastUsedFrom: token.lastUsedFrom,
  expiresAt: token.expiresAt,
  allowedAddresses: token.allowedAddresses,
  replacedBy: token.replacedBy,
  makerEndedAt: token.makerEndedAt
})

/** How a new token is limited, as its entry of the audit tells it. */
const limitsOf = ({ allowedAddresses, expiresAt }: Pick<DeploymentTokenRow, "allowedAddresses" | "expiresAt">) => [
  ...(allowedAddresses === null ? [] : [{ field: "allowedAddresses", from: null, to: allowedAddresses.join(", ") }]),
  ...(expiresAt === null ? [] : [{ field: "expiresAt", from: null, to: expiresAt }])
]

const expiredAtOnce = 100

const expire = ({ audit, repo, storage }: Dependencies) => {
  const some = Effect.gen(function* () {
    const ended = yield* repo.endExpired(timestamp(yield* Clock.currentTimeMillis), expiredAtOnce)
    for (const token of ended) {
      const by = { workspace: { id: token.workspaceId }, actor: { kind: "deploymentToken", id: token.id } } as const
      const changes = [{ field: "expiresAt", from: null, to: token.expiresAt }]
      yield* audit.record(by, { action: "token_expired", subject: tokenSubject(token), changes })
    }
    return ended.length
  })
  return Effect.gen(function* () {
    for (let all = 0; ;) {
      const ended = yield* storage.transaction(some)
      all += ended
      if (ended < expiredAtOnce) return all
    }
  }).pipe(asServer, Effect.withSpan("DeploymentTokens.expire"))
}
