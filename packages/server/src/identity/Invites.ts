import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import {
  type AcceptedInvite,
  type AcceptInvite,
  type CreateInvite,
  type Invite,
  inviteLifetimeMillis,
  type InviteStatus,
  type NewInvite
} from "@delivery/domain/identity/Invite"
import { mayAssign } from "@delivery/domain/identity/Role"
import type { InviteId, PersonId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, isToken, NewToken } from "../ids/Tokens.ts"
import { Events } from "../events/Events.ts"
import { Storage } from "../storage/Storage.ts"
import { atLeast, freshProof } from "../access/Access.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { type InviteRow, InvitesRepo, type InviteWithActor } from "./InvitesRepo.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { PersonsRepo } from "./PersonsRepo.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** Invitations to a workspace (docs/contract.md, Invites). */
export class Invites extends Context.Service<
  Invites,
  {
    readonly list: Effect.Effect<ReadonlyArray<Invite>, NotFound | Forbidden, Caller>
    readonly create: (input: CreateInvite) => Effect.Effect<NewInvite, NotFound | Forbidden | Conflict, Caller>
    readonly revoke: (id: string) => Effect.Effect<Invite, NotFound | Forbidden | Conflict, Caller>
    readonly accept: (input: AcceptInvite) => Effect.Effect<AcceptedInvite, NotFound>
  }
