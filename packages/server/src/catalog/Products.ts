import { type CreateProduct, needsBaseUrl, type Product, type UpdateProduct } from "@delivery/domain/catalog/Product"
import type { Archived } from "@delivery/domain/Doc"
import { Conflict, type Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { ProductId } from "@delivery/domain/Ids"
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
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { type ProductRow, ProductsRepo } from "./ProductsRepo.ts"

/** Products (contract, section 4). */
export class Products extends Context.Service<
  Products,
  {
    readonly list: (archived?: Archived) => Effect.Effect<ReadonlyArray<Product>, NotFound, Caller>
    readonly create: (input: CreateProduct) => Effect.Effect<Product, NotFound | Forbidden | Conflict, Caller>
    readonly get: (product: string) => Effect.Effect<Product, NotFound, Caller>
    readonly update: (
      product: string,
      input: UpdateProduct
    ) => Effect.Effect<Product, NotFound | Forbidden | Conflict, Caller>
    readonly archive: (product: string) => Effect.Effect<Product, NotFound | Forbidden, Caller>
    readonly restore: (product: string) => Effect.Effect<Product, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/catalog/Products") {
  static readonly layer = Layer.effect(
    Products,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* ProductsRepo
      const deployments = yield* DeploymentsRepo
      const events = yield* Events

      const setArchived = Effect.fnUntraced(function* (ref: string, archived: boolean) {
        const by = yield* atLeast("admin")
        return yield* storage
          .transaction(
            Effect.gen(function* () {
              const before = yield* repo.lock(by.workspace.id, ref)
              if (before === undefined) return yield* NotFound.of("product")
              if ((before.archivedAt !== null) === archived) return shown(before)
              const now = yield* nextUpdate(before)
              const after = { ...before, archivedAt: archived ? now : null, updatedAt: now }
              yield* repo.update(after)
              yield* events.record(by, {
                kind: archived ? "product_archived" : "product_restored",
                subject: subjectOf(after)
              })
              return shown(after)
            })
          )
          .pipe(Effect.catchTag("UniqueViolation", Effect.die))
      })

      return Products.of({
        list: Effect.fn("Products.list")(function* (archived: Archived = "exclude") {
          const { workspace } = yield* anyRole
          return (yield* repo.list(workspace.id)).filter(isListed(archived)).map(shown).toSorted(byName)
        }),

        create: Effect.fn("Products.create")(
          function* (input: CreateProduct) {
            const by = yield* atLeast("admin")
            const now = timestamp(yield* Clock.currentTimeMillis)
            const product: ProductRow = {
              id: yield* nextId<ProductId>(),
              workspaceId: by.workspace.id,
              slug: input.slug,
              name: input.name,
              type: input.type,
              repository: input.repository ?? null,
              archivedAt: null,
              createdAt: now,
              updatedAt: now
            }
            yield* storage
              .transaction(
                Effect.gen(function* () {
                  yield* repo.insert(product)
                  yield* events.record(by, { kind: "product_created", subject: subjectOf(product) })
                })
              )
              .pipe(Effect.catchTag("UniqueViolation", slugInUse(product.slug)))
            return shown(product)
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        get: Effect.fn("Products.get")(function* (ref: string) {
          const { workspace } = yield* anyRole
          const product = yield* repo.find(workspace.id, ref)
          return product === undefined ? yield* NotFound.of("product") : shown(product)
        }),

        update: Effect.fn("Products.update")(function* (ref: string, input: UpdateProduct) {
          const by = yield* atLeast("admin")
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const before = yield* repo.lock(by.workspace.id, ref)
                if (before === undefined) return yield* NotFound.of("product")
                const changed = { ...before, ...input }
                const changes = changesBetween(before, changed, "slug", "name", "type", "repository")
                if (changes.length === 0) return shown(before)
                if (
                  needsBaseUrl(changed.type) &&
                  !needsBaseUrl(before.type) &&
                  (yield* deployments.someWithoutBaseUrl(before.id))
                ) {
                  return yield* new Conflict({
                    message: `A deployment of the product has no baseUrl, which the type ${changed.type} needs.`,
                    reason: "needs_base_url"
                  })
                }
                const after = { ...changed, updatedAt: yield* nextUpdate(before) }
                yield* repo.update(after)
                yield* events.record(by, { kind: "product_updated", subject: subjectOf(after), changes })
                return shown(after)
              })
            )
            .pipe(Effect.catchTag("UniqueViolation", slugInUse(input.slug ?? "")))
        }),

        archive: Effect.fn("Products.archive")((ref: string) => setArchived(ref, true)),
        restore: Effect.fn("Products.restore")((ref: string) => setArchived(ref, false))
      })
    })
  )
}

const subjectOf = (product: ProductRow) => ({
  type: "product",
  id: product.id,
  label: product.name,
  path: `products/${product.slug}`
})

const shown = ({ workspaceId: _, ...product }: ProductRow): Product => ({
  ...product,
  archived: product.archivedAt !== null
})
