import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import { Conflict, Forbidden, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { EventKind } from "@delivery/domain/events/EventKinds"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"
import type { Member } from "@delivery/domain/identity/Member"
import type { WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, atLeast, freshProof, mayGive, personOf } from "../access/Access.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Settings } from "../Config.ts"
import { Storage } from "../storage/Storage.ts"
import { ApiKeysRepo, type KeyWithActor } from "./ApiKeysRepo.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"
import { BlocksRepo } from "./BlocksRepo.ts"
import { keyExpires, Makers } from "./Makers.ts"
import { MadeSignIns } from "./MadeSignIns.ts"
import { MadeTokens } from "./MadeTokens.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { sessionTimes } from "./SessionAuthentication.ts"
import { type SessionRow, SessionsRepo } from "./SessionsRepo.ts"
import { SessionUsage } from "./SessionUsage.ts"
import { presentAccess } from "./Standing.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

type Change<E = never> = (
  id: string
) => Effect.Effect<WorkspaceCredential, Unauthorized | NotFound | Forbidden | E, Caller>

/** The credentials that may act in a workspace (docs/contract.md, Credentials). */
export class Inventory extends Context.Service<
  Inventory,
  {
    readonly list: Effect.Effect<ReadonlyArray<WorkspaceCredential>, NotFound | Forbidden, Caller>
    readonly block: Change
    readonly unblock: Change<Conflict>
  }
>()("@delivery/server/identity/Inventory") {
  static readonly layer = Layer.effect(Inventory, Effect.gen(make))
}

interface Dependencies {
  readonly settings: Settings["Service"]
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly keyUsage: ApiKeyUsage["Service"]
  readonly makers: Makers["Service"]
  readonly members: MembersRepo["Service"]
  readonly sessions: SessionsRepo["Service"]
  readonly sessionUsage: SessionUsage["Service"]
  readonly signIns: MadeSignIns["Service"]
  readonly tokens: MadeTokens["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    settings: yield* Settings,
    apiKeys: yield* ApiKeysRepo,
    keyUsage: yield* ApiKeyUsage,
    makers: yield* Makers,
    members: yield* MembersRepo,
    sessions: yield* SessionsRepo,
    sessionUsage: yield* SessionUsage,
    signIns: yield* MadeSignIns,
    tokens: yield* MadeTokens,
    blocks: yield* BlocksRepo,
    workspaces: yield* WorkspacesRepo,
    storage: yield* Storage,
    events: yield* AuditedEvents
  }
  const credentialsOf = liveCredentials(dependencies)
  const change = changeBlock(dependencies)
  return Inventory.of({
    list: Effect.gen(function* () {
      const { workspace } = yield* atLeast("admin")
      return (yield* credentialsOf(workspace.id)).toSorted(
        (a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id)
      )
    }).pipe(Effect.withSpan("Inventory.list")),
    block: Effect.fn("Inventory.block")(change("credential_blocked", block(dependencies))),
    unblock: Effect.fn("Inventory.unblock")(change("credential_unblocked", unblock(dependencies)))
  })
}

/** What works and may act in the workspace, in no order. */
const liveCredentials = (dependencies: Dependencies) => {
  const { apiKeys, blocks, keyUsage, members, sessions, signIns, tokens } = dependencies
  return Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const blocked = new Set((yield* blocks.list(workspaceId)).map(({ credentialId }) => credentialId))
    const active = new Map(
      (yield* members.list(workspaceId)).filter((member) => member.active).map((member) => [member.id, member])
    )
    const found = [
      ...keyUsage.merge(yield* apiKeys.actingIn(workspaceId)).map((key) => ofKey(key, active.get(key.personId!))),
      ...(yield* sessions.ofMembers(workspaceId)).map((row) => ofSession(dependencies, row, active.get(row.personId))),
      ...(yield* signIns.list(workspaceId, now)),
      ...(yield* tokens.list(workspaceId, now))
    ]
    return found
      .filter((one) => one !== undefined)
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
      .map((one): WorkspaceCredential => ({ ...one, blocked: blocked.has(one.id) }))
  })
}

type Live = Omit<WorkspaceCredential, "blocked">

const userOf = ({ email, id, name }: Member) => ({ kind: "user", id, name, email }) as const

/** Undefined of a person who has left meanwhile. */
const ofKey = (key: KeyWithActor, member: Member | undefined): Live | undefined => {
  const { createdAt, createdBy, expiresAt, id, lastFour, lastUsedAt, name, scopes } = key
  const shown = { id, name, createdBy, lastFour, scopes, createdAt, lastUsedAt, expiresAt }
  if (key.personId === null) {
    return { ...shown, kind: "accountApiKey", owner: { kind: "apiKey", id, name }, role: key.role }
  }
  return member && { ...shown, kind: "apiKey", owner: userOf(member), role: member.role }
}

const ofSession = (
  { sessionUsage, settings }: Dependencies,
  row: SessionRow,
  member: Member | undefined
): Live | undefined => {
  if (member === undefined) return undefined
  const session = { ...row, lastSeenAt: sessionUsage.latest(row.id, row.lastSeenAt) }
  return {
    id: session.id,
    kind: "session",
    name: session.device,
    owner: userOf(member),
    createdBy: userOf(member),
    lastFour: session.lastFour,
    scopes: null,
    role: member.role,
    createdAt: session.createdAt,
    lastUsedAt: session.lastSeenAt,
    expiresAt: sessionTimes(settings).expiresAt(session)
  }
}

