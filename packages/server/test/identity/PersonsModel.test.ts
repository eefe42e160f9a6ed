import { assert } from "@effect/vitest"
import { Caller, OptionalCaller } from "@delivery/domain/identity/Authorization"
import { isAtLeast, mayAssign, type Role } from "@delivery/domain/identity/Role"
import type { ApiKeyId, PersonId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import type { WorkspaceRow } from "../../src/identity/WorkspacesRepo.ts"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { type InviteMail, Mail } from "../../src/identity/Mail.ts"
import { Invites } from "../../src/identity/Invites.ts"
import { Members } from "../../src/identity/Members.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { Persons } from "../../src/identity/Persons.ts"
import { hashToken } from "../../src/ids/Tokens.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addPerson, addWorkspace, answer, keyOfPerson, minute, unique } from "./Scene.ts"

/**
 * Histories of persons, invites, proofs, joins and deactivations against a plain model: nobody ever acts in a workspace
 * that did not admit that very person, and no invite or account key outlives the access of who made it.
 */

interface Person {
  readonly id: PersonId
  readonly secret: string
  readonly address: string
  proven: boolean
}

interface AccountKey {
  readonly id: ApiKeyId
  readonly secret: string
  readonly workspace: Workspace
  readonly role: Role
  readonly by: Actor
  live: boolean
}

type Actor = Person | AccountKey

interface Invite {
  readonly token: string
  readonly workspace: Workspace
  readonly address: string
  readonly role: Role
  readonly by: Actor
  readonly mailed: boolean
  pending: boolean
}

interface Workspace {
  readonly row: WorkspaceRow
  readonly members: Map<Person, { role: Role; active: boolean }>
}

interface Model {
  readonly workspaces: ReadonlyArray<Workspace>
  readonly persons: Array<Person>
  readonly keys: Array<AccountKey>
  readonly invites: Array<Invite>
}

interface Step {
  readonly kind: "invite" | "accept" | "accept as" | "prove" | "deactivate" | "reactivate" | "make a key"
  readonly workspace: number
  /** Below 6, an owner that the workspace began with. */
  readonly by: number
  readonly person: number
  readonly invite: number
  readonly address: number
  readonly role: Role
  readonly flag: boolean
}

const roles = ["viewer", "member", "admin", "owner"] as const

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(
      "invite",
      "invite",
      "accept",
      "accept as",
      "accept as",
      "prove",
      "deactivate",
      "reactivate",
      "make a key"
    ),
    workspace: fc.nat(1),
    by: fc.nat(20),
    person: fc.nat(20),
    invite: fc.nat(20),
    address: fc.nat(2),
    role: fc.constantFrom(...roles),
    flag: fc.boolean()
  }),
  { minLength: 10, maxLength: 40 }
)

const isPerson = (actor: Actor): actor is Person => "address" in actor

const roleIn = (workspace: Workspace, actor: Actor): Role | undefined => {
  if (!isPerson(actor)) return actor.live && actor.workspace === workspace ? actor.role : undefined
  const member = workspace.members.get(actor)
  return member?.active === true ? member.role : undefined
}

const activeWith = (workspace: Workspace, address: string) =>
  [...workspace.members].find(([person, { active }]) => active && person.address === address)?.[0]

const isProven = (model: Model, address: string) =>
  model.persons.some((person) => person.proven && person.address === address)

/** What the model refuses an administrator for, before it looks at anything else. */
const refusedAdmin = (workspace: Workspace, by: Actor): string | undefined => {
  const role = roleIn(workspace, by)
  if (role === undefined) return isPerson(by) || by.live ? "NotFound" : "Unauthorized"
  return isAtLeast(role, "admin") ? undefined : "Forbidden role_too_low"
}

/** What the model answers to an acceptance; undefined where it admits. */
const refusedAcceptance = (model: Model, invite: Invite | undefined, as: Person | undefined): string | undefined => {
  if (invite?.pending !== true) return "NotFound"
  if (as !== undefined && as.address !== invite.address) return "Conflict other_address"
  if (as?.proven !== true && isProven(model, invite.address)) return "Conflict sign_in_required"
  const holder = activeWith(invite.workspace, invite.address)
  if (holder === undefined) return undefined
  return holder === as ? "Conflict already_member" : "Conflict address_in_use"
}

/** Ends what a member made, and what was made with that. */
const endWhatTheyMade = (model: Model, workspace: Workspace, member: Person, keep: boolean): void => {
  const ended = new Set<Actor>([member])
  for (const actor of ended) {
    if (keep) break
    for (const key of model.keys) if (key.workspace === workspace && key.by === actor) ended.add(key)
  }
  for (const actor of ended) if (!isPerson(actor)) actor.live = false
  for (const invite of model.invites) if (invite.workspace === workspace && ended.has(invite.by)) invite.pending = false
}

