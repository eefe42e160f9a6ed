import { type AuditCredential, type AuditEntry, auditPageSize, type AuditPage } from "@delivery/domain/audit/Audit"
import type { Change } from "@delivery/domain/events/Event"
import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import type { Forbidden, NotFound } from "@delivery/domain/Errors"
import { Caller, OptionalCaller } from "@delivery/domain/identity/Authorization"
import type { AuditEntryId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, Option, Stream } from "effect"
import { type ActorRef, atLeast, actorOf, isSameActor } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { clientAddress } from "../http/ClientAddress.ts"
import { RequestId } from "../http/RequestId.ts"
import { NextId } from "../ids/NextId.ts"
import { ActsInstead } from "./ActsInstead.ts"
import { type AuditFilter, AuditRepo, type AuditRow, timeOf } from "./AuditRepo.ts"

/** An entry to be recorded. */
export interface NewAuditEntry {
  /** A noun and a verb, as events have them. */
  readonly action: AuditAction
  readonly subject: { readonly type: string; readonly id: string; readonly label: string }
  /** The slugs of environments, and the version in each. */
  readonly environments?: ReadonlyArray<string>
  readonly versions?: ReadonlyArray<number>
  readonly changes?: ReadonlyArray<Change>
  readonly secrets?: NonNullable<AuditEntry["secrets"]>
  readonly outcome?: AuditEntry["outcome"]
  /** If absent, that of the request. */
  readonly credential?: AuditCredential | null
  /** If absent, the request that the fiber serves. */
  readonly request?: AuditedRequest
}

/** From where something was asked for, in which request. */
export type AuditedRequest = Pick<AuditRow, "address" | "requestId">

/** Who does something, and in which workspace. */
export interface AuditedBy {
  readonly workspace: { readonly id: WorkspaceId }
  readonly actor: ActorRef
}

/** The same where nobody is known who did it. */
interface AuditedByNobody {
  readonly workspace: AuditedBy["workspace"]
  readonly actor: null
}

/** What an entry says whatever was done: who, when, with which credential, from where, in which request. */
export type AuditOrigin = Pick<
  AuditRow,
  "id" | "workspaceId" | "actorId" | "actor" | "credential" | "address" | "requestId"
>

/** Who did what in a workspace, with which credential and from where (docs/contract.md, Audit). */
export class Audit extends Context.Service<
  Audit,
  {
    /** What a new entry says of the present request, for statements that make the rest of it. */
    readonly origin: (by: AuditedBy | AuditedByNobody) => Effect.Effect<AuditOrigin>
    /** A new entry, for repositories that store it in the statement of what it tells. */
    readonly make: (by: AuditedBy | AuditedByNobody, entry: NewAuditEntry) => Effect.Effect<AuditRow>
    /**
     * Stores a new entry. Called in the transaction of what it tells. The credential, the address and the id of the request
     * are those of the request that the fiber serves.
     */
    readonly record: (by: AuditedBy | AuditedByNobody, entry: NewAuditEntry) => Effect.Effect<void>
    /** The same in several workspaces: what happens to a person happens in each of theirs. */
    readonly recordIn: (
      workspaces: ReadonlyArray<{ readonly id: WorkspaceId }>,
      actor: ActorRef,
      entry: NewAuditEntry
    ) => Effect.Effect<void>
    readonly list: (filter: AuditFilter) => Effect.Effect<AuditPage, NotFound | Forbidden, Caller>
    /** All entries that match, newest first, read as they are taken. It is an entry itself. */
    readonly export: (filter: AuditFilter) => Effect.Effect<Stream.Stream<AuditEntry>, NotFound | Forbidden, Caller>
    /** Erases what is older than it is kept; how many. */
    readonly erase: Effect.Effect<number>
  }
>()("@delivery/server/audit/Audit") {
  static readonly layer = Layer.effect(Audit, Effect.gen(make))
}

interface Dependencies {
  readonly days: number
  readonly repo: AuditRepo["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    days: (yield* Settings).auditDays,
    repo: yield* AuditRepo,
    nextId: yield* NextId
  }
  const { repo } = dependencies
  const makeOne = makeEntry(dependencies)
  return Audit.of({
    origin: makeOrigin(dependencies),
    make: makeOne,
    record: (by, entry) => Effect.flatMap(makeOne(by, entry), (row) => repo.insert([row])),
    recordIn: (workspaces, actor, entry) =>
      Effect.flatMap(
        Effect.forEach(workspaces, (workspace) => makeOne({ workspace, actor }, entry)),
        repo.insert
      ),
    list: list(dependencies),
    export: exportAll(dependencies),
    erase: erase(dependencies)
  })
}

