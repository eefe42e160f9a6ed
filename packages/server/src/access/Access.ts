import { Caller, type Membership, type Principal } from "@delivery/domain/identity/Authorization"
import type { Person } from "@delivery/domain/identity/Actor"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import { hasScopes, type Scopes } from "@delivery/domain/Scope"
import { Forbidden, NotFound } from "@delivery/domain/Errors"
import type { AgentId, ApiKeyId, DeploymentTokenId, PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"

/** Who did something, as storage keeps it; names are looked up when it is shown. */
export type ActorRef =
  | { readonly kind: "user"; readonly id: PersonId }
  | { readonly kind: "agent"; readonly id: AgentId }
  | { readonly kind: "apiKey"; readonly id: ApiKeyId }
  | { readonly kind: "deploymentToken"; readonly id: DeploymentTokenId }

/** The caller in the workspace of the path. */
export interface Access {
  readonly workspace: Membership
  readonly principal: Principal
  readonly actor: ActorRef
}

/** How storage keeps who acts. */
export const actorOf = (principal: Principal): ActorRef => ({ kind: principal.kind, id: principal.id }) as ActorRef

/** The person who acts, by an own key or through an agent; undefined for an account key. */
export const personOf = (principal: Principal): Person | undefined => {
  switch (principal.kind) {
    case "user":
      return { id: principal.id, name: principal.name, email: principal.email }
    case "agent":
      return principal.person
    case "apiKey":
      return undefined
  }
}

/** The person of the session that calls: who else calls there is none. */
export const sessionPersonId: Effect.Effect<PersonId, never, Caller> = Effect.map(
  Caller,
  ({ principal }) => principal.id as PersonId
)

/** Storage compares actors by both parts: a person and a key never share an id, but nothing forces it. */
export const isSameActor = (a: ActorRef, b: ActorRef): boolean => a.kind === b.kind && a.id === b.id

/**
 * The caller in the workspace of the path, whatever the role. `NotFound` where the workspace is absent or the caller
 * is no active member of it.
 */
export const anyRole: Effect.Effect<Access, NotFound, Caller> = Effect.flatMap(Caller, ({ membership, principal }) =>
  membership === undefined
    ? Effect.fail(NotFound.of("workspace"))
    : Effect.succeed({ workspace: membership, principal, actor: actorOf(principal) })
)

/** Like `anyRole`; then `Forbidden` below the role needed (docs/contract.md, Order of checks). */
export const atLeast = (needed: Role): Effect.Effect<Access, NotFound | Forbidden, Caller> =>
  Effect.flatMap(anyRole, withRole(needed))

/** The access, where its role is the one needed or higher. */
export const withRole =
  (needed: Role) =>
  (access: Access): Effect.Effect<Access, Forbidden> =>
    isAtLeast(access.workspace.role, needed)
      ? Effect.succeed(access)
      : Effect.fail(
          new Forbidden({
            message: `This requires the role ${needed} or higher; yours is ${access.workspace.role}.`,
            reason: "role_too_low"
          })
        )

/**
 * Refuses to give scopes that the credential of the request does not have itself: whoever holds a limited key cannot make
 * one that may do more (docs/contract.md, API keys).
 */
export const mayGive = (scopes: Scopes): Effect.Effect<void, Forbidden, Caller> =>
  Effect.flatMap(Caller, ({ credential }) =>
    hasScopes(credential.scopes, scopes)
      ? Effect.void
      : Effect.fail(
          new Forbidden({
            message: "The API key of this request cannot give anybody or anything more than it has itself.",
            reason: "scope_missing"
          })
        )
  )

/**
 * Refuses an account key that would make somebody an admin: they could make deployment tokens, which read production, and no
 * account key may (docs/contract.md, Members, Invites).
 */
export const mayMakeAdmin = ({ actor }: Access, role: Role): Effect.Effect<void, Forbidden> =>
  actor.kind === "apiKey" && isAtLeast(role, "admin")
    ? Effect.fail(
        new Forbidden({
          message: "An account API key makes nobody an admin or owner, and lets none in.",
          reason: "account_key"
        })
      )
    : Effect.void

/**
 * `Forbidden` where the caller is a session whose person has not proven lately who they are (docs/contract.md, Sessions).
 * Keys and agents never need to. It is asked after the role.
 */
export const freshProof: Effect.Effect<void, Forbidden, Caller> = Effect.flatMap(Caller, ({ credential }) =>
  credential.sudoUntil === undefined
    ? Effect.void
    : Effect.flatMap(Clock.currentTimeMillis, (now) =>
        credential.sudoUntil! > timestamp(now) ? Effect.void : Effect.fail(Forbidden.sudoRequired)
      )
)
