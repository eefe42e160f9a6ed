import { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { AcceptInvite, InvitePreview, InviteToken } from "@delivery/domain/identity/Invite"
import type { Member } from "@delivery/domain/identity/Member"
import type { WorkspaceMembership } from "@delivery/domain/identity/Workspace"
import type { InviteId, PersonId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import type { PersonRow } from "../access/ActorRows.ts"
import type { AuditedEvents } from "../audit/AuditedEvents.ts"
import { changesBetween } from "../events/Events.ts"
import type { NextId } from "../ids/NextId.ts"
import { hashToken, isToken } from "../ids/Tokens.ts"
import { inviteStatus, inviteSubject, type InvitesRepo, type InviteWithActor } from "./InvitesRepo.ts"
import type { MemberChanges } from "./MemberChanges.ts"
import { type MembersRepo, memberSubject } from "./MembersRepo.ts"
import type { PersonsRepo } from "./PersonsRepo.ts"
import type { WorkspacesRepo } from "./WorkspacesRepo.ts"

/**
 * How an invite is accepted (docs/contract.md, Invites). The token tells that somebody may join, never who it is: it
 * makes a new person, and whom the service knows joins with a credential of their own alone.
 */

interface Dependencies {
  readonly repo: InvitesRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly memberChanges: MemberChanges["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly events: AuditedEvents["Service"]
  readonly nextId: NextId["Service"]
}

export interface Joined {
  readonly person: PersonRow
  readonly workspace: WorkspaceMembership
}

/** An invite that is pending while its workspace's row and its own are held, and what is decided about it. */
interface Held {
  readonly invite: InviteWithActor
  readonly workspace: WorkspaceMembership
  readonly now: Timestamp
}

/** Whose credential the request shows; undefined without one. An account key is nobody's. */
export const acceptingPerson = (caller: Caller["Service"] | undefined) => {
  if (caller === undefined) return Effect.undefined
  return caller.principal.kind === "user"
    ? Effect.succeed(caller.principal.id)
    : Effect.fail(new Forbidden({ message: "An account API key cannot accept an invite.", reason: "account_key" }))
}

/**
 * Joins the workspace of the invite: as the person `as`, or as a new one. Called in a transaction; fails with
 * `UniqueViolation` where somebody proves the address meanwhile.
 */
export const joinWorkspace = (dependencies: Dependencies) => {
  const hold = holdInvite(dependencies)
  const makePerson = newPerson(dependencies)
  const findPerson = knownPerson(dependencies)
  const admit = admitPerson(dependencies)
  return Effect.fnUntraced(function* ({ name, token }: AcceptInvite, as: PersonId | undefined) {
    if (as === undefined && name === undefined) {
      return yield* InvalidInput.at("name", "Expected the name of the new person, since no credential was sent")
    }
    if (!isToken("itk_", token)) return yield* NotFound.of("invite")
    const tokenHash = hashToken(token)
    const held = yield* hold(dependencies.repo.findByTokenHash(tokenHash))
    const person = as === undefined ? yield* makePerson(held, name!) : yield* findPerson(held, as)
    yield* admit(held, person)
    return { person, workspace: held.workspace } satisfies Joined
  })
}

export const previewInvite = ({ persons, repo, workspaces }: Dependencies) =>
  Effect.fn("Invites.preview")(function* ({ token }: InviteToken) {
    const invite = isToken("itk_", token) ? yield* repo.findByTokenHash(hashToken(token)) : undefined
    const now = timestamp(yield* Clock.currentTimeMillis)
    if (invite === undefined || inviteStatus(invite, now) !== "pending") return yield* NotFound.of("invite")
    const { email, expiresAt, inviter, role } = invite
    const { id, name, slug } = (yield* workspaces.find(invite.workspaceId))!
    const signInRequired = isProven((yield* persons.ofAddress(email))[0])
    return { email, role, workspace: { id, slug, name }, inviter, expiresAt, signInRequired } satisfies InvitePreview
  })

/** Joins the workspace of an invite to the proven address of a person; any other invite is not there. In a transaction. */
export const joinReceived = (dependencies: Dependencies) => {
  const { persons, repo } = dependencies
  const hold = holdInvite(dependencies)
  const admit = admitPerson(dependencies)
  return Effect.fnUntraced(function* (id: string, as: PersonId) {
    const person = (yield* persons.find(as))!
    const received = Effect.map(repo.find(id as InviteId), (invite) =>
      person.emailVerifiedAt !== null && invite?.email === person.email ? invite : undefined
    )
    if (!isId(id)) return yield* NotFound.of("invite", id)
    const held = yield* Effect.mapError(hold(received), () => NotFound.of("invite", id))
    yield* admit(held, person)
    return { person, workspace: held.workspace } satisfies Joined
  })
}

/** The row of the workspace is held before the invite's, as by whoever ends several invites. */
const holdInvite = ({ repo, workspaces }: Dependencies) =>
  Effect.fnUntraced(function* (find: Effect.Effect<InviteWithActor | undefined>) {
    const found = yield* find
    if (found === undefined) return yield* NotFound.of("invite")
    yield* workspaces.lock(found.workspaceId)
    // What it was made with may have been blocked meanwhile.
    const invite = (yield* find) && (yield* repo.lock(found.workspaceId, found.id))
    const now = timestamp(yield* Clock.currentTimeMillis)
    if (invite === undefined || inviteStatus(invite, now) !== "pending") return yield* NotFound.of("invite")
    const { id, name, slug } = (yield* workspaces.find(invite.workspaceId))!
    return { invite, workspace: { id, slug, name, role: invite.role }, now } satisfies Held
  })

const signInRequired = () =>
  new Conflict({
    message: "This address has an account. Sign in with it, or accept with one of its keys.",
    reason: "sign_in_required"
  })

/** The address of a token that the service mailed is proven by it. One that the inviter was shown proves nothing. */
const provenBy = ({ invite, now }: Held): Timestamp | null => (invite.delivery === "mail" ? now : null)

const isProven = (person: PersonRow | undefined): boolean => (person?.emailVerifiedAt ?? null) !== null

const newPerson = ({ nextId, persons }: Dependencies) =>
  Effect.fnUntraced(function* (held: Held, name: string) {
    const { email } = held.invite
    const [first] = yield* persons.ofAddress(email)
    if (isProven(first)) return yield* signInRequired()
    const id = yield* nextId<PersonId>()
    const person: PersonRow = { id, name, email, emailVerifiedAt: provenBy(held), createdAt: held.now }
    yield* persons.insert(person)
    return person
  })

const knownPerson = ({ persons }: Dependencies) =>
  Effect.fnUntraced(function* (held: Held, id: PersonId) {
    const person = (yield* persons.find(id))!
    if (person.email !== held.invite.email) {
      return yield* new Conflict({ message: "The invite is for another address than yours.", reason: "other_address" })
    }
    if (person.emailVerifiedAt !== null) return person
    const [first] = yield* persons.ofAddress(person.email)
    if (isProven(first)) return yield* signInRequired()
    const emailVerifiedAt = provenBy(held)
    if (emailVerifiedAt !== null) yield* persons.prove(id, emailVerifiedAt)
    return { ...person, emailVerifiedAt }
  })

/** Makes the person an active member, who is none, nor anybody of the same address. */
const admitPerson = ({ events, memberChanges, members, repo }: Dependencies) =>
  Effect.fnUntraced(function* ({ invite, now, workspace }: Held, person: PersonRow) {
    const holder = yield* members.findByEmail(workspace.id, person.email)
    if (holder?.active === true) {
      return yield* holder.id === person.id
        ? new Conflict({ message: "You are a member of the workspace already.", reason: "already_member" })
        : addressInUse()
    }
    const by = { workspace, actor: { kind: "user", id: person.id } as const }
    yield* repo.end(invite.id, "accepted", now)
    yield* events.record(by, { kind: "invite_accepted", subject: inviteSubject(invite) })
    const before = yield* members.find(workspace.id, person.id)
    const row = { workspaceId: workspace.id, personId: person.id, role: workspace.role, active: true }
    if (before === undefined) {
      yield* members.insert({ ...row, joinedAt: now })
      const changes = [{ field: "role", from: null, to: workspace.role }]
      return yield* events.record(by, { kind: "member_joined", subject: memberSubject(person), changes })
    }
    const after: Member = { ...before, role: workspace.role, active: true }
    yield* members.update(row)
    yield* memberChanges.changed(by, { ...after, wasActive: false })
    const changes = changesBetween(before, after, "role", "active")
    yield* events.record(by, { kind: "member_reactivated", subject: memberSubject(person), changes })
  })

/** Two active members of one workspace never have the same address. */
export const addressInUse = () =>
  new Conflict({ message: "An active member of the workspace has the same address.", reason: "address_in_use" })
