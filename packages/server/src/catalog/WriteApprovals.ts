import { Conflict } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import { byName } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import type { Access } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { ApprovalsRepo, type Moment } from "./ApprovalsRepo.ts"
import type { EnvironmentRow } from "./EnvironmentsRepo.ts"

/** The environments in which somebody wants to write. */
type Written = Pick<EnvironmentRow, "id" | "slug" | "name">

/** What writes in environments that need the approval of a second person have to ask (docs/contract.md, Approvals). */
export class WriteApprovals extends Context.Service<
  WriteApprovals,
  {
    /**
     * Refuses the write unless the caller has an approval for each of the environments, all of which need one. The approvals count
     * until the transaction ends, which has locked the environments. Answers them as the entry of the audit names them.
     */
    readonly hold: (by: Access, environments: ReadonlyArray<Written>) => Effect.Effect<ReadonlyArray<Change>, Conflict>
    /** The present moment, for who reads approvals. */
    readonly moment: Effect.Effect<Moment>
  }
>()("@delivery/server/catalog/WriteApprovals") {
  static readonly layer = Layer.effect(WriteApprovals, Effect.gen(make))
}

function* make() {
  const repo = yield* ApprovalsRepo
  const { sessions } = yield* Settings
  const moment = Effect.map(Clock.currentTimeMillis, (millis): Moment => ({
    now: timestamp(millis),
    beganAfter: timestamp(millis - sessions.maxMillis),
    seenAfter: timestamp(millis - sessions.idleMillis)
  }))
  const hold = Effect.fnUntraced(function* (by: Access, environments: ReadonlyArray<Written>) {
    if (environments.length === 0) return []
    const held = yield* repo.hold(
      environments.map(({ id }) => id),
      by.actor,
      yield* moment
    )
    const approvalOf = new Map(held.map(({ environmentId, id }) => [environmentId, id]))
    const missing = environments.filter(({ id }) => !approvalOf.has(id))
    if (missing.length > 0) return yield* required(by, missing)
    return environments.map(({ id, slug }) => ({
      field: `environments.${slug}.approval`,
      from: null,
      to: approvalOf.get(id)!
    }))
  })
  return WriteApprovals.of({ hold, moment })
}

const required = ({ workspace }: Access, missing: ReadonlyArray<Written>): Conflict => {
  const sorted = missing.toSorted(byName)
  const names = sorted.map(({ name }) => name).join(", ")
  const commands = sorted.map(({ slug }) => `\`delivery approvals request ${slug}\``).join(", ")
  return new Conflict({
    message: `${names}: writes there need the approval of a second person. Ask for it with ${commands}, or with POST /v1/workspaces/${workspace.slug}/approvals.`,
    reason: "approval_required"
  })
}