>()("@delivery/server/identity/Invites") {
  static readonly layer = Layer.effect(Invites, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: InvitesRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly apiKeys: ApiKeys["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    baseUrl: (yield* Settings).baseUrl,
    repo: yield* InvitesRepo,
    workspaces: yield* WorkspacesRepo,
    members: yield* MembersRepo,
    persons: yield* PersonsRepo,
    apiKeys: yield* ApiKeys,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId,
    newToken: yield* NewToken
  }
  return Invites.of({
    list: list(dependencies),
    create: create(dependencies),
    revoke: revoke(dependencies),
    accept: accept(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* atLeast("admin")
    const now = timestamp(yield* Clock.currentTimeMillis)
    return (yield* repo.list(workspace.id)).map((invite) => present(invite, now))
  }).pipe(Effect.withSpan("Invites.list"))

const create = ({ baseUrl, events, members, newToken, nextId, repo, storage, workspaces }: Dependencies) =>
  Effect.fn("Invites.create")(function* ({ email, role }: CreateInvite) {
    const by = yield* atLeast("admin")
    if (!mayAssign(by.workspace.role, role)) {
      return yield* new Forbidden({ message: "Only an owner may invite an owner.", reason: "owner_only" })
    }
    if (role === "owner") yield* freshProof
    const created = Effect.gen(function* () {
      yield* workspaces.lock(by.workspace.id)
      const millis = yield* Clock.currentTimeMillis
      const now = timestamp(millis)
      if ((yield* members.findByEmail(by.workspace.id, email)) !== undefined) {
        return yield* new Conflict({ message: `${email} is already a member.`, reason: "already_member" })
      }
      const earlier = yield* repo.list(by.workspace.id)
      if (earlier.some((invite) => invite.email === email && statusAt(invite, now) === "pending")) {
        return yield* new Conflict({ message: `${email} is already invited.`, reason: "already_invited" })
      }
      const token = yield* newToken("itk_")
      const invite: InviteRow = {
        id: yield* nextId<InviteId>(),
        workspaceId: by.workspace.id,
        email,
        role,
        tokenHash: hashToken(token),
        inviter: by.actor,
        createdAt: now,
        expiresAt: timestamp(millis + inviteLifetimeMillis),
        acceptedAt: null,
        revokedAt: null
      }
      yield* repo.insert(invite)
      const changes = [{ field: "role", from: null, to: role }]
      yield* events.record(by, { kind: "invite_created", subject: subjectOf(invite), changes })
      return { ...present({ ...invite, inviter: by.principal }, now), token, url: `${baseUrl}/invites/${token}` }
    })
    return yield* storage.transaction(created)
  })

const revoke = ({ events, repo, storage }: Dependencies) =>
  Effect.fn("Invites.revoke")(function* (id: string) {
    const by = yield* atLeast("admin")
    const revoked = Effect.gen(function* () {
      const invite = isId(id) ? yield* repo.lock(by.workspace.id, id as InviteId) : undefined
      if (invite === undefined) return yield* NotFound.of("invite", id)
      const now = timestamp(yield* Clock.currentTimeMillis)
      const status = statusAt(invite, now)
      if (status === "revoked") return present(invite, now)
      if (status !== "pending") {
        return yield* new Conflict({ message: `The invite is ${status} already.`, reason: "not_pending" })
      }
      yield* repo.end(invite.id, "revoked", now)
      yield* events.record(by, { kind: "invite_revoked", subject: subjectOf(invite) })
      return present({ ...invite, revokedAt: now }, now)
    })
    return yield* storage.transaction(revoked)
  })

const accept = (dependencies: Dependencies) => {
  const { storage } = dependencies
  const join = joinWorkspace(dependencies)
  return Effect.fn("Invites.accept")(function* (input: AcceptInvite) {
    if (!isToken("itk_", input.token)) return yield* NotFound.of("invite")
    return yield* storage.transaction(join(input)).pipe(
      // Two invites of one new email, accepted at once in two workspaces: the second finds the person.
      Effect.retry({ times: 1, while: (error) => error._tag === "UniqueViolation" }),
      Effect.catchTag("UniqueViolation", Effect.die)
    )
  })
}

/** Makes the person where the email is new, and the membership; called in a transaction. */
const joinWorkspace = ({ apiKeys, events, members, nextId, persons, repo, workspaces }: Dependencies) =>
  Effect.fnUntraced(function* ({ name, token }: AcceptInvite) {
    const invite = yield* repo.lockByTokenHash(hashToken(token))
    const now = timestamp(yield* Clock.currentTimeMillis)
    if (invite === undefined || statusAt(invite, now) !== "pending") return yield* NotFound.of("invite")
    const workspace = (yield* workspaces.find(invite.workspaceId))!
    const known = yield* persons.findByEmail(invite.email)
    const person = known ?? { id: yield* nextId<PersonId>(), name, email: invite.email }
    if (known === undefined) yield* persons.insert({ ...person, createdAt: now })
    yield* members.insert({
      workspaceId: workspace.id,
      personId: person.id,
      role: invite.role,
      active: true,
      joinedAt: now
    })
    yield* repo.end(invite.id, "accepted", now)
    const owner = { personId: person.id, workspaceId: null, role: null }
    const apiKey = known === undefined ? yield* apiKeys.issue(owner, "first key") : null
    const by = { workspace, actor: { kind: "user", id: person.id } as const }
    yield* events.record(by, { kind: "invite_accepted", subject: subjectOf(invite) })
    yield* events.record(by, {
      kind: "member_joined",
      subject: { type: "member", id: person.id, label: person.name, path: "settings/members" },
      changes: [{ field: "role", from: null, to: invite.role }]
    })
    return {
      person,
      workspace: { id: workspace.id, slug: workspace.slug, name: workspace.name, role: invite.role },
      apiKey
    }
  })

const subjectOf = (invite: { readonly id: string; readonly email: string }) => ({
  type: "invite",
  id: invite.id,
  label: invite.email,
  path: "settings/members"
})

const statusAt = (invite: Pick<InviteRow, "acceptedAt" | "revokedAt" | "expiresAt">, now: string): InviteStatus => {
  if (invite.acceptedAt !== null) return "accepted"
  if (invite.revokedAt !== null) return "revoked"
  return invite.expiresAt <= now ? "expired" : "pending"
}

const present = (invite: InviteWithActor, now: string): Invite => ({
  id: invite.id,
  email: invite.email,
  role: invite.role,
  status: statusAt(invite, now),
  inviter: invite.inviter,
  createdAt: invite.createdAt,
  expiresAt: invite.expiresAt,
  acceptedAt: invite.acceptedAt
})
