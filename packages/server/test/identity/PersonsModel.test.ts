import { assert } from "@effect/vitest"
import { Caller, OptionalCaller } from "@delivery/domain/identity/Authorization"
import { isAtLeast, mayAssign, type Role } from "@delivery/domain/identity/Role"
import { maxActiveApiKeys } from "@delivery/domain/identity/ApiKey"
import type { PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import * as fc from "fast-check"
import type { WorkspaceRow } from "../../src/identity/WorkspacesRepo.ts"
import { Agents } from "../../src/agents/Agents.ts"
import { SignInsRepo } from "../../src/agents/SignInsRepo.ts"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { Inventory } from "../../src/identity/Inventory.ts"
import { type InviteMail, Mail } from "../../src/identity/Mail.ts"
import { Invites } from "../../src/identity/Invites.ts"
import { Members } from "../../src/identity/Members.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { Persons } from "../../src/identity/Persons.ts"
import { hashToken } from "../../src/ids/Tokens.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addPerson, addWorkspace, answer, keyOfPerson, minute, unique } from "./Scene.ts"

/**
 * Histories of persons, invites, proofs, joins, deactivations, chains of keys, sign-ins of agents and blocks against a plain
 * model: nobody ever acts in a workspace that did not admit that very person, no credential outlives what ends it, and
 * none gets in that is blocked.
 */

interface Person {
  readonly id: PersonId
  readonly address: string
  proven: boolean
}

/** A key of a person, or of a workspace. */
interface Key {
  readonly id: string
  readonly secret: string
  readonly of: Person | { readonly workspace: Workspace; readonly role: Role }
  /** The key that it was made with, unless it was cut off. */
  maker: Key | undefined
  readonly createdBy: Actor
  live: boolean
}

interface SignIn {
  readonly id: string
  readonly secret: string
  readonly person: Person
  readonly workspace: Workspace
  readonly maker: Key
  live: boolean
}

type Credential = Key | SignIn

/** Who acts with a key: its person, or the key of a workspace itself. */
type Actor = Person | Key

interface Invite {
  readonly token: string
  readonly workspace: Workspace
  readonly address: string
  readonly role: Role
  readonly maker: Key
  readonly mailed: boolean
  pending: boolean
}

/** That a workspace does not let a credential in, since the root is blocked. */
interface Block {
  readonly workspace: Workspace
  readonly credential: Credential
  readonly root: Credential
}

interface Workspace {
  readonly row: WorkspaceRow
  readonly members: Map<Person, { role: Role; active: boolean }>
}

interface Model {
  readonly workspaces: ReadonlyArray<Workspace>
  readonly persons: Array<Person>
  /** The first two are the founders', and stay. */
  readonly keys: Array<Key>
  readonly signIns: Array<SignIn>
  readonly invites: Array<Invite>
  blocks: ReadonlyArray<Block>
}

interface Step {
  readonly kind: (typeof kinds)[number]
  readonly workspace: number
  /** Below 6, the key of the owner that the workspace began with. */
  readonly by: number
  readonly person: number
  readonly credential: number
  readonly invite: number
  readonly address: number
  readonly role: Role
  readonly flag: boolean
}

const kinds = [
  "invite",
  "accept",
  "accept as",
  "prove",
  "deactivate",
  "reactivate",
  "make an account key",
  "make a key",
  "sign in an agent",
  "revoke",
  "block",
  "unblock"
] as const

const roles = ["viewer", "member", "admin", "owner"] as const

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(...kinds, "invite", "accept as", "make a key", "unblock"),
    workspace: fc.nat(1),
    by: fc.nat(20),
    person: fc.nat(20),
    credential: fc.nat(20),
    invite: fc.nat(20),
    address: fc.nat(2),
    role: fc.constantFrom(...roles),
    flag: fc.boolean()
  }),
  { minLength: 10, maxLength: 40 }
)

const isPersonal = (key: Key): key is Key & { readonly of: Person } => "address" in key.of

const actorOf = (key: Key): Actor => (isPersonal(key) ? key.of : key)

/** The person of a key, or who made the account key, or the one that it was made with. */
const personBehind = (key: Key): Person =>
  isPersonal(key) ? key.of : "address" in key.createdBy ? key.createdBy : personBehind(key.createdBy)

