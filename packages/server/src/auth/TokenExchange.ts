import { type TooManyRequests, Unauthorized } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import { type ExchangedKey, exchangedKeyMillis, type ExchangeToken } from "@delivery/domain/identity/TrustedPublisher"
import { compare } from "@delivery/domain/Order"
import { firstCharacters, visible } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Audit } from "../audit/Audit.ts"
import { Settings } from "../Config.ts"
import { shownInVain } from "../http/RateLimits.ts"
import { ApiKeys } from "../identity/ApiKeys.ts"
import { ApiKeysRepo, keySubject } from "../identity/ApiKeysRepo.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { limitsOfKey } from "../identity/KeyChains.ts"
import { within } from "../identity/Makers.ts"
import { type TrustedPublisherRow, TrustedPublishersRepo } from "../identity/TrustedPublishersRepo.ts"
import { type WorkspaceRow, WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { hashToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { type CiJob, unmetBy } from "./CiJobs.ts"
import { type CiTokenRefused, CiTokens, type ProvenJob } from "./CiTokens.ts"
import { ExchangedTokensRepo } from "./ExchangedTokensRepo.ts"

/** Keys of a workspace for tokens of CI (docs/contract.md, Trusted publishers). */
export class TokenExchange extends Context.Service<
  TokenExchange,
  { readonly exchange: (input: ExchangeToken) => Effect.Effect<ExchangedKey, Unauthorized | TooManyRequests> }
>()("@delivery/server/auth/TokenExchange") {
  static readonly layer = Layer.effect(TokenExchange, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly tokens: CiTokens["Service"]
  readonly used: ExchangedTokensRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly publishers: TrustedPublishersRepo["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly keys: ApiKeys["Service"]
  readonly keysRepo: ApiKeysRepo["Service"]
  readonly audit: Audit["Service"]
  readonly storage: Storage["Service"]
}

function* make() {
  const { baseUrl } = yield* Settings
  const dependencies: Dependencies = {
    baseUrl,
    tokens: yield* CiTokens,
    used: yield* ExchangedTokensRepo,
    workspaces: yield* WorkspacesRepo,
    publishers: yield* TrustedPublishersRepo,
    blocks: yield* BlocksRepo,
    keys: yield* ApiKeys,
    keysRepo: yield* ApiKeysRepo,
    audit: yield* Audit,
    storage: yield* Storage
  }
  return TokenExchange.of({ exchange: exchange(dependencies) })
}

/** Why there is no key, and what is known of the job where the issuer has signed it. */
interface Refusal {
  readonly reason: CiTokenRefused["reason"] | "token_used" | "not_trusted"
  readonly detail: string
  readonly proven?: ProvenJob
}

const exchange = (dependencies: Dependencies): TokenExchange["Service"]["exchange"] => {
  const { storage, tokens, workspaces } = dependencies
  const give = giveKey(dependencies)
  const refuse = refused(dependencies)
  return Effect.fn("TokenExchange.exchange")(function* (input: ExchangeToken) {
    const workspace = yield* workspaces.named(input.workspace)
    const attempt = Effect.gen(function* () {
      const proven = yield* tokens.verify(input.token)
      const refusal = (reason: Refusal["reason"], detail: string) => Effect.fail<Refusal>({ reason, detail, proven })
      if (workspace === undefined) return yield* refusal("not_trusted", "workspace")
      const { detail, publisher } = yield* publisherFor(dependencies, workspace, proven.job)
      if (publisher === undefined) return yield* refusal("not_trusted", detail)
      return yield* storage.transaction(
        Effect.catch(give(workspace, publisher, proven), ({ detail, reason }) => refusal(reason, detail))
      )
    })
    return yield* Effect.catch(attempt, (refusal: Refusal | CiTokenRefused) => refuse(workspace, refusal))
  })
}

/** The publisher that the job stands for: of several the one with the most conditions, and of these the oldest. */
const publisherFor = Effect.fnUntraced(function* ({ publishers }: Dependencies, workspace: WorkspaceRow, job: CiJob) {
  const all = yield* publishers.ofRepository(workspace.id, job)
  const [publisher] = all
    .filter((one) => unmetBy(one, job) === undefined)
    .toSorted((a, b) => conditionsOf(b) - conditionsOf(a) || compare(a.createdAt, b.createdAt) || compare(a.id, b.id))
  const [unmet] = all.map((one) => unmetBy(one, job)).toSorted((a, b) => order.indexOf(b) - order.indexOf(a))
  return { publisher, detail: unmet ?? "repository" }
})

/** Of several publishers, the one that comes closest says what is wrong. */
const order: ReadonlyArray<ReturnType<typeof unmetBy>> = ["workflow", "ref", "environment", "pull_request"]

const conditionsOf = ({ environment, ref }: TrustedPublisherRow): number =>
  (ref === null ? 0 : 1) + (environment === null ? 0 : 1)

/**
 * Called in a transaction. Whoever ends or blocks what made the publisher holds its family alone, and whoever deletes it
 * waits for its row: so no key is given unseen.
 */
const giveKey = (dependencies: Dependencies) => {
  const { audit, blocks, keys, keysRepo, publishers, used } = dependencies
  return Effect.fnUntraced(function* (
    workspace: WorkspaceRow,
    { id, makerId }: TrustedPublisherRow,
    proven: ProvenJob
  ) {
    const family = makerId === null ? id : yield* keysRepo.holdFamilyOf(makerId)
    const now = yield* Clock.currentTimeMillis
    const publisher = yield* publishers.use(id, timestamp(now))
    const isBlocked = (yield* blocks.list(workspace.id)).some(({ credentialId }) => credentialId === id)
    if (publisher === undefined || isBlocked) {
      return yield* Effect.fail({ reason: "not_trusted", detail: isBlocked ? "blocked" : "deleted" } as const)
    }
    const { expiresAt: tokenEnd, job, tokenId } = proven
    const tokenHash = hashToken(`${job.issuer}\n${tokenId}`)
    if (!(yield* used.use({ tokenHash, expiresAt: tokenEnd }, timestamp(now)))) {
      return yield* Effect.fail({ reason: "token_used", detail: "jti" } as const)
    }
    const { role, scopes, workflow, workspaceId } = publisher
    const expiresAt = within(timestamp(now + exchangedKeyMillis), publisher.expiresAt)
    const key = yield* keys.store({ personId: null, workspaceId, role }, workflow, {
      scopes,
      expiresAt,
      createdBy: { kind: publisher.createdByKind, id: publisher.createdById } as never,
      maker: { id, family, expiresAt: publisher.expiresAt }
    })
    yield* audit.record(
      { workspace: { id: workspaceId }, actor: { kind: "apiKey", id: key.id } },
      {
        action: "token_exchanged",
        subject: keySubject(key),
        credential: credentialOf(proven),
        changes: [{ field: "role", from: null, to: role }, ...limitsOfKey({ scopes, expiresAt }), ...changesOf(job)]
      }
    )
    const exchanged: ExchangedKey = { apiKey: key.secret, expiresAt, role, scopes }
    return exchanged
  })
}

/** Claims are texts of others. */
const shown = (text: string): string => firstCharacters(visible(text), 200)

const credentialOf = (proven: ProvenJob | undefined) =>
  ({ kind: "ciToken", id: proven === undefined ? "" : shown(proven.tokenId), lastFour: "" }) as const

const changesOf = (job: CiJob): ReadonlyArray<Change> =>
  (["issuer", "repository", "repositoryId", "ownerId", "workflow", "ref", "environment"] as const).flatMap((field) => {
    const to = job[field]
    return to === null ? [] : [{ field, from: null, to: shown(to) }]
  })

/** Refuses, and has the audit of the workspace tell of it, unless there are too many from one address. */
const refused = (dependencies: Dependencies) => {
  const { audit } = dependencies
  return Effect.fnUntraced(function* (workspace: WorkspaceRow | undefined, refusal: Refusal | CiTokenRefused) {
    const { detail, reason } = refusal
    yield* shownInVain
    const proven = "proven" in refusal ? refusal.proven : undefined
    if (workspace !== undefined) {
      const { id, name } = workspace
      yield* audit.record(
        { workspace: { id }, actor: null },
        {
          action: "token_exchanged",
          outcome: "refused",
          subject: { type: "workspace", id, label: name },
          credential: credentialOf(proven),
          changes: [
            { field: "reason", from: null, to: reason },
            { field: "detail", from: null, to: detail },
            ...(proven === undefined ? [] : changesOf(proven.job))
          ]
        }
      )
    }
    if (reason === "issuer_unavailable") {
      yield* Effect.logWarning(`The keys of an issuer of CI could not be fetched (${detail}).`)
    }
    return yield* new Unauthorized({ message: messageOf(dependencies, refusal), reason })
  })
}

const invalid: Readonly<Record<string, (of: Dependencies) => string>> = {
  issuer: () => "its issuer is not one that this server takes",
  audience: ({ baseUrl }) => `its audience (aud) must be ${baseUrl} alone`,
  algorithm: () => "it is not signed with a public key",
  signature: () => "its signature is wrong",
  key: () => "its issuer has no such key, or the issuer's keys were fetched a moment ago",
  nbf: () => "it is not valid yet: the clock of its issuer is ahead of the service's by more than 5 seconds",
  claims: () => "it does not say which job of GitHub or GitLab it is for"
}

/** The workspace may be a stranger's: why it does not trust the job is said in its audit alone. */
const messageOf = (dependencies: Dependencies, { detail, reason }: Refusal | CiTokenRefused): string => {
  switch (reason) {
    case "token_expired":
      return "The token has expired. Ask the CI for another."
    case "token_used":
      return "The token was exchanged already. Ask the CI for another."
    case "issuer_unavailable":
      return "The issuer of the token did not answer with its keys. Try again."
    case "not_trusted":
      return "The workspace does not exist, or trusts no such publisher: its audit says what differs."
    case "invalid_token":
      return `The token is not valid: ${invalid[detail]?.(dependencies) ?? `look at its ${detail}`}.`
  }
}
