import {
  type Approval,
  type ApprovalsPage,
  approvalsPageSize,
  type ApprovalState,
  pendingApprovalHours,
  type RequestApproval
} from "@delivery/domain/catalog/Approval"
import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { ApprovalId, PersonId } from "@delivery/domain/Ids"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { type Access, anyRole, atLeast, isSameActor, withRole } from "../access/Access.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { type ApprovalRow, ApprovalsRepo, type FoundApproval, type Moment } from "./ApprovalsRepo.ts"
import { EnvironmentsRepo } from "./EnvironmentsRepo.ts"
import { WriteApprovals } from "./WriteApprovals.ts"

/** Which approvals to list; the environment by slug or id. */
interface ApprovalsQuery {
  readonly environment?: string | undefined
  readonly state?: ApprovalState | undefined
  readonly cursor?: string | undefined
}

/** Approvals of writes by a second person (docs/contract.md, Approvals). */
export class Approvals extends Context.Service<
  Approvals,
  {
    readonly list: (query: ApprovalsQuery) => Effect.Effect<ApprovalsPage, NotFound, Caller>
    readonly get: (id: string) => Effect.Effect<Approval, NotFound, Caller>
    readonly request: (input: RequestApproval) => Effect.Effect<Approval, NotFound | Forbidden | Conflict, Caller>
    readonly approve: (id: string) => Effect.Effect<Approval, NotFound | Forbidden | Conflict, Caller>
    readonly reject: (
      id: string,
      reason?: string | null
    ) => Effect.Effect<Approval, NotFound | Forbidden | Conflict, Caller>
    readonly end: (id: string) => Effect.Effect<Approval, NotFound | Forbidden | Conflict, Caller>
  }
>()("@delivery/server/catalog/Approvals") {
  static readonly layer = Layer.effect(Approvals, Effect.gen(make))
}

interface Dependencies {
  readonly repo: ApprovalsRepo["Service"]
  readonly environments: EnvironmentsRepo["Service"]
  readonly moment: Effect.Effect<Moment>
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* ApprovalsRepo,
    environments: yield* EnvironmentsRepo,
    moment: (yield* WriteApprovals).moment,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    nextId: yield* NextId
  }
  return Approvals.of({
    list: list(dependencies),
    get: get(dependencies),
    request: request(dependencies),
    approve: approve(dependencies),
    reject: reject(dependencies),
    end: end(dependencies)
  })
}

const list = ({ environments, moment, repo }: Dependencies) =>
  Effect.fn("Approvals.list")(function* ({ cursor, environment, state }: ApprovalsQuery) {
    const { workspace } = yield* anyRole
    const named = environment === undefined ? undefined : yield* environments.find(workspace.id, environment)
    if (environment !== undefined && named === undefined) return yield* NotFound.reference("environment", environment)
    const filter = { environmentId: named?.id, state, cursor }
    const found = yield* repo.list(workspace.id, filter, yield* moment, approvalsPageSize + 1)
    const page = found.slice(0, approvalsPageSize).map(present)
    return { approvals: page, nextCursor: found.length > approvalsPageSize ? page.at(-1)!.id : null }
  })

const get = ({ moment, repo }: Dependencies) =>
  Effect.fn("Approvals.get")(function* (id: string) {
    const { workspace } = yield* anyRole
    const found = yield* repo.find(workspace.id, id, yield* moment)
    return found === undefined ? yield* NotFound.of("approval", id) : present(found)
  })