const memberRole = (workspace: Workspace, person: Person): Role | undefined => {
  const member = workspace.members.get(person)
  return member?.active === true ? member.role : undefined
}

/** What the credential may do in the workspace while it works and nobody blocks it. */
const standing = (workspace: Workspace, credential: Credential): Role | undefined => {
  if ("person" in credential) {
    return credential.workspace === workspace ? memberRole(workspace, credential.person) : undefined
  }
  if (isPersonal(credential)) return memberRole(workspace, credential.of)
  const { role, workspace: own } = credential.of as Exclude<Key["of"], Person>
  return own === workspace ? role : undefined
}

/** Whether the credential is listed in the workspace, blocked or not. */
const isListed = (workspace: Workspace, credential: Credential): boolean =>
  credential.live && standing(workspace, credential) !== undefined

const isBlocked = ({ blocks }: Model, workspace: Workspace, credential: Credential): boolean =>
  blocks.some((block) => block.workspace === workspace && block.credential === credential)

const roleIn = (model: Model, workspace: Workspace, credential: Credential): Role | undefined =>
  credential.live && !isBlocked(model, workspace, credential) ? standing(workspace, credential) : undefined

const activeWith = (workspace: Workspace, address: string) =>
  [...workspace.members].find(([person, { active }]) => active && person.address === address)?.[0]

const isProven = (model: Model, address: string) =>
  model.persons.some((person) => person.proven && person.address === address)

/** What the model refuses an administrator for, before it looks at anything else. */
const refusedAdmin = (model: Model, workspace: Workspace, by: Key): string | undefined => {
  if (!by.live) return "Unauthorized"
  const role = roleIn(model, workspace, by)
  if (role === undefined) return "NotFound"
  return isAtLeast(role, "admin") ? undefined : "Forbidden role_too_low"
}

/** Account keys may not: an admin makes tokens of deployments. */
const makesAdmin = (by: Key, role: Role): boolean => !isPersonal(by) && isAtLeast(role, "admin")

/** What the model answers to an acceptance; undefined where it admits. */
const refusedAcceptance = (model: Model, invite: Invite | undefined, as: Person | undefined): string | undefined => {
  if (invite?.pending !== true || isBlocked(model, invite.workspace, invite.maker)) return "NotFound"
  if (as !== undefined && as.address !== invite.address) return "Conflict other_address"
  if (as?.proven !== true && isProven(model, invite.address)) return "Conflict sign_in_required"
  const holder = activeWith(invite.workspace, invite.address)
  if (holder === undefined) return undefined
  return holder === as ? "Conflict already_member" : "Conflict address_in_use"
}

/** The key, and what was made with it and with that; account keys may be spared. */
const chainOf = (model: Model, key: Key, keep = false): ReadonlySet<Key> => {
  const chain = new Set([key])
  for (const maker of chain) {
    for (const made of model.keys) if (made.maker === maker && (isPersonal(made) || !keep)) chain.add(made)
  }
  return chain
}

/** The first key of its chain. */
const firstOf = (key: Key): Key => (key.maker === undefined ? key : firstOf(key.maker))

/** Account keys that a key keeps are the first of chains of their own, but for those of the key's own. */
const cutOff = (keys: ReadonlyArray<Key>, keptBy: Key): void => {
  for (const key of keys.filter((key) => firstOf(key) !== firstOf(keptBy))) key.maker = undefined
}

/** Ends a key that works, with all that was made with it, but for account keys that a key keeps. */
const endKey = (model: Model, key: Key, keptBy: Key | undefined): void => {
  if (!key.live) return
  const chain = chainOf(model, key, keptBy !== undefined)
  const isKept = (made: Key) => !isPersonal(made) && made.maker !== undefined && chain.has(made.maker)
  if (keptBy !== undefined) cutOff(model.keys.filter(isKept), keptBy)
  const ended = new Set([...chain].filter(({ live }) => live))
  for (const one of ended) one.live = false
  for (const invite of model.invites) if (ended.has(invite.maker)) invite.pending = false
  for (const signIn of model.signIns) if (ended.has(signIn.maker)) signIn.live = false
}

