import type { CreateEnvironment, UpdateEnvironment } from "@delivery/domain/catalog/Environment"
import { Conflict } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { EnvironmentId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import type { Access } from "../access/Access.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { type Archivables, makeArchivables } from "./Archivables.ts"
import { type EnvironmentRow, EnvironmentsRepo } from "./EnvironmentsRepo.ts"
import { SecretHoldings } from "./SecretHoldings.ts"
import { WriteApprovals } from "./WriteApprovals.ts"

/** Environments (docs/contract.md, Catalog). */
export class Environments extends Context.Service<
  Environments,
  Archivables<EnvironmentRow, CreateEnvironment, UpdateEnvironment, Conflict>
>()("@delivery/server/catalog/Environments") {
  static readonly layer = Layer.effect(Environments, Effect.gen(make))
}

function* make() {
  const approvals = yield* WriteApprovals
  return makeArchivables<EnvironmentRow, CreateEnvironment, UpdateEnvironment, Conflict>({
    noun: "environment",
    name: "Environments",
    repo: yield* EnvironmentsRepo,
    storage: yield* Storage,
    nextId: yield* NextId,
    newRow,
    editable: ["slug", "name", "class", "emoji", "approvals"],
    checkUpdate: checkUpdate(yield* SecretHoldings, approvals),
    checkArchive: (by, before) => approvals.hold(by, before.approvals ? [before] : []),
    // Approvals are told in the words of who turns them on.
    created: (row) => (row.approvals ? [{ field: "approvals", from: "false", to: "true" }] : []),
    record: record(yield* Events, yield* AuditedEvents)
  })
}

const newRow = (
  input: CreateEnvironment,
  id: EnvironmentId,
  workspaceId: WorkspaceId,
  now: Timestamp
): EnvironmentRow => ({
  id,
  workspaceId,
  slug: input.slug,
  name: input.name,
  class: input.class,
  emoji: input.emoji ?? null,
  approvals: input.approvals ?? false,
  archivedAt: null,
  createdAt: now,
  updatedAt: now
})

/** What is written in a production environment, and who may, changes with these. */
const audited: ReadonlySet<string> = new Set(["class", "approvals"])

/** The change of an environment, which the audit tells where it decides who reads and writes secrets there. */
const record =
  (events: Events["Service"], both: AuditedEvents["Service"]) =>
  (by: Access, event: NewEvent, changes: ReadonlyArray<Change>): Effect.Effect<void> => {
    const { kind } = event
    const isAudited =
      kind === "environment_archived" ||
      ((kind === "environment_created" || kind === "environment_updated") &&
        event.changes?.some(({ field }) => audited.has(field)) === true)
    return isAudited ? both.record(by, { ...event, kind }, { changes }) : events.record(by, event)
  }

/**
 * Where writes need an approval, so do a change of the class and turning approvals off.
 *
 * Nobody can read the values of a production environment. In another class they would become readable, also earlier ones, which
 * can be restored.
 */
const checkUpdate = (holdings: SecretHoldings["Service"], approvals: WriteApprovals["Service"]) =>
  Effect.fnUntraced(function* (by: Access, before: EnvironmentRow, after: EnvironmentRow) {
    const isGuarded = before.approvals && (after.class !== before.class || !after.approvals)
    const held = yield* approvals.hold(by, isGuarded ? [before] : [])
    if (before.class !== "production" || after.class === "production") return held
    if (yield* holdings.holdsValues(before.id)) {
      return yield* new Conflict({
        message: "The environment holds secret values. They would become readable in an environment of another class.",
        reason: "holds_secrets"
      })
    }
    yield* holdings.eraseValues(before.id)
    return held
  })