const request = ({ environments, events, moment, nextId, repo, storage }: Dependencies) =>
  Effect.fn("Approvals.request")(function* (input: RequestApproval) {
    const by = yield* atLeast("member")
    const { credential } = yield* Caller
    return yield* storage.transaction(
      Effect.gen(function* () {
        // Alone, so that of two who ask with one key at once, one has asked already.
        const environment = yield* environments.lock(by.workspace.id, input.environment)
        if (environment === undefined) return yield* NotFound.reference("environment", input.environment)
        if (environment.archivedAt !== null) return yield* Conflict.archived("environment")
        if (!environment.approvals) {
          return yield* new Conflict({
            message: `Writes in ${environment.name} need no approval.`,
            reason: "approvals_off"
          })
        }
        const at = yield* moment
        if (yield* repo.hasPending(environment.id, by.actor, at)) {
          return yield* new Conflict({
            message: `You have asked for an approval in ${environment.name} already. It is pending.`,
            reason: "already_requested"
          })
        }
        const row: ApprovalRow = {
          ...undecided,
          id: yield* nextId<ApprovalId>(),
          workspaceId: by.workspace.id,
          environmentId: environment.id,
          reason: input.reason,
          minutes: input.minutes,
          requestedByKind: by.actor.kind,
          requestedById: by.actor.id,
          requesterPersons: yield* repo.personsBehind(by.actor),
          requesterCredentialId: credential.id,
          requestedAt: at.now,
          expiresAt: after(at.now, pendingApprovalHours * 60)
        }
        yield* repo.insert(row)
        const made = (yield* repo.find(by.workspace.id, row.id, at))!
        yield* record(events, by, "approval_requested", made, [
          { field: "environment", from: null, to: environment.slug },
          { field: "reason", from: null, to: input.reason },
          { field: "minutes", from: null, to: String(input.minutes) }
        ])
        return present(made)
      })
    )
  })

const undecided = {
  decision: null,
  decidedByKind: null,
  decidedById: null,
  deciderCredentialId: null,
  decidedAt: null,
  decisionReason: null,
  endedByKind: null,
  endedById: null,
  endedAt: null
} as const

const after = (at: Timestamp, minutes: number): Timestamp => timestamp(Date.parse(at) + minutes * 60_000)

/** Changes an approval that the caller may change, in a transaction that has it locked, and tells it. */
const change = <E>(
  dependencies: Dependencies,
  id: string,
  access: Effect.Effect<Access, NotFound | Forbidden, Caller>,
  decide: (by: Access, approval: FoundApproval, now: Timestamp) => Effect.Effect<Decision, E, Caller>
) => {
  const { events, moment, repo, storage } = dependencies
  return Effect.gen(function* () {
    const by = yield* access
    return yield* storage.transaction(
      Effect.gen(function* () {
        const at = yield* moment
        const approval = yield* repo.lock(by.workspace.id, id, at)
        if (approval === undefined) return yield* NotFound.of("approval", id)
        const { changes, kind, ...changed } = yield* decide(by, approval, at.now)
        const { decidedBy: _, endedBy: __, environment: ___, requestedBy: ____, state: _____, ...row } = approval
        yield* repo.update({ ...row, ...changed })
        const made = (yield* repo.find(by.workspace.id, id, at))!
        yield* record(events, by, kind, made, changes)
        return present(made)
      })
    )
  })
}

interface Decision extends Partial<ApprovalRow> {
  readonly kind: ApprovalEvent
  readonly changes: ReadonlyArray<Change>
}

const approve = (dependencies: Dependencies) =>
  Effect.fn("Approvals.approve")(function* (id: string) {
    return yield* change(dependencies, id, atLeast("admin"), (by, approval, now) =>
      Effect.map(decided(by, approval, now), (who) => {
        const expiresAt = after(now, approval.minutes)
        return {
          ...who,
          decision: "approved" as const,
          expiresAt,
          kind: "approval_approved" as const,
          changes: [...requesterOf(approval), { field: "expiresAt", from: approval.expiresAt, to: expiresAt }]
        }
      })
    )
  })

const reject = (dependencies: Dependencies) =>
  Effect.fn("Approvals.reject")(function* (id: string, reason: string | null = null) {
    return yield* change(dependencies, id, atLeast("admin"), (by, approval, now) =>
      Effect.map(decided(by, approval, now), (who) => ({
        ...who,
        decision: "rejected" as const,
        decisionReason: reason,
        kind: "approval_rejected" as const,
        changes: [...requesterOf(approval), ...(reason === null ? [] : [{ field: "reason", from: null, to: reason }])]
      }))
    )
  })

