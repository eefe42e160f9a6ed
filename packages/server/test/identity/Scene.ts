import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import type { Change } from "@delivery/domain/events/Event"
import { Caller, OptionalCaller } from "@delivery/domain/identity/Authorization"
import type { Role } from "@delivery/domain/identity/Role"
import type { ApiKeyId, PersonId, SessionId, TrustedPublisherId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Deferred, Effect, Fiber, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { hashToken } from "../../src/ids/Tokens.ts"
import { EventsRepo } from "../../src/events/EventsRepo.ts"
import type { ApiKeyRow, KeyOwner, PersonRow } from "../../src/access/ActorRows.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { SessionsRepo } from "../../src/identity/SessionsRepo.ts"
import type { TrustedPublisherRow } from "../../src/identity/TrustedPublishersRepo.ts"
import { type WorkspaceRow, WorkspacesRepo } from "../../src/identity/WorkspacesRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"

/** Workspaces and callers for tests. Every test makes its own, so that tests may share a database. */

let last = 0

/** A word that nothing else in the process uses, fit for a slug and a name. */
export const unique = (word: string): string => `${word}-${++last}`

export const newId = <Id extends string>(): Id => SecureRandom.uuidV7Unsafe() as Id

/** An instant some minutes after the start of the test clock. */
export const minute = (minutes: number): string => timestamp(minutes * 60_000)

/** Rows of several times, four of them of one: the newest first, and of one time that of the highest id. */
export const newestFirst = <Row>(make: (createdAt: string, id: string) => Row): ReadonlyArray<Row> => {
  const ids = Array.from({ length: 4 }, () => newId<string>())
    .toSorted()
    .toReversed()
  return [make(minute(3), newId()), ...ids.map((id) => make(minute(2), id)), make(minute(1), newId())]
}

/** Six rows in another order, not reversed either. */
export const shuffled = <Row>(rows: ReadonlyArray<Row>): ReadonlyArray<Row> => [2, 4, 0, 1, 5, 3].map((at) => rows[at]!)

export const now: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, timestamp)

export const personRow = (fields: Partial<PersonRow> = {}): PersonRow => {
  const name = unique("person")
  return {
    id: newId<PersonId>(),
    name,
    email: `${name}@example.com`,
    emailVerifiedAt: null,
    createdAt: minute(0),
    ...fields
  }
}

export const workspaceRow = (fields: Partial<WorkspaceRow> = {}): WorkspaceRow => {
  const slug = unique("workspace")
  return {
    id: newId<WorkspaceId>(),
    slug,
    name: slug,
    runDays: null,
    fileDays: null,
    createdAt: minute(0),
    updatedAt: minute(0),
    ...fields
  }
}

export const keyOfPerson = (personId: PersonId): KeyOwner => ({ personId, workspaceId: null, role: null })

export const keyOfWorkspace = (workspaceId: WorkspaceId, role: "viewer" | "member" | "admin" = "member"): KeyOwner => ({
  personId: null,
  workspaceId,
  role
})

export const apiKeyRow = (
  owner: KeyOwner,
  fields: Partial<Omit<ApiKeyRow, keyof KeyOwner | "name" | "tokenHash" | "tokenPrefix" | "lastFour">> = {}
): ApiKeyRow => {
  const name = unique("key")
  return {
    ...owner,
    id: newId<ApiKeyId>(),
    name,
    tokenHash: hashToken(name),
    tokenPrefix: "ctk_abcd",
    lastFour: "wxyz",
    scopes: null,
    createdByKind: null,
    createdById: null,
    createdAt: minute(0),
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    makerId: null,
    familyId: null,
    ...fields
  }
}

/** A trusted publisher of the workspace, made by the person. */
export const publisherRow = (
  workspaceId: WorkspaceId,
  createdById: PersonId,
  fields: Partial<TrustedPublisherRow> = {}
): TrustedPublisherRow => ({
  id: newId<TrustedPublisherId>(),
  workspaceId,
  issuer: "https://ci.example.com",
  repositoryId: unique("1"),
  ownerId: "2",
  workflow: "e2e.yml",
  ref: null,
  environment: null,
  allowPullRequests: false,
  role: "member",
  scopes: null,
  createdByKind: "user",
  createdById,
  createdAt: minute(1),
  expiresAt: null,
  lastUsedAt: null,
  makerId: null,
  ...fields
})

/** A caller; `as` gives it a credential where the test has none to say. */
export type CallerOf = Omit<Caller["Service"], "credential"> & Partial<Pick<Caller["Service"], "credential">>

/** A stored person who is in no workspace. */
export const addPerson = Effect.fnUntraced(function* (fields: Partial<PersonRow> = {}) {
  const person = personRow(fields)
  yield* (yield* PersonsRepo).insert(person)
  return person
})

export const addWorkspace = Effect.fnUntraced(function* (fields: Partial<WorkspaceRow> = {}) {
  const workspace = workspaceRow(fields)
  yield* (yield* WorkspacesRepo).insert(workspace)
  return workspace
})

