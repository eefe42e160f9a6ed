import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import type { Change } from "@delivery/domain/events/Event"
import type { SignInMethod } from "@delivery/domain/auth/Session"
import type { PersonId } from "@delivery/domain/Ids"
import { Context, Effect, Layer, Metric } from "effect"
import { Audit, type AuditedRequest, type NewAuditEntry } from "../audit/Audit.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import type { SessionRow } from "../identity/SessionsRepo.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { signInsFailed } from "../telemetry/Metrics.ts"
import type { LoginRow } from "./LoginsRepo.ts"

/**
 * What the audit tells of signing in: in each workspace of the person, and so nowhere for a person in none (docs/contract.md,
 * Audit).
 */
export class SignInAudit extends Context.Service<
  SignInAudit,
  {
    /** What happens to a session. Called in the transaction of it. */
    readonly session: (
      session: Pick<SessionRow, "id" | "personId" | "lastFour" | "device">,
      action: "signed_in" | "signed_out" | "session_ended" | "session_proved",
      /** By which it began, or was proven again. */
      method?: SignInMethod
    ) => Effect.Effect<void>
    /** What a person decided about a login of the command line, or that its code was reported. Called in the transaction of it. */
    readonly login: (
      personId: PersonId,
      action: "login_allowed" | "login_denied" | "login_code_reported",
      login: Pick<LoginRow, "id" | "name">,
      changes?: ReadonlyArray<Change>
    ) => Effect.Effect<void>
    /** A way in of the person is added, or no longer one. Called in the transaction of it. */
    readonly wayIn: (
      personId: PersonId,
      action: AuditAction,
      subject: { readonly type: string; readonly id: string; readonly label: string }
    ) => Effect.Effect<void>
    /** The address of the person is proven. Called in the transaction of it. */
    readonly addressProven: (personId: PersonId) => Effect.Effect<void>
    /** A link is made by which the person can sign in. Called in the transaction of it. */
    readonly linkCreated: (personId: PersonId) => Effect.Effect<void>
    /** The same, which is mailed to them; the request in which somebody asked for it may be over. */
    readonly linkMailed: (personId: PersonId, request: AuditedRequest) => Effect.Effect<void>
    /** A link is mailed by which they prove their address, as they asked for in that request, with that credential. */
    readonly proofMailed: (
      personId: PersonId,
      from: Required<Pick<NewAuditEntry, "credential" | "request">>
    ) => Effect.Effect<void>
    /** Somebody found a link of the person, and used it up. Called in the transaction of it. */
    readonly linkReported: (personId: PersonId) => Effect.Effect<void>
    /**
     * A proof did not work. It is counted, too. Of the persons whose it should be, as far as that is known; never called in
     * the transaction that fails with it, which would take it back.
     */
    readonly failed: (
      method: SignInMethod,
      persons?: ReadonlyArray<PersonId>,
      action?: "sign_in_failed" | "proof_failed"
    ) => Effect.Effect<void>
  }
>()("@delivery/server/auth/SignInAudit") {
  static readonly layer = Layer.effect(SignInAudit, Effect.gen(make))
}

/** How somebody proved who they are, or did not. */
const by = (method: SignInMethod): ReadonlyArray<Change> => [{ field: "method", from: null, to: method }]

function* make() {
  const audit = yield* Audit
  const persons = yield* PersonsRepo
  const workspaces = yield* WorkspacesRepo
  /** What happens to the person themselves. */
  const ofPerson = Effect.fnUntraced(function* (
    id: PersonId,
    action: AuditAction,
    more: Pick<NewAuditEntry, "outcome" | "changes" | "credential" | "request"> = {}
  ) {
    const person = yield* persons.find(id)
    if (person === undefined) return
    const subject = { type: "person", id, label: person.name }
    yield* audit.recordIn(yield* workspaces.ofPerson(id), { kind: "user", id }, { action, subject, ...more })
  })
  return SignInAudit.of({
    session: Effect.fnUntraced(function* ({ device, id, lastFour, personId }, action, method) {
      yield* audit.recordIn(
        yield* workspaces.ofPerson(personId),
        { kind: "user", id: personId },
        {
          action,
          subject: { type: "session", id, label: device },
          changes: method === undefined ? [] : by(method),
          // Another session ends it.
          ...(action === "session_ended" ? {} : { credential: { kind: "session" as const, id, lastFour } })
        }
      )
    }),
    login: Effect.fnUntraced(function* (personId, action, { id, name }, changes = []) {
      const subject = { type: "login", id, label: name }
      const by = { kind: "user", id: personId } as const
      yield* audit.recordIn(yield* workspaces.ofPerson(personId), by, { action, subject, changes })
    }),
    wayIn: Effect.fnUntraced(function* (personId, action, subject) {
      yield* audit.recordIn(yield* workspaces.ofPerson(personId), { kind: "user", id: personId }, { action, subject })
    }),
    addressProven: (personId) => ofPerson(personId, "address_proven"),
    linkCreated: (personId) => ofPerson(personId, "sign_in_link_created"),
    linkMailed: (personId, request) => ofPerson(personId, "sign_in_link_mailed", { request }),
    proofMailed: (personId, from) => ofPerson(personId, "address_proof_mailed", from),
    linkReported: (personId) => ofPerson(personId, "sign_in_link_reported"),
    failed: Effect.fnUntraced(function* (method, persons = [], action = "sign_in_failed") {
      yield* Metric.update(signInsFailed(method), 1)
      for (const id of persons) yield* ofPerson(id, action, { outcome: "refused", changes: by(method) })
    })
  })
}