/** A credential that is to be blocked or unblocked, among those of the workspace. */
interface Target {
  readonly found: WorkspaceCredential
  readonly all: ReadonlyArray<WorkspaceCredential>
  /** It, and what it made, which stays so until the transaction ends. */
  readonly chain: ReadonlyArray<string>
}

/** Blocks or unblocks a credential: what an administrator changes of the access of others. */
const changeBlock = (dependencies: Dependencies) => {
  const { apiKeys, events, signIns, storage, tokens, workspaces } = dependencies
  const credentialsOf = liveCredentials(dependencies)
  return <E>(kind: AuditAction & EventKind, apply: (by: Access, target: Target) => Effect.Effect<void, E, Caller>) =>
    Effect.fnUntraced(function* (id: string) {
      const access = yield* atLeast("admin")
      const changed = Effect.gen(function* () {
        yield* workspaces.lock(access.workspace.id)
        const by = yield* presentAccess(dependencies, access, "admin")
        const find = Effect.map(credentialsOf(by.workspace.id), (all) => ({
          all,
          found: all.find((one) => one.id === id)
        }))
        const { all, found } = yield* find
        if (found === undefined) return yield* NotFound.of("credential", id)
        if (found.role === "owner" && by.workspace.role !== "owner") {
          return yield* new Forbidden({
            message: "Only an owner may block or unblock the credential of an owner.",
            reason: "owner_only"
          })
        }
        const keys = yield* apiKeys.holdChain(id)
        const made = yield* signIns.madeBy(keys)
        const chain = [...new Set([id, ...keys, ...made, ...(yield* tokens.madeBy(keys))])]
        yield* apply(by, { found, all, chain })
        const after = (yield* find).found!
        if (after.blocked !== found.blocked) {
          yield* signIns.accessChanged([id, ...made])
          yield* events.record(by, { kind, subject: subjectOf(found) })
        }
        return after
      })
      return isId(id) ? yield* storage.transaction(changed) : yield* NotFound.of("credential", id)
    })
}

const block =
  ({ blocks }: Dependencies) =>
  (by: Access, { chain, found }: Target) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => blocks.block(by.workspace.id, found.id, chain, timestamp(now)))

const unblock = (dependencies: Dependencies) => {
  const { blocks } = dependencies
  const isOwn = isOwnOf(dependencies)
  return Effect.fnUntraced(function* (by: Access, { all, chain, found }: Target) {
    if (by.workspace.role !== "owner" && (yield* isOwn(by, found))) {
      return yield* new Forbidden({
        message: "Only an owner may unblock a credential of their own.",
        reason: "owner_only"
      })
    }
    yield* mayGive(found.scopes)
    yield* mayLetIn(all, found)
    yield* freshProof
    const roots = (yield* blocks.list(by.workspace.id))
      .filter(({ credentialId }) => credentialId === found.id)
      .map(({ rootId }) => rootId)
    const isLive = (root: string) => all.some(({ id }) => id === root)
    if (found.blocked && !roots.includes(found.id) && roots.some(isLive)) {
      return yield* new Conflict({
        message: "It is blocked with the credential that it was made with. Unblock that one.",
        reason: "maker_blocked"
      })
    }
    yield* blocks.unblock(by.workspace.id, found.id)
    // Nobody can unblock what has ended.
    yield* blocks.release(
      by.workspace.id,
      chain,
      roots.filter((root) => !isLive(root))
    )
  })
}

/** Whether the credential acts as whoever asks, or as the person who made the account key that asks. */
const isOwnOf = ({ apiKeys }: Dependencies) =>
  Effect.fnUntraced(function* ({ principal, workspace }: Access, { owner }: WorkspaceCredential) {
    const person = owner.kind === "agent" ? owner.person : owner.kind === "user" ? owner : undefined
    if (person === undefined) return false
    if (personOf(principal)?.id === person.id) return true
    return (yield* apiKeys.madeBy(workspace.id, person.id)).some(({ id }) => id === principal.id)
  })

/** Refuses an API key that expires to let in what goes on after it: the end of a session or an agent moves as they are used. */
const mayLetIn = Effect.fnUntraced(function* (all: ReadonlyArray<WorkspaceCredential>, found: WorkspaceCredential) {
  const { credential } = yield* Caller
  const end = all.find((one) => isKey(one) && one.id === credential.id)?.expiresAt ?? null
  if (end === null || (isKey(found) && found.expiresAt !== null && found.expiresAt <= end)) return
  return yield* keyExpires
})

const isKey = ({ kind }: WorkspaceCredential): boolean => kind === "apiKey" || kind === "accountApiKey"

/** A credential in events, which members without access to this list read, too. */
const subjectOf = ({ id, kind, name, owner }: WorkspaceCredential) => {
  const of = owner.kind === "agent" ? ` of ${owner.person.name}` : owner.kind === "user" ? ` of ${owner.name}` : ""
  const label = kind === "session" ? `session${of}` : kind === "agent" ? `${name}${of}` : name
  return { type: "credential", id, label, path: "settings/credentials" }
}