/** A new person who is a member of the workspace, as a caller in it. */
export const addMember = Effect.fnUntraced(function* (
  workspace: WorkspaceRow,
  role: Role,
  fields: { readonly person?: PersonRow; readonly name?: string; readonly active?: boolean } = {}
) {
  const person = fields.person ?? (yield* addPerson(fields.name === undefined ? {} : { name: fields.name }))
  const active = fields.active ?? true
  yield* (yield* MembersRepo).insert({
    workspaceId: workspace.id,
    personId: person.id,
    role,
    active,
    joinedAt: minute(0)
  })
  return yield* withSession(callerOf(person, active ? { ...workspace, role } : undefined))
})

/** A new account API key of the workspace, as a caller in it. */
export const addAccountKey = Effect.fnUntraced(function* (
  workspace: WorkspaceRow,
  role: "viewer" | "member" | "admin"
) {
  const key = apiKeyRow(keyOfWorkspace(workspace.id, role))
  yield* (yield* ApiKeysRepo).insert(key)
  return {
    principal: { kind: "apiKey", id: key.id, name: key.name },
    membership: { id: workspace.id, slug: workspace.slug, name: workspace.name, role }
  } satisfies CallerOf
})

const callerOf = (person: PersonRow, membership: CallerOf["membership"]) =>
  ({
    principal: { kind: "user", id: person.id, name: person.name, email: person.email },
    membership: membership && {
      id: membership.id,
      slug: membership.slug,
      name: membership.name,
      role: membership.role
    }
  }) satisfies CallerOf

/** The same caller, whose session is stored: what it makes, it makes as long as that lasts. It has the id of the person. */
export const withSession = Effect.fnUntraced(function* <C extends ReturnType<typeof callerOf>>(caller: C) {
  const sessions = yield* SessionsRepo
  const { id } = caller.principal
  const sessionId = id as string as SessionId
  if ((yield* sessions.find(sessionId)) !== undefined) return caller
  yield* sessions.insert({
    id: sessionId,
    personId: id,
    tokenHash: hashToken(`session of ${id}`),
    lastFour: "wxyz",
    method: "link",
    device: "Firefox on Linux",
    address: "address",
    // Whatever time it is for the test.
    createdAt: "9000-01-01T00:00:00.000Z",
    lastSeenAt: "9000-01-01T00:00:00.000Z",
    provedAt: minute(0)
  })
  return caller
})

/** A new workspace with everyone who may call it, and someone who may not. */
export const makeScene = Effect.gen(function* () {
  const workspace = yield* addWorkspace()
  const callers = {
    viewer: yield* addMember(workspace, "viewer"),
    member: yield* addMember(workspace, "member"),
    admin: yield* addMember(workspace, "admin"),
    owner: yield* addMember(workspace, "owner"),
    viewerKey: yield* addAccountKey(workspace, "viewer"),
    memberKey: yield* addAccountKey(workspace, "member"),
    adminKey: yield* addAccountKey(workspace, "admin"),
    outsider: yield* withSession(callerOf(yield* addPerson(), undefined))
  }
  return { workspace, callers, ...callers }
})

export type Scene = Effect.Success<typeof makeScene>

/** Runs what a service offers as this caller. */
export const as = (caller: CallerOf) => {
  const known: Caller["Service"] = {
    credential: {
      // A key would have to be stored: what it makes ends with it.
      kind: caller.principal.kind === "apiKey" ? "accountApiKey" : "session",
      id: caller.principal.id,
      lastFour: "wxyz"
    },
    ...caller
  }
  return <A, E, R>(call: Effect.Effect<A, E, R>) =>
    call.pipe(Effect.provideService(Caller, known), Effect.provideService(OptionalCaller, { caller: known }))
}

/** Runs what needs no credential without one. */
export const asNobody = Effect.provideService(OptionalCaller, { caller: undefined })

interface Refusal {
  readonly _tag: string
  readonly message: string
  readonly reason?: string
}

const codeOf = (error: Refusal): string => (error.reason === undefined ? error._tag : `${error._tag} ${error.reason}`)

/** The tag of the refusal, and its reason where it has one. Fails where the call was not refused. */
export const refusal = <A, R>(call: Effect.Effect<A, Refusal, R>): Effect.Effect<string, A, R> =>
  Effect.map(Effect.flip(call), codeOf)

/** Like `refusal`, or `ok`. */
export const answer = <A, R>(call: Effect.Effect<A, Refusal, R>): Effect.Effect<string, never, R> =>
  Effect.match(call, { onSuccess: () => "ok", onFailure: codeOf })

const roles = (viewer: string, member: string, admin: string) => ({
  viewer,
  member,
  admin,
  owner: "may",
  viewerKey: viewer,
  memberKey: member,
  adminKey: admin,
  outsider: "no workspace"
})

