import { Conflict, Forbidden, type InvalidInput, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import { Caller, OptionalCaller } from "@delivery/domain/identity/Authorization"
import {
  type AcceptedInvite,
  type AcceptInvite,
  type CreateInvite,
  type Invite,
  inviteLifetimeMillis,
  type InvitePreview,
  type InviteToken,
  type NewInvite
} from "@delivery/domain/identity/Invite"
import { isAtLeast, mayAssign } from "@delivery/domain/identity/Role"
import type { InviteId, PersonId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { Storage } from "../storage/Storage.ts"
import { type Access, type ActorRef, atLeast, freshProof, mayMakeAdmin } from "../access/Access.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { ApiKeysRepo } from "./ApiKeysRepo.ts"
import { BlocksRepo } from "./BlocksRepo.ts"
import { acceptingPerson, joinReceived, joinWorkspace, previewInvite } from "./InviteAcceptance.ts"
import {
  type InviteRow,
  InvitesRepo,
  inviteStatus,
  inviteSubject,
  type InviteWithActor,
  type ReceivedInvite
} from "./InvitesRepo.ts"
import { Mail, type TooManyInvites } from "./Mail.ts"
import { Makers, mayGiveAccess } from "./Makers.ts"
import { MemberChanges } from "./MemberChanges.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { PersonsRepo } from "./PersonsRepo.ts"
import { presentAccess } from "./Standing.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** Invitations to a workspace (docs/contract.md, Invites). */
export class Invites extends Context.Service<
  Invites,
  {
    readonly list: Effect.Effect<ReadonlyArray<Invite>, NotFound | Forbidden, Caller>
    readonly create: (
      input: CreateInvite
    ) => Effect.Effect<NewInvite, Unauthorized | NotFound | Forbidden | Conflict | TooManyInvites, Caller>
    readonly revoke: (id: string) => Effect.Effect<Invite, Unauthorized | NotFound | Forbidden | Conflict, Caller>
    readonly accept: (
      input: AcceptInvite
    ) => Effect.Effect<AcceptedInvite, Unauthorized | InvalidInput | NotFound | Forbidden | Conflict, OptionalCaller>
    /** Joins as the person, or as a new one, without a key; what `then` does happens with it, or not at all. */
    readonly join: <A, E, R>(
      input: AcceptInvite,
      as: PersonId | undefined,
      then: (personId: PersonId) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | InvalidInput | NotFound | Conflict, R>
    /** What the pending invite of a token is for. It stays pending. */
    readonly preview: (input: InviteToken) => Effect.Effect<InvitePreview, NotFound>
    /** The pending invites to an address that is proven, newest first, as its person sees them. */
    readonly pendingTo: (email: string) => Effect.Effect<ReadonlyArray<ReceivedInvite>>
    /** Joins as the person, by one of the invites to their proven address; what `then` does happens with it, or not at all. */
    readonly joinReceived: <A, E, R>(
      id: string,
      as: PersonId,
      then: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | NotFound | Conflict, R>
  }
>()("@delivery/server/identity/Invites") {
  static readonly layer = Layer.effect(Invites, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: InvitesRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly memberChanges: MemberChanges["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly keys: ApiKeys["Service"]
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly makers: Makers["Service"]
  readonly mail: Mail["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    baseUrl: (yield* Settings).baseUrl,
    repo: yield* InvitesRepo,
    workspaces: yield* WorkspacesRepo,
    members: yield* MembersRepo,
    memberChanges: yield* MemberChanges,
    persons: yield* PersonsRepo,
    keys: yield* ApiKeys,
    apiKeys: yield* ApiKeysRepo,
    blocks: yield* BlocksRepo,
    makers: yield* Makers,
    mail: yield* Mail,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    nextId: yield* NextId,
    newToken: yield* NewToken
  }
  return Invites.of({
    list: list(dependencies),
    create: create(dependencies),
    revoke: revoke(dependencies),
    accept: accept(dependencies),
    join: joinAs(dependencies),
    preview: previewInvite(dependencies),
    pendingTo: pendingTo(dependencies),
    joinReceived: joinByInvite(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* atLeast("admin")
    const now = timestamp(yield* Clock.currentTimeMillis)
    return (yield* repo.list(workspace.id)).map((invite) => present(invite, now))
  }).pipe(Effect.withSpan("Invites.list"))

const create = (dependencies: Dependencies) => {
  const { baseUrl, mail, storage } = dependencies
  const insert = insertInvite(dependencies)
  return Effect.fn("Invites.create")(function* ({ deliver, email, role }: CreateInvite) {
    const by = yield* atLeast("admin")
    const delivery = deliver ?? (mail.sendInvite === undefined ? "link" : "mail")
    if (delivery === "mail" && mail.sendInvite !== undefined) {
      yield* mail.admitInvite(by.workspace.id, email, yield* inviterBehind(dependencies, by))
    }
    const { token, ...invite } = yield* storage.transaction(insert(by, { email, role, delivery }))
    const url = `${baseUrl}/invite#${token}`
    if (delivery === "link") return { ...invite, token, url }
    const { expiresAt } = invite
    yield* mail.sendInvite!({
      to: email,
      workspace: by.workspace.name,
      inviter: by.principal.name,
      role,
      url,
      expiresAt
    })
    return invite
  })
}

/** Who made the account key that invites, or the first of its chain; else whoever invites. */
const inviterBehind = Effect.fnUntraced(function* ({ apiKeys }: Dependencies, { actor, workspace }: Access) {
  if (actor.kind !== "apiKey") return actor
  const keys = yield* apiKeys.ofWorkspace(workspace.id)
  let behind: ActorRef = actor
  for (let left = keys.length; left > 0 && behind.kind === "apiKey"; left--) {
    const { createdBy } = keys.find(({ id }) => id === behind.id) ?? {}
    if (createdBy?.kind !== "user" && createdBy?.kind !== "apiKey") break
    behind = { kind: createdBy.kind, id: createdBy.id } as ActorRef
  }
  return behind
})

/** Stores an invite with its event, and answers it with its token; called in a transaction. */
const insertInvite = (dependencies: Dependencies) => {
  const { events, mail, makers, members, newToken, nextId, repo, workspaces } = dependencies
  return Effect.fnUntraced(function* (
    access: Access,
    { delivery, email, role }: Pick<InviteRow, "email" | "role" | "delivery">
  ) {
    yield* workspaces.lock(access.workspace.id)
    const by = yield* presentAccess(dependencies, access, "admin")
    const maker = yield* makers.hold
    yield* mayGiveAccess(maker)
    if (!mayAssign(by.workspace.role, role)) {
      return yield* new Forbidden({ message: "Only an owner may invite an owner.", reason: "owner_only" })
    }
    yield* mayMakeAdmin(by, role)
    // Whoever sees the token may accept it.
    if (delivery === "link" || isAtLeast(role, "admin")) yield* freshProof
    if (delivery === "mail" && mail.sendInvite === undefined) {
      return yield* new Conflict({ message: "This server sends no mail. Use deliver: link.", reason: "no_mail" })
    }
    const millis = yield* Clock.currentTimeMillis
    const now = timestamp(millis)
    if ((yield* members.findByEmail(by.workspace.id, email))?.active === true) {
      return yield* new Conflict({ message: `${email} is already a member.`, reason: "already_member" })
    }
    const earlier = yield* repo.list(by.workspace.id)
    if (earlier.some((invite) => invite.email === email && inviteStatus(invite, now) === "pending")) {
      return yield* new Conflict({ message: `${email} is already invited.`, reason: "already_invited" })
    }
    const token = yield* newToken("itk_")
    const invite: InviteRow = {
      id: yield* nextId<InviteId>(),
      workspaceId: by.workspace.id,
      email,
      role,
      tokenHash: hashToken(token),
      delivery,
      inviter: by.actor,
      createdAt: now,
      expiresAt: timestamp(millis + inviteLifetimeMillis),
      acceptedAt: null,
      revokedAt: null,
      makerId: maker.id
    }
    yield* repo.insert(invite)
    const changes = [{ field: "role", from: null, to: role }]
    yield* events.record(by, { kind: "invite_created", subject: inviteSubject(invite), changes })
    return { ...present({ ...invite, inviter: by.principal }, now), token }
  })
}

const revoke = (dependencies: Dependencies) => {
  const { events, repo, storage, workspaces } = dependencies
  return Effect.fn("Invites.revoke")(function* (id: string) {
    const access = yield* atLeast("admin")
    const revoked = Effect.gen(function* () {
      yield* workspaces.lock(access.workspace.id)
      const by = yield* presentAccess(dependencies, access, "admin")
      const invite = isId(id) ? yield* repo.lock(by.workspace.id, id as InviteId) : undefined
      if (invite === undefined) return yield* NotFound.of("invite", id)
      const now = timestamp(yield* Clock.currentTimeMillis)
      const status = inviteStatus(invite, now)
      if (status === "revoked") return present(invite, now)
      if (status !== "pending") {
        return yield* new Conflict({ message: `The invite is ${status} already.`, reason: "not_pending" })
      }
      yield* repo.end(invite.id, "revoked", now)
      yield* events.record(by, { kind: "invite_revoked", subject: inviteSubject(invite) })
      return present({ ...invite, revokedAt: now }, now)
    })
    return yield* storage.transaction(revoked)
  })
}

const accept = (dependencies: Dependencies) => {
  const { keys, makers, storage } = dependencies
  const join = joinWorkspace(dependencies)
  return Effect.fn("Invites.accept")(function* (input: AcceptInvite) {
    const { caller } = yield* OptionalCaller
    const as = yield* acceptingPerson(caller)
    const accepted = Effect.gen(function* () {
      const { person, workspace } = yield* join(input, as)
      if (caller !== undefined) yield* Effect.provideService(makers.hold, Caller, caller)
      const owner = { personId: person.id, workspaceId: null, role: null }
      const apiKey =
        as === undefined ? yield* keys.issue(owner, "first key", { createdBy: { kind: "user", id: person.id } }) : null
      return { person: { id: person.id, name: person.name, email: person.email }, workspace, apiKey }
    })
    return yield* twice(storage.transaction(accepted))
  })
}

const joinAs = (dependencies: Dependencies): Invites["Service"]["join"] => {
  const join = joinWorkspace(dependencies)
  return (input, as, then) =>
    twice(dependencies.storage.transaction(Effect.flatMap(join(input, as), ({ person }) => then(person.id))))
}

/** Somebody proved the address meanwhile, or joined: the second attempt sees it. */
const twice = <A, E, R>(joined: Effect.Effect<A, E | UniqueViolation, R>) =>
  Effect.catchIf(
    joined,
    (error) => error instanceof UniqueViolation,
    () => Effect.catchIf(joined, (error) => error instanceof UniqueViolation, Effect.die)
  )

const pendingTo = ({ repo }: Dependencies) =>
  Effect.fn("Invites.pendingTo")(function* (email: string) {
    return yield* repo.pendingTo(email, timestamp(yield* Clock.currentTimeMillis))
  })

const joinByInvite = (dependencies: Dependencies): Invites["Service"]["joinReceived"] => {
  const join = joinReceived(dependencies)
  return (id, as, then) => twice(dependencies.storage.transaction(Effect.andThen(join(id, as), then)))
}

const present = (invite: InviteWithActor, now: string): Invite => ({
  id: invite.id,
  email: invite.email,
  role: invite.role,
  status: inviteStatus(invite, now),
  inviter: invite.inviter,
  createdAt: invite.createdAt,
  expiresAt: invite.expiresAt,
  acceptedAt: invite.acceptedAt
})