const makeOrigin = ({ nextId, repo }: Dependencies): Audit["Service"]["origin"] =>
  Effect.fnUntraced(function* ({ actor, workspace }) {
    const caller = yield* presentCaller
    const instead = yield* ActsInstead
    const isCaller = caller !== undefined && actor !== null && isSameActor(actorOf(caller.principal), actor)
    return {
      id: yield* nextId<AuditEntryId>(),
      workspaceId: workspace.id,
      actorId: actor?.id ?? null,
      actor: isCaller ? caller.principal : actor === null ? { kind: "removed" } : yield* repo.actor(actor),
      credential: instead ?? (caller === undefined ? null : shown(caller.credential)),
      ...(yield* auditedRequest)
    }
  })

/** Whose request the fiber serves. */
const presentCaller = Effect.withFiber((fiber) =>
  Effect.succeed(
    Context.getOrUndefined(fiber.context, Caller) ?? Context.getOrUndefined(fiber.context, OptionalCaller)?.caller
  )
)

/** The request that the fiber serves, for what is told of it later. */
export const auditedRequest: Effect.Effect<AuditedRequest> = Effect.gen(function* () {
  const requestId = yield* RequestId
  return { address: yield* clientAddress, requestId: requestId === "none" ? null : requestId }
})

/** What an entry has of a credential. */
const shown = ({ id, kind, lastFour }: AuditCredential): AuditCredential => ({ kind, id, lastFour })

const makeEntry = (dependencies: Dependencies): Audit["Service"]["make"] => {
  const origin = makeOrigin(dependencies)
  return Effect.fnUntraced(function* (
    by,
    { action, changes = [], credential, environments, outcome, request, secrets, subject, versions }
  ) {
    const from = yield* origin(by)
    return {
      ...from,
      ...request,
      action,
      outcome: outcome ?? "allowed",
      credential: credential === undefined ? from.credential : credential && shown(credential),
      subjectType: subject.type,
      subjectId: subject.id,
      subjectLabel: subject.label,
      environments: environments ?? null,
      versions: versions ?? null,
      changes: changes.length === 0 ? null : changes,
      secrets: secrets ?? null,
      count: 1
    }
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.fn("Audit.list")(function* (filter: AuditFilter) {
    const { workspace } = yield* atLeast("admin")
    const found = yield* repo.find(workspace.id, filter, auditPageSize + 1)
    const entries = found.slice(0, auditPageSize).map(present)
    return { entries, nextCursor: found.length > auditPageSize ? entries.at(-1)!.id : null }
  })

/** How many entries of an export are in memory at once. */
const exportedAtOnce = 500

const exportAll = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const makeOne = makeEntry(dependencies)
  return Effect.fn("Audit.export")(function* (filter: AuditFilter) {
    const by = yield* atLeast("admin")
    const { id, name } = by.workspace
    const subject = { type: "workspace", id, label: name }
    yield* Effect.flatMap(makeOne(by, { action: "audit_exported", subject }), (row) => repo.insert([row]))
    return Stream.paginate(filter, (from: AuditFilter) =>
      Effect.map(repo.find(id, from, exportedAtOnce), (rows) => [
        rows.map(present),
        rows.length < exportedAtOnce ? Option.none<AuditFilter>() : Option.some({ ...from, cursor: rows.at(-1)!.id })
      ])
    )
  })
}

const erasedAtOnce = 1_000

const erase = ({ days, repo }: Dependencies) =>
  Effect.gen(function* () {
    const before = timestamp((yield* Clock.currentTimeMillis) - days * 24 * 3_600_000)
    let erased = 0
    for (;;) {
      const some = yield* repo.erase(before, erasedAtOnce)
      if (some === 0) return erased
      erased += some
    }
  }).pipe(Effect.withSpan("Audit.erase"))

const present = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: timestamp(timeOf(row.id)),
  actor: row.actor,
  credential: row.credential,
  address: row.address,
  action: row.action,
  subject: { type: row.subjectType, id: row.subjectId, label: row.subjectLabel },
  ...presentVersions(row),
  ...(row.changes === null ? {} : { changes: row.changes }),
  ...(row.secrets === null ? {} : { secrets: row.secrets }),
  ...(row.count === 1 ? {} : { count: row.count }),
  outcome: row.outcome,
  requestId: row.requestId
})

/** The versions of a secret, by environment. A statement that reads them stores them in any order. */
const presentVersions = ({ environments, versions }: AuditRow): Pick<AuditEntry, "environments" | "versions"> => {
  if (environments === null || versions === null) return {}
  const sorted = environments
    .map((environment, index) => ({ environment, version: versions[index]! }))
    .toSorted((a, b) => compare(a.environment, b.environment))
  return { environments: sorted.map(({ environment }) => environment), versions: sorted.map(({ version }) => version) }
}