/** Who asked, in the event of what became of it. */
const requesterOf = ({ requestedBy }: FoundApproval): ReadonlyArray<Change> =>
  requestedBy.kind === "removed" ? [] : [{ field: "requestedBy", from: null, to: requestedBy.name }]

/** Who decides, where they may: another person than those behind who asked. */
const decided = Effect.fnUntraced(function* ({ actor }: Access, approval: FoundApproval, now: Timestamp) {
  if (actor.kind !== "user") {
    return yield* new Forbidden({ message: "A person approves, never a key of the workspace.", reason: "account_key" })
  }
  if (isBehind(approval, actor.id)) {
    return yield* new Forbidden({
      message: "Another person must decide: you asked for the approval, or made the key that did.",
      reason: "own_approval"
    })
  }
  yield* checkOpen(approval, ["pending"])
  return {
    decidedByKind: actor.kind,
    decidedById: actor.id,
    deciderCredentialId: (yield* Caller).credential.id,
    decidedAt: now
  }
})

const isBehind = ({ requesterPersons }: FoundApproval, id: PersonId): boolean => requesterPersons.includes(id)

const isRequester = ({ requestedById, requestedByKind }: ApprovalRow, { actor }: Access): boolean =>
  isSameActor({ kind: requestedByKind, id: requestedById } as Access["actor"], actor)

const checkOpen = ({ state }: FoundApproval, open: ReadonlyArray<ApprovalState>): Effect.Effect<void, Conflict> =>
  open.includes(state)
    ? Effect.void
    : Effect.fail(new Conflict({ message: closedBecause[state], reason: "approval_closed" }))

const closedBecause: Readonly<Record<ApprovalState, string>> = {
  pending: "The approval is pending.",
  approved: "The approval is pending no more: it was approved.",
  rejected: "The approval is pending no more: it was rejected.",
  withdrawn: "The approval counts no more: who asked for it has withdrawn it.",
  ended: "The approval counts no more: it has ended.",
  expired: "The approval counts no more: it has expired."
}

const end = (dependencies: Dependencies) =>
  Effect.fn("Approvals.end")(function* (id: string) {
    return yield* change(dependencies, id, anyRole, (by, approval, now) =>
      Effect.gen(function* () {
        const isOwn = isRequester(approval, by) || (by.actor.kind === "user" && isBehind(approval, by.actor.id))
        const isDecider = by.actor.kind === "user" && approval.decidedById === by.actor.id
        if (!isOwn && !isDecider) yield* withRole("admin")(by)
        yield* checkOpen(approval, ["pending", "approved"])
        const isWithdrawn = isOwn && approval.state === "pending"
        return {
          endedByKind: by.actor.kind,
          endedById: by.actor.id,
          endedAt: now,
          kind: isWithdrawn ? ("approval_withdrawn" as const) : ("approval_ended" as const),
          changes: isOwn ? [] : requesterOf(approval)
        }
      })
    )
  })

type ApprovalEvent =
  | "approval_requested"
  | "approval_approved"
  | "approval_rejected"
  | "approval_withdrawn"
  | "approval_ended"

const record = (
  events: AuditedEvents["Service"],
  by: Access,
  kind: ApprovalEvent,
  { environment, id }: FoundApproval,
  changes: ReadonlyArray<Change>
): Effect.Effect<void> =>
  events.record(by, {
    kind,
    subject: { type: "approval", id, label: environment.name, path: `environments/${environment.slug}` },
    changes
  })

const present = (found: FoundApproval): Approval => {
  const { archivedAt, ...environment } = found.environment
  return {
    id: found.id,
    environment: { ...environment, archived: archivedAt !== null },
    state: found.state,
    reason: found.reason,
    minutes: found.minutes,
    requestedBy: found.requestedBy,
    requestedAt: found.requestedAt,
    decidedBy: found.decidedBy,
    decidedAt: found.decidedAt,
    decisionReason: found.decisionReason,
    expiresAt: found.expiresAt,
    endedBy: found.endedBy,
    endedAt: found.endedAt
  }
}