/** What `whoMay` tells of a call that needs these roles. */
export const everyRole = roles("may", "may", "may")
export const membersAndUp = roles("role_too_low", "may", "may")
export const adminsAndUp = roles("role_too_low", "role_too_low", "may")

/**
 * Whom the call refuses for their role. Roles are checked before objects, so a call on an object that does not exist
 * tells them too.
 */
export const whoMay = Effect.fnUntraced(function* <A, R>(
  { callers }: Scene,
  call: Effect.Effect<A, Refusal, R | Caller>
) {
  const outcomeOf = ({ _tag, message, reason }: Refusal): string => {
    if (message === "The workspace does not exist.") return "no workspace"
    return _tag === "Forbidden" ? String(reason) : "may"
  }
  return yield* Effect.all(
    Object.fromEntries(
      Object.entries(callers).map(([name, caller]) => [
        name,
        call.pipe(as(caller), Effect.match({ onSuccess: () => "may", onFailure: outcomeOf }))
      ])
    )
  )
})

/** The workspace's events, oldest first: kind, subject and changes. */
export const eventsOf = Effect.fnUntraced(function* ({ id }: Pick<WorkspaceRow, "id">) {
  const events = yield* (yield* EventsRepo).newest(id, "all", 1_000)
  return events.toReversed()
})

export const kindsOf = (workspace: Pick<WorkspaceRow, "id">) =>
  Effect.map(eventsOf(workspace), (events) => events.map((event) => event.kind))

/**
 * Asserts that the changes that events tell lead from one state of an object to the other without a gap: that no
 * change was lost or decided on a state that was gone.
 */
export const assertChain = (
  events: ReadonlyArray<{ readonly changes: ReadonlyArray<Change> }>,
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>
): void => {
  const state: Record<string, unknown> = { ...from }
  for (const { changes } of events) {
    assert.lengthOf(changes, 1)
    for (const change of changes) {
      assert.strictEqual(change.from, state[change.field], `${change.field} before ${change.to}`)
      state[change.field] = change.to
    }
  }
  for (const field of new Set(events.flatMap(({ changes }) => changes.map((change) => change.field)))) {
    assert.strictEqual(to[field], state[field], field)
  }
}

/** Within a transaction: lasts until the other one waits for what this one has locked, or has ended without that. */
export const awaitsThis = Effect.fnUntraced(function* (other: Fiber.Fiber<unknown, unknown>) {
  const sql = Option.getOrUndefined(yield* Effect.serviceOption(PgClient.PgClient))
  if (sql === undefined) {
    // In memory all that the other can do, it does as soon as this one stands back.
    for (let i = 0; i < 1000; i++) yield* Effect.yieldNow
    return
  }
  const isBlocking = sql<{ readonly isBlocking: boolean; readonly isAlone: boolean }>`
    select exists (
      select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))
    ) as "isBlocking", version() like '%emcc%' as "isAlone"`
  for (let i = 0; other.pollUnsafe() === undefined; i++) {
    const [row] = yield* isBlocking
    // The embedded database serves no other transaction meanwhile, however often this one asks.
    if (row!.isBlocking || (row!.isAlone && i === 100)) return
  }
}, Effect.orDie)

/** Runs `other` while a transaction has the lock. When that waits for it, something happens, and the transaction ends. */
export const whileItWaits = Effect.fnUntraced(function* <A, E, R, R1, R2>(
  other: Effect.Effect<A, E, R>,
  lock: Effect.Effect<unknown, never, R1>,
  happens: Effect.Effect<unknown, never, R2>
) {
  const storage = yield* Storage
  const taken = yield* Deferred.make<void>()
  const begun = yield* Deferred.make<Fiber.Fiber<A, E>>()
  const first = yield* Effect.forkChild(
    storage.transaction(
      Effect.gen(function* () {
        yield* lock
        yield* Deferred.succeed(taken, undefined)
        yield* awaitsThis(yield* Deferred.await(begun))
        yield* happens
      })
    )
  )
  yield* Deferred.await(taken)
  const second = yield* Effect.forkChild(other)
  yield* Deferred.succeed(begun, second)
  yield* Fiber.join(first)
  return yield* Fiber.join(second)
})

/** Asserts that a transaction which takes the lock passes it only when the one that took it before has ended. */
export const assertHolds = Effect.fnUntraced(function* <A, R>(lock: Effect.Effect<A, never, R>) {
  const storage = yield* Storage
  const steps: Array<string> = []
  const note = (step: string) => Effect.sync(() => void steps.push(step))
  const second = storage.transaction(Effect.andThen(lock, note("second passes")))
  yield* whileItWaits(second, lock, note("first ends"))
  assert.deepStrictEqual(steps, ["first ends", "second passes"])
})

/** A ref as errors repeat it: characters that a terminal would obey are escaped. */
export const repeated = (ref: string): string =>
  ref.replaceAll(/\p{Cc}/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
