import type { CreateEnvironment, Environment, UpdateEnvironment } from "@delivery/domain/catalog/Environment"
import type { Archived } from "@delivery/domain/Doc"
import { Conflict, type Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { EnvironmentId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { anyRole, atLeast } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { isListed, slugInUse } from "./Archivable.ts"
import { type EnvironmentRow, EnvironmentsRepo } from "./EnvironmentsRepo.ts"
import { SecretHoldings } from "./SecretHoldings.ts"

/** Environments (contract, section 4). */
export class Environments extends Context.Service<
  Environments,
  {
    readonly list: (archived?: Archived) => Effect.Effect<ReadonlyArray<Environment>, NotFound, Caller>
    readonly create: (input: CreateEnvironment) => Effect.Effect<Environment, NotFound | Forbidden | Conflict, Caller>
    readonly get: (environment: string) => Effect.Effect<Environment, NotFound, Caller>
    readonly update: (
      environment: string,
      input: UpdateEnvironment
    ) => Effect.Effect<Environment, NotFound | Forbidden | Conflict, Caller>
    readonly archive: (environment: string) => Effect.Effect<Environment, NotFound | Forbidden, Caller>
    readonly restore: (environment: string) => Effect.Effect<Environment, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/catalog/Environments") {
  static readonly layer = Layer.effect(
    Environments,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* EnvironmentsRepo
      const holdings = yield* SecretHoldings
      const events = yield* Events

      const setArchived = Effect.fnUntraced(function* (ref: string, archived: boolean) {
        const by = yield* atLeast("admin")
        return yield* storage
          .transaction(
            Effect.gen(function* () {
              const before = yield* repo.lock(by.workspace.id, ref)
              if (before === undefined) return yield* NotFound.of("environment")
              if ((before.archivedAt !== null) === archived) return shown(before)
              const now = yield* nextUpdate(before)
              const after = { ...before, archivedAt: archived ? now : null, updatedAt: now }
              yield* repo.update(after)
              yield* events.record(by, {
                kind: archived ? "environment_archived" : "environment_restored",
                subject: subjectOf(after)
              })
              return shown(after)
            })
          )
          .pipe(Effect.catchTag("UniqueViolation", Effect.die))
      })

      return Environments.of({
        list: Effect.fn("Environments.list")(function* (archived: Archived = "exclude") {
          const { workspace } = yield* anyRole
          return (yield* repo.list(workspace.id)).filter(isListed(archived)).map(shown).toSorted(byName)
        }),

        create: Effect.fn("Environments.create")(
          function* (input: CreateEnvironment) {
            const by = yield* atLeast("admin")
            const now = timestamp(yield* Clock.currentTimeMillis)
            const environment: EnvironmentRow = {
              id: yield* nextId<EnvironmentId>(),
              workspaceId: by.workspace.id,
              slug: input.slug,
              name: input.name,
              class: input.class,
              emoji: input.emoji ?? null,
              archivedAt: null,
              createdAt: now,
              updatedAt: now
            }
            yield* storage
              .transaction(
                Effect.gen(function* () {
                  yield* repo.insert(environment)
                  yield* events.record(by, { kind: "environment_created", subject: subjectOf(environment) })
                })
              )
              .pipe(Effect.catchTag("UniqueViolation", slugInUse(environment.slug)))
            return shown(environment)
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        get: Effect.fn("Environments.get")(function* (ref: string) {
          const { workspace } = yield* anyRole
          const environment = yield* repo.find(workspace.id, ref)
          return environment === undefined ? yield* NotFound.of("environment") : shown(environment)
        }),

        update: Effect.fn("Environments.update")(function* (ref: string, input: UpdateEnvironment) {
          const by = yield* atLeast("admin")
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const before = yield* repo.lock(by.workspace.id, ref)
                if (before === undefined) return yield* NotFound.of("environment")
                const changed = { ...before, ...input }
                const changes = changesBetween(before, changed, "slug", "name", "class", "emoji")
                if (changes.length === 0) return shown(before)
                // The values would become readable.
                if (
                  before.class === "production" &&
                  changed.class !== "production" &&
                  (yield* holdings.holdsValues(before.id))
                ) {
                  return yield* new Conflict({
                    message: "The environment holds secret values, which nobody may come to read.",
                    reason: "holds_secrets"
                  })
                }
                const after = { ...changed, updatedAt: yield* nextUpdate(before) }
                yield* repo.update(after)
                yield* events.record(by, { kind: "environment_updated", subject: subjectOf(after), changes })
                return shown(after)
              })
            )
            .pipe(Effect.catchTag("UniqueViolation", slugInUse(input.slug ?? "")))
        }),

        archive: Effect.fn("Environments.archive")((ref: string) => setArchived(ref, true)),
        restore: Effect.fn("Environments.restore")((ref: string) => setArchived(ref, false))
      })
    })
  )
}

const subjectOf = (environment: EnvironmentRow) => ({
  type: "environment",
  id: environment.id,
  label: environment.name,
  path: `environments/${environment.slug}`
})

const shown = ({ workspaceId: _, ...environment }: EnvironmentRow): Environment => ({
  ...environment,
  archived: environment.archivedAt !== null
})