/** Ends what a member made, and what was made with that. */
const endWhatTheyMade = (model: Model, workspace: Workspace, member: Person, keptBy: Key | undefined): void => {
  const actors = new Set<Actor>([member])
  const madeBy = (actor: Actor) =>
    model.keys.filter((key) => !isPersonal(key) && standing(workspace, key) !== undefined && key.createdBy === actor)
  if (keptBy !== undefined) cutOff(madeBy(member), keptBy)
  else for (const actor of actors) for (const key of madeBy(actor)) actors.add(key)
  for (const actor of actors) if ("live" in actor) endKey(model, actor, undefined)
  for (const invite of model.invites) {
    if (invite.workspace === workspace && actors.has(actorOf(invite.maker))) invite.pending = false
  }
  for (const signIn of model.signIns) {
    if (signIn.workspace === workspace && signIn.person === member) signIn.live = false
  }
}

/** What is made is blocked wherever its maker is. */
const inherit = (model: Model, maker: Key, credential: Credential): void => {
  const inherited = model.blocks
    .filter((block) => block.credential === maker)
    .map((block) => ({ ...block, credential }))
  model.blocks = [...model.blocks, ...inherited]
}

/** The credential, and what was made with it and with that. */
const madeWith = (model: Model, credential: Credential): ReadonlySet<Credential> => {
  if ("person" in credential) return new Set([credential])
  const keys = chainOf(model, credential)
  return new Set<Credential>([...keys, ...model.signIns.filter(({ maker }) => keys.has(maker))])
}

