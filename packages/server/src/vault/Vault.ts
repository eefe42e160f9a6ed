import type { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { timestamp } from "@delivery/domain/Timestamp"
import type {
  Assigned,
  AssignSecret,
  CreateSecret,
  Generated,
  GenerateSecret,
  ProductSecrets,
  RevealedSecret,
  SecretVersion,
  UpdateSecret,
  VaultSecrets
} from "@delivery/domain/vault/Secret"
import { Clock, Context, Effect, Layer } from "effect"
import { Audit } from "../audit/Audit.ts"
import { WriteApprovals } from "../catalog/WriteApprovals.ts"
import { Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { assign } from "./Assignments.ts"
import { DataKeys } from "./DataKeys.ts"
import { generate } from "./Generations.ts"
import { create, remove, update } from "./SecretEdits.ts"
import { get, list, listOfProduct, versions } from "./SecretReads.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import { requestsKeptMillis } from "./VaultReplays.ts"
import { VaultRepo } from "./VaultRepo.ts"
import type { Refusal } from "./VaultRules.ts"

/** Secrets (docs/contract.md, Vault). */
export class Vault extends Context.Service<
  Vault,
  {
    readonly list: Effect.Effect<VaultSecrets, NotFound, Caller>
    readonly listOfProduct: (product: string) => Effect.Effect<ProductSecrets, NotFound, Caller>
    /** With the values of the environments that are asked for; without `asked`, with all that the caller may read. */
    readonly get: (
      product: string,
      name: string,
      asked?: ReadonlyArray<string>
    ) => Effect.Effect<RevealedSecret, NotFound, Caller>
    readonly create: (
      product: string,
      input: CreateSecret,
      asked?: ReadonlyArray<string>
    ) => Effect.Effect<RevealedSecret, Refusal, Caller>
    readonly update: (
      product: string,
      name: string,
      input: UpdateSecret,
      asked?: ReadonlyArray<string>
    ) => Effect.Effect<RevealedSecret, Refusal, Caller>
    readonly delete: (product: string, name: string) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
    readonly assign: (input: AssignSecret) => Effect.Effect<Assigned, Refusal, Caller>
    readonly generate: (input: GenerateSecret) => Effect.Effect<Generated, Refusal, Caller>
    readonly versions: (
      path: { readonly product: string; readonly name: string; readonly environment: string },
      before?: number
    ) => Effect.Effect<ReadonlyArray<SecretVersion>, NotFound, Caller>
    /** Erases secrets deleted 30 days ago and requests of 24 hours ago; how many. */
    readonly erase: Effect.Effect<number>
  }
>()("@delivery/server/vault/Vault") {
  static readonly layer = Layer.effect(Vault, Effect.gen(make))
}

function* make() {
  const dependencies: VaultDependencies = {
    repo: yield* VaultRepo,
    storage: yield* Storage,
    dataKeys: yield* DataKeys,
    events: yield* Events,
    audit: yield* Audit,
    approvals: yield* WriteApprovals,
    nextId: yield* NextId
  }
  return Vault.of({
    list: list(dependencies),
    listOfProduct: listOfProduct(dependencies),
    get: get(dependencies),
    create: create(dependencies),
    update: update(dependencies),
    delete: remove(dependencies),
    assign: assign(dependencies),
    generate: generate(dependencies),
    versions: versions(dependencies),
    erase: erase(dependencies)
  })
}

const deletedKeptMillis = 30 * 24 * 3_600_000

/** How many rows of a kind one transaction erases. */
const eraseBatch = 100

const erase = ({ repo }: VaultDependencies) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const before = { deleted: timestamp(now - deletedKeptMillis), requests: timestamp(now - requestsKeptMillis) }
    let erased = 0
    for (;;) {
      const some = yield* repo.erase(before, eraseBatch)
      if (some === 0) return erased
      erased += some
    }
  }).pipe(Effect.withSpan("Vault.erase"))
