import type { Caller as CallerTag } from "@delivery/domain/identity/Authorization"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { EnvironmentId, PersonId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { layerSqlStorage } from "../packages/server/src/App.ts"
import * as AuditRoom from "../packages/server/src/audit/AuditRoom.ts"
import { EnvironmentsRepo } from "../packages/server/src/catalog/EnvironmentsRepo.ts"
import { WriteApprovals } from "../packages/server/src/catalog/WriteApprovals.ts"
import { ProductsRepo } from "../packages/server/src/catalog/ProductsRepo.ts"
import { Settings } from "../packages/server/src/Config.ts"
import * as EventsRoom from "../packages/server/src/events/EventsRoom.ts"
import * as Keys from "../packages/server/src/keys/Keys.ts"
import { PersonsRepo } from "../packages/server/src/identity/PersonsRepo.ts"
import { WorkspacesRepo } from "../packages/server/src/identity/WorkspacesRepo.ts"
import { DataKeys } from "../packages/server/src/vault/DataKeys.ts"
import { Vault } from "../packages/server/src/vault/Vault.ts"
import * as VaultRoom from "../packages/server/src/vault/VaultRoom.ts"
import { startPostgres } from "../packages/server/test/support/PostgresServer.ts"
import { median } from "./Processes.ts"
import * as Ids from "../packages/server/src/ids/Ids.ts"

/**
 * The vault's service on a PostgreSQL that flushes each commit: reading one secret of five environments, and assigning
 * a value to 20 products in 5 environments, per second, beside the same SQL without encryption, in turn. Run it with
 * `pnpm bench:vault`.
 */
const rounds = 9
const seconds = 1.5
const readers = 16
const writers = 4

/** Values as they are: what the same SQL costs without a cipher. */
const layerPlain = Layer.succeed(DataKeys, {
  cipher: () =>
    Effect.succeed({
      encrypt: (_, value) => new Uint8Array(Buffer.from(Redacted.value(value))),
      decrypt: (_, encrypted) => Effect.succeed(Redacted.make(Buffer.from(encrypted).toString("utf8"))),
      seal: (_, secret) => new Uint8Array(Buffer.from(Redacted.value(secret))),
      open: (_, sealed) => Effect.succeed(Redacted.make(Buffer.from(sealed).toString("utf8"))),
      isCurrent: () => true,
      fingerprint: (text) => text,
      isFingerprint: (fingerprint, text) => Effect.succeed(fingerprint === text),
      revision: (text) => text
    })
})

const vaultOver = (keys: typeof VaultRoom.layerDataKeys | typeof layerPlain) =>
  Vault.pipe(
    Effect.provide(
      VaultRoom.layerSecrets.pipe(Layer.provide(keys), Layer.provide(AuditRoom.layer), Layer.provide(EventsRoom.layer)),
      { local: true }
    )
  )

const start = "2026-11-21T00:00:00.000Z"
const newId = <Id extends string>() => SecureRandom.uuidV7Unsafe() as Id
const range = (count: number) => Array.from({ length: count }, (_, index) => index)

/** A workspace of its own: 20 products, 5 environments, a secret in each product. */
const prepare = Effect.fnUntraced(function* (vault: Vault["Service"], slug: string) {
  const person = {
    id: newId<PersonId>(),
    name: slug,
    email: `${slug}@example.com`,
    emailVerifiedAt: null,
    createdAt: start
  }
  const workspace = {
    id: newId<WorkspaceId>(),
    slug,
    name: slug,
    runDays: null,
    fileDays: null,
    createdAt: start,
    updatedAt: start
  }
  yield* (yield* PersonsRepo).insert(person)
  yield* (yield* WorkspacesRepo).insert(workspace)
  const row = (name: string) => ({
    workspaceId: workspace.id,
    slug: name,
    name,
    archivedAt: null,
    createdAt: start,
    updatedAt: start
  })
  for (const index of range(20)) {
    const product = {
      ...row(`product-${index}`),
      id: newId<ProductId>(),
      type: "library" as const,
      repository: null,
      baseBranch: "main"
    }
    yield* (yield* ProductsRepo).insert(product)
  }
  for (const index of range(5)) {
    const kind = index === 0 ? ("production" as const) : ("non-production" as const)
    const environment = {
      ...row(`environment-${index}`),
      id: newId<EnvironmentId>(),
      class: kind,
      emoji: null,
      approvals: false
    }
    yield* (yield* EnvironmentsRepo).insert(environment)
  }
  const caller: CallerTag["Service"] = {
    principal: { kind: "user", id: person.id, name: person.name, email: person.email },
    membership: { id: workspace.id, slug, name: slug, role: "member" },
    credential: { kind: "apiKey", id: person.id, lastFour: "wxyz" }
  }
  const as = Effect.provideService(Caller, caller)
  const assign = (name: string) =>
    as(
      vault.assign({
        products: range(20).map((index) => `product-${index}`),
        environments: range(5).map((index) => `environment-${index}`),
        name,
        value: Redacted.make("postgres://shop:an-example-of-a-password@db.example.com:5432/shop")
      })
    )
  for (const writer of range(writers)) yield* assign(`SECRET_${writer}`)
  return {
    read: (worker: number) => as(vault.get(`product-${worker % 20}`, "SECRET_0")),
    assign: (worker: number) => assign(`SECRET_${worker}`)
  }
})

/** How often `workers` do it together in a second. */
const rate = Effect.fnUntraced(function* <E, R>(
  workers: number,
  work: (worker: number) => Effect.Effect<unknown, E, R>
) {
  let done = 0
  const began = performance.now()
  const until = began + seconds * 1000
  const loop = (worker: number): Effect.Effect<void, E, R> =>
    Effect.whileLoop({
      while: () => performance.now() < until,
      body: () => work(worker),
      step: () => {
        done += 1
      }
    })
  yield* Effect.all(range(workers).map(loop), { concurrency: "unbounded", discard: true })
  return (done * 1000) / (performance.now() - began)
})

const line = (name: string, sealed: ReadonlyArray<number>, plain: ReadonlyArray<number>): string => {
  const shown = (rates: ReadonlyArray<number>) =>
    `${Math.round(median(rates))}/s [${Math.round(Math.min(...rates))}..${Math.round(Math.max(...rates))}]`
  const ratio = median(sealed.map((value, round) => value / plain[round]!))
  return `${name}: encrypted ${shown(sealed)}, plain ${shown(plain)}, ratio ${ratio.toFixed(2)}`
}

const program = Effect.gen(function* () {
  const subjects = [
    yield* prepare(yield* vaultOver(VaultRoom.layerDataKeys), "encrypted"),
    yield* prepare(yield* vaultOver(layerPlain), "plain")
  ]
  const reads = subjects.map((): Array<number> => [])
  const assignments = subjects.map((): Array<number> => [])
  for (let round = -1; round < rounds; round++) {
    const order = Array.from(subjects.entries())
    // Backwards every other time: who comes first must not matter.
    for (const [index, { assign, read }] of round % 2 === 0 ? order : order.toReversed()) {
      const [readRate, assignRate] = [yield* rate(readers, read), yield* rate(writers, assign)]
      // The first round warms up.
      if (round < 0) continue
      reads[index]!.push(readRate)
      assignments[index]!.push(assignRate)
    }
  }
  process.stdout.write(`${line("Read one secret", reads[0]!, reads[1]!)}\n`)
  process.stdout.write(`${line("Assign 20 x 5 pairs", assignments[0]!, assignments[1]!)}\n`)
})

const postgres = await startPostgres({ durable: true })
try {
  await Effect.runPromise(
    program.pipe(
      Effect.provide(
        WriteApprovals.layer.pipe(
          Layer.provideMerge([Keys.layerMemoryKeyring, Ids.layer, Settings.layer({})]),
          Layer.provideMerge(layerSqlStorage),
          Layer.provideMerge(
            PgClient.layer({ url: Redacted.make(postgres.url), multiplex: true, multiplexConcurrency: 4 })
          )
        )
      )
    )
  )
} finally {
  await postgres.stop()
}