withServicesOnEachStorage("Who acts where", (it, storage) => {
  const begin = Effect.gen(function* () {
    const workspaces: Array<Workspace> = []
    const persons: Array<Person> = []
    const keys: Array<Key> = []
    for (const _ of [0, 1]) {
      const row = yield* addWorkspace()
      const { email, id } = yield* addPerson()
      yield* (yield* MembersRepo).insert({
        workspaceId: row.id,
        personId: id,
        role: "owner",
        active: true,
        joinedAt: minute(0)
      })
      const { id: keyId, secret } = yield* (yield* ApiKeys).issue(keyOfPerson(id), "key")
      const person = { id, address: email, proven: false }
      persons.push(person)
      keys.push({ id: keyId, secret, of: person, maker: undefined, createdBy: person, live: true })
      workspaces.push({ row, members: new Map([[person, { role: "owner", active: true }]]) })
    }
    const model: Model = { workspaces, persons, keys, signIns: [], invites: [], blocks: [] }
    return model
  })

  const authenticated = Effect.fnUntraced(function* ({ secret }: Key, { row }: Workspace) {
    return yield* (yield* ApiKeysRepo).authenticate(hashToken(secret), row.slug)
  })

  /** A call with the key in the workspace, as a request makes it. */
  const withKey = Effect.fnUntraced(function* <A, E extends { readonly _tag: string; readonly message: string }, R>(
    key: Key,
    workspace: Workspace,
    call: Effect.Effect<A, E, R>
  ) {
    const found = yield* authenticated(key, workspace)
    if (found === undefined) return "Unauthorized"
    const { keyId, membership, principal } = found
    const kind = principal.kind === "apiKey" ? ("accountApiKey" as const) : ("apiKey" as const)
    const caller = { principal, membership, credential: { kind, id: keyId, lastFour: "" } }
    return yield* call.pipe(
      Effect.provideService(Caller, caller),
      Effect.provideService(OptionalCaller, { caller }),
      answer
    )
  })

  const at = <A>(list: ReadonlyArray<A>, index: number): A | undefined => list[index % Math.max(list.length, 1)]

  /** Who acts and where, in the model: each credential, in each workspace. */
  const assertActing = Effect.fnUntraced(function* (model: Model, after: string) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const signIns = yield* SignInsRepo
    for (const workspace of model.workspaces) {
      const ofKeys = Effect.forEach(model.keys, (key) => authenticated(key, workspace), { concurrency: "unbounded" })
      for (const [index, found] of (yield* ofKeys).entries()) {
        const key = model.keys[index]!
        assert.strictEqual(found !== undefined, key.live, after)
        assert.strictEqual(found?.membership?.role, roleIn(model, workspace, key), after)
        if (found !== undefined) assert.strictEqual<string>(found.principal.id, actorOf(key).id, after)
      }
    }
    for (const signIn of model.signIns) {
      const found = yield* signIns.authenticate(hashToken(signIn.secret), now)
      assert.strictEqual(found?.membership.role, roleIn(model, signIn.workspace, signIn), after)
    }
  })

  interface Taking {
    readonly model: Model
    readonly invites: Invites["Service"]
    readonly mails: Array<InviteMail>
    readonly addresses: ReadonlyArray<string>
    readonly workspace: Workspace
    readonly by: Key
    readonly step: Step
  }

  const invite = Effect.fnUntraced(function* ({ addresses, by, invites, mails, model, step, workspace }: Taking) {
    const { flag: mailed, role } = step
    const address = at(addresses, step.address)!
    const isInvited = model.invites.some(
      (invite) => invite.pending && invite.workspace === workspace && invite.address === address
    )
    const wanted =
      refusedAdmin(model, workspace, by) ??
      (!mayAssign(roleIn(model, workspace, by)!, role) ? "Forbidden owner_only" : undefined) ??
      (makesAdmin(by, role) ? "Forbidden account_key" : undefined) ??
      (activeWith(workspace, address) !== undefined ? "Conflict already_member" : undefined) ??
      (isInvited ? "Conflict already_invited" : "ok")
    let made: { readonly token?: string } = {}
    const create = invites.create({ email: address, role, deliver: mailed ? "mail" : "link" })
    const given = yield* withKey(
      by,
      workspace,
      Effect.tap(create, (invite) => Effect.sync(() => (made = invite)))
    )
    assert.strictEqual(given, wanted, "invite")
    if (given !== "ok") return
    // The inviter sees no token that is mailed.
    assert.strictEqual(made.token === undefined, mailed)
    const token = made.token ?? mails.at(-1)!.url.split("#").at(-1)!
    model.invites.push({ token, workspace, address, role, maker: by, mailed, pending: true })
  })

  const accept = Effect.fnUntraced(function* ({ invites, model, step }: Taking) {
    const found = at(model.invites, step.invite)
    if (found === undefined) return
    const wanted = refusedAcceptance(model, found, undefined) ?? "ok"
    const accepting = invites
      .accept({ token: found.token, name: "New" })
      .pipe(Effect.provideService(OptionalCaller, { caller: undefined }))
    let joined: Effect.Success<typeof accepting> | undefined
    const given = yield* answer(Effect.tap(accepting, (accepted) => Effect.sync(() => (joined = accepted))))
    assert.strictEqual(given, wanted, "accept")
    if (joined === undefined) return
    const { apiKey, person } = joined
    assert.notInclude(
      model.persons.map(({ id }) => id),
      person.id
    )
    const made = { id: person.id, address: found.address, proven: found.mailed }
    model.persons.push(made)
    const { id, secret } = apiKey!
    model.keys.push({ id, secret, of: made, maker: undefined, createdBy: made, live: true })
    found.workspace.members.set(made, { role: found.role, active: true })
    found.pending = false
  })

  const acceptAs = Effect.fnUntraced(function* ({ invites, model, step, workspace }: Taking) {
    const found = at(model.invites, step.invite)
    const sharing = model.keys.filter(isPersonal).filter(({ of }) => step.flag || of.address === found?.address)
    const key = at(sharing, step.credential)
    if (found === undefined || key === undefined) return
    const person = key.of
    const wanted = key.live ? (refusedAcceptance(model, found, person) ?? "ok") : "Unauthorized"
    const given = yield* withKey(key, workspace, invites.accept({ token: found.token, name: "Ignored" }))
    assert.strictEqual(given, wanted, "accept as")
    if (given !== "ok") return
    person.proven ||= found.mailed
    found.workspace.members.set(person, { role: found.role, active: true })
    found.pending = false
  })

  const prove = Effect.fnUntraced(function* ({ model, step }: Taking) {
    const person = at(model.persons, step.person)!
    const isOthers = !person.proven && isProven(model, person.address)
    const given = yield* answer((yield* Persons).prove(person.id))
    assert.strictEqual(given, isOthers ? "Conflict address_in_use" : "ok", "prove")
    if (given === "ok") person.proven = true
  })

  const changeActive = (active: boolean) =>
    Effect.fnUntraced(function* ({ by, model, step, workspace }: Taking) {
      const person = at(model.persons, step.person)!
      const member = workspace.members.get(person)
      const owners = [...workspace.members.values()].filter((other) => other.active && other.role === "owner").length
      const changes = member !== undefined && member.active !== active
      const wanted =
        refusedAdmin(model, workspace, by) ??
        (member === undefined ? "NotFound" : undefined) ??
        (!mayAssign(roleIn(model, workspace, by)!, member!.role) ? "Forbidden owner_only" : undefined) ??
        (changes && active && makesAdmin(by, member.role) ? "Forbidden account_key" : undefined) ??
        (changes && !active && member.role === "owner" && owners === 1 ? "Conflict last_owner" : undefined) ??
        (changes && active && activeWith(workspace, person.address) !== undefined ? "Conflict address_in_use" : "ok")
      const members = yield* Members
      const call = active
        ? members.reactivate(person.id)
        : members.deactivate(person.id, step.flag ? { accountApiKeys: "keep" } : {})
      const given = yield* withKey(by, workspace, call)
      assert.strictEqual(given, wanted, active ? "reactivate" : "deactivate")
      if (given !== "ok" || !changes) return
      member.active = active
      if (!active) endWhatTheyMade(model, workspace, person, step.flag ? by : undefined)
    })

  const makeAccountKey = Effect.fnUntraced(function* ({ by, model, step, workspace }: Taking) {
    const role = step.role === "owner" ? "admin" : step.role
    const wanted = refusedAdmin(model, workspace, by) ?? "ok"
    const create = (yield* ApiKeys).createAccount({ name: "key", role })
    const keep = ({ id, secret }: Effect.Success<typeof create>) => {
      const key = { id, secret, of: { workspace, role }, maker: by, createdBy: actorOf(by), live: true }
      inherit(model, by, key)
      model.keys.push(key)
    }
    assert.strictEqual(yield* withKey(by, workspace, Effect.map(create, keep)), wanted, "make an account key")
  })

  const makeKey = Effect.fnUntraced(function* ({ by, model, workspace }: Taking) {
    const own = model.keys.filter((key) => key.live && isPersonal(by) && key.of === by.of).length
    const wanted = !by.live
      ? "Unauthorized"
      : !isPersonal(by)
        ? "Forbidden account_key"
        : own >= maxActiveApiKeys
          ? "Conflict too_many_keys"
          : "ok"
    const create = (yield* ApiKeys).create({ name: "key" })
    const keep = ({ id, secret }: Effect.Success<typeof create>) => {
      const key = { id, secret, of: by.of, maker: by, createdBy: actorOf(by), live: true }
      inherit(model, by, key)
      model.keys.push(key)
    }
    assert.strictEqual(yield* withKey(by, workspace, Effect.map(create, keep)), wanted, "make a key")
  })

  const signInAgent = Effect.fnUntraced(function* ({ by, model, workspace }: Taking) {
    const isMember = roleIn(model, workspace, by) !== undefined
    const wanted = !by.live ? "Unauthorized" : !isMember ? "NotFound" : isPersonal(by) ? "ok" : "Forbidden account_key"
    const register = (yield* Agents).register({ client: "claude", computer: unique("computer") })
    const keep = ({ access_token: secret, clientId: id }: Effect.Success<typeof register>) => {
      const signIn = { id, secret, person: by.of as Person, workspace, maker: by, live: true }
      inherit(model, by, signIn)
      model.signIns.push(signIn)
    }
    assert.strictEqual(yield* withKey(by, workspace, Effect.map(register, keep)), wanted, "sign in an agent")
  })

  const revoke = Effect.fnUntraced(function* ({ by: other, model, step, workspace }: Taking) {
    const key = at(model.keys.slice(2), step.credential)
    if (key === undefined) return
    const keys = yield* ApiKeys
    const input = step.flag ? { accountApiKeys: "keep" as const } : {}
    if (!isPersonal(key)) {
      const wanted = refusedAdmin(model, workspace, other) ?? (isListed(workspace, key) ? "ok" : "NotFound")
      const given = yield* withKey(other, workspace, keys.revokeAccount(key.id, input))
      assert.strictEqual(given, wanted, "revoke an account key")
      if (given === "ok") endKey(model, key, step.flag ? other : undefined)
      return
    }
    // By a key of the person, or by another.
    const own = model.keys.filter(({ of }) => of === key.of)
    const by = step.by < 14 ? at(own, step.person)! : other
    const isOwn = key.live && by.of === key.of
    const wanted = !by.live ? "Unauthorized" : !isPersonal(by) ? "Forbidden account_key" : isOwn ? "ok" : "NotFound"
    const given = yield* withKey(by, workspace, keys.revoke(key.id, input))
    assert.strictEqual(given, wanted, "revoke")
    if (given === "ok") endKey(model, key, step.flag ? by : undefined)
  })

  /** The credential that is to be blocked or unblocked, and what the model refuses it for. */
  const targetOf = ({ by, model, step, workspace }: Taking) => {
    const all: ReadonlyArray<Credential> = [...model.keys.slice(2), ...model.signIns]
    const target = at(all, step.credential)
    if (target === undefined) return undefined
    const isOwners = standing(workspace, target) === "owner" && roleIn(model, workspace, by) !== "owner"
    const refused =
      refusedAdmin(model, workspace, by) ??
      (isListed(workspace, target) ? undefined : "NotFound") ??
      (isOwners ? "Forbidden owner_only" : undefined)
    return { target, refused }
  }

  const block = Effect.fnUntraced(function* (taking: Taking) {
    const { by, model, workspace } = taking
    const found = targetOf(taking)
    if (found === undefined) return
    const { refused, target } = found
    const wanted = refused ?? "ok"
    const given = yield* withKey(by, workspace, (yield* Inventory).block(target.id))
    assert.strictEqual(given, wanted, "block")
    if (given !== "ok") return
    const rows = [...madeWith(model, target)].map((credential) => ({ workspace, credential, root: target }))
    model.blocks = [...model.blocks, ...rows]
  })

  const unblock = Effect.fnUntraced(function* (taking: Taking) {
    const { by, model, workspace } = taking
    const found = targetOf(taking)
    if (found === undefined) return
    const { refused, target } = found
    const isOwn = personBehind(by) === ("person" in target ? target.person : isPersonal(target) && target.of)
    const isOwnOfAdmin = isOwn && roleIn(model, workspace, by) !== "owner"
    const roots = model.blocks
      .filter((row) => row.workspace === workspace && row.credential === target)
      .map(({ root }) => root)
    const isMakers = !roots.includes(target) && roots.some((root) => isListed(workspace, root))
    const wanted = refused ?? (isOwnOfAdmin ? "Forbidden owner_only" : isMakers ? "Conflict maker_blocked" : "ok")
    const given = yield* withKey(by, workspace, (yield* Inventory).unblock(target.id))
    assert.strictEqual(given, wanted, "unblock")
    if (given !== "ok") return
    const made = madeWith(model, target)
    const ended = new Set(roots.filter((root) => !isListed(workspace, root)))
    const isGone = ({ credential, root, workspace: where }: Block) =>
      where === workspace && (root === target || (ended.has(root) && made.has(credential)))
    model.blocks = model.blocks.filter((row) => !isGone(row))
  })

  const take = {
    invite,
    accept,
    "accept as": acceptAs,
    prove,
    deactivate: changeActive(false),
    reactivate: changeActive(true),
    "make an account key": makeAccountKey,
    "make a key": makeKey,
    "sign in an agent": signInAgent,
    revoke,
    block,
    unblock
  }

  const history = Effect.fnUntraced(function* (taken: ReadonlyArray<Step>) {
    const mails: Array<InviteMail> = []
    const postBox = Layer.succeed(Mail, {
      sendInvite: (mail) => Effect.sync(() => void mails.push(mail)),
      admitInvite: () => Effect.void
    })
    const invites = yield* Effect.provide(Invites, Layer.fresh(Layer.provide(Invites.layer, postBox)))
    const model = yield* begin
    const addresses = [0, 1, 2].map(() => `${unique("history")}@example.com`)
    for (const step of taken) {
      const index = step.workspace % model.workspaces.length
      const by = step.by < 6 ? model.keys[index]! : at(model.keys, step.by)!
      yield* take[step.kind]({ model, invites, mails, addresses, workspace: model.workspaces[index]!, by, step })
      yield* assertActing(model, step.kind)
    }
  })

  it.effect("is as a plain model has it, whatever happens", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<Effect.Services<ReturnType<typeof history>>>()
      const property = fc.asyncProperty(steps, (taken) => Effect.runPromiseWith(context)(history(taken)))
      yield* Effect.promise(() => fc.assert(property, { numRuns: storage === "memory" ? 60 : 10 }))
    })
  )
})
