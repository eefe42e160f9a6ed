import type { CreateEnvironment, UpdateEnvironment } from "@delivery/domain/catalog/Environment"
import { Conflict } from "@delivery/domain/Errors"
import type { EnvironmentId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { type Archivables, makeArchivables } from "./Archivables.ts"
import { type EnvironmentRow, EnvironmentsRepo } from "./EnvironmentsRepo.ts"
import { SecretHoldings } from "./SecretHoldings.ts"

/** Environments (docs/contract.md, Catalog). */
export class Environments extends Context.Service<
  Environments,
  Archivables<EnvironmentRow, CreateEnvironment, UpdateEnvironment>
>()("@delivery/server/catalog/Environments") {
  static readonly layer = Layer.effect(Environments, Effect.gen(make))
}

function* make() {
  return makeArchivables<EnvironmentRow, CreateEnvironment, UpdateEnvironment>({
    noun: "environment",
    name: "Environments",
    repo: yield* EnvironmentsRepo,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId,
    newRow,
    editable: ["slug", "name", "class", "emoji"],
    checkUpdate: checkUpdate(yield* SecretHoldings)
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
  archivedAt: null,
  createdAt: now,
  updatedAt: now
})

/**
 * Nobody can read the values of a production environment. In another class they would become readable, also earlier ones, which
 * can be restored.
 */
const checkUpdate = (holdings: SecretHoldings["Service"]) =>
  Effect.fnUntraced(function* (before: EnvironmentRow, after: EnvironmentRow) {
    if (before.class !== "production" || after.class === "production") return
    if (!(yield* holdings.holdsValues(before.id))) return yield* holdings.eraseValues(before.id)
    return yield* new Conflict({
      message: "The environment holds secret values. They would become readable in an environment of another class.",
      reason: "holds_secrets"
    })
  })