withServicesOnEachStorage("Who acts where", (it, storage) => {
  const begin = Effect.gen(function* () {
    const workspaces: Array<Workspace> = []
    const persons: Array<Person> = []
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
      const { secret } = yield* (yield* ApiKeys).issue(keyOfPerson(id), "key")
      const person = { id, secret, address: email, proven: false }
      persons.push(person)
      workspaces.push({ row, members: new Map([[person, { role: "owner", active: true }]]) })
    }
    const model: Model = { workspaces, persons, keys: [], invites: [] }
    return model
  })

  const authenticated = Effect.fnUntraced(function* (actor: Actor, { row }: Workspace) {
    return yield* (yield* ApiKeysRepo).authenticate(hashToken(actor.secret), row.slug)
  })

  /** A call with the key of the actor in the workspace, as a request makes it. */
  const asActor = Effect.fnUntraced(function* <A, E extends { readonly _tag: string; readonly message: string }, R>(
    actor: Actor,
    workspace: Workspace,
    call: Effect.Effect<A, E, R>
  ) {
    const found = yield* authenticated(actor, workspace)
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
    for (const workspace of model.workspaces) {
      for (const actor of [...model.persons, ...model.keys]) {
        const found = yield* authenticated(actor, workspace)
        assert.strictEqual(found?.membership?.role, roleIn(workspace, actor), after)
        if (isPerson(actor)) assert.strictEqual(found?.principal.id, actor.id, after)
      }
    }
  })

  interface Taking {
    readonly model: Model
    readonly invites: Invites["Service"]
    readonly mails: Array<InviteMail>
    readonly addresses: ReadonlyArray<string>
    readonly workspace: Workspace
    readonly by: Actor
    readonly step: Step
  }

  const invite = Effect.fnUntraced(function* ({ addresses, by, invites, mails, model, step, workspace }: Taking) {
    const { flag: mailed, role } = step
    const address = at(addresses, step.address)!
    const isInvited = model.invites.some(
      (invite) => invite.pending && invite.workspace === workspace && invite.address === address
    )
    const wanted =
      refusedAdmin(workspace, by) ??
      (!mayAssign(roleIn(workspace, by)!, role) ? "Forbidden owner_only" : undefined) ??
      (activeWith(workspace, address) !== undefined ? "Conflict already_member" : undefined) ??
      (isInvited ? "Conflict already_invited" : "ok")
    let made: { readonly token?: string } = {}
    const create = invites.create({ email: address, role, deliver: mailed ? "mail" : "link" })
    const given = yield* asActor(
      by,
      workspace,
      Effect.tap(create, (invite) => Effect.sync(() => (made = invite)))
    )
    assert.strictEqual(given, wanted, "invite")
    if (given !== "ok") return
    // The inviter sees no token that is mailed.
    assert.strictEqual(made.token === undefined, mailed)
    const token = made.token ?? mails.at(-1)!.url.split("/").at(-1)!
    model.invites.push({ token, workspace, address, role, by, mailed, pending: true })
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
    const made = { id: person.id, secret: apiKey!.secret, address: found.address, proven: found.mailed }
    model.persons.push(made)
    found.workspace.members.set(made, { role: found.role, active: true })
    found.pending = false
  })

  const acceptAs = Effect.fnUntraced(function* ({ invites, model, step, workspace }: Taking) {
    const found = at(model.invites, step.invite)
    const sharing = model.persons.filter(({ address }) => step.flag || address === found?.address)
    const person = at(sharing, step.person)
    if (found === undefined || person === undefined) return
    const wanted = refusedAcceptance(model, found, person) ?? "ok"
    const given = yield* asActor(person, workspace, invites.accept({ token: found.token, name: "Ignored" }))
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
        refusedAdmin(workspace, by) ??
        (member === undefined ? "NotFound" : undefined) ??
        (!mayAssign(roleIn(workspace, by)!, member!.role) ? "Forbidden owner_only" : undefined) ??
        (changes && !active && member.role === "owner" && owners === 1 ? "Conflict last_owner" : undefined) ??
        (changes && active && activeWith(workspace, person.address) !== undefined ? "Conflict address_in_use" : "ok")
      const members = yield* Members
      const call = active
        ? members.reactivate(person.id)
        : members.deactivate(person.id, step.flag ? { accountApiKeys: "keep" } : {})
      const given = yield* asActor(by, workspace, call)
      assert.strictEqual(given, wanted, active ? "reactivate" : "deactivate")
      if (given !== "ok" || !changes) return
      member.active = active
      if (!active) endWhatTheyMade(model, workspace, person, step.flag)
    })

  const makeKey = Effect.fnUntraced(function* ({ by, model, step, workspace }: Taking) {
    const role = step.role === "owner" ? "admin" : step.role
    let made: { readonly id: ApiKeyId; readonly secret: string } | undefined
    const create = (yield* ApiKeys).createAccount({ name: "key", role })
    const given = yield* asActor(
      by,
      workspace,
      Effect.tap(create, (key) => Effect.sync(() => (made = key)))
    )
    assert.strictEqual(given, refusedAdmin(workspace, by) ?? "ok", "make a key")
    if (made !== undefined) model.keys.push({ id: made.id, secret: made.secret, workspace, role, by, live: true })
  })

  const take = {
    invite,
    accept,
    "accept as": acceptAs,
    prove,
    deactivate: changeActive(false),
    reactivate: changeActive(true),
    "make a key": makeKey
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
      const actors: ReadonlyArray<Actor> = [...model.persons, ...model.keys]
      const by = step.by < 6 ? model.persons[index]! : at(actors, step.by)!
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
