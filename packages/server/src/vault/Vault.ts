import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { EnvironmentId, ProductId, SecretId } from "@delivery/domain/Ids"
import { byName, compare } from "@delivery/domain/Order"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { chosenClasses } from "@delivery/domain/vault/Generator"
import {
  type Assigned,
  type AssignSecret,
  type CreateSecret,
  type Generated,
  type GenerateSecret,
  type ProductSecrets,
  type RevealedSecret,
  type SecretVersion,
  type UpdateSecret,
  type VaultSecrets,
  versionsPageSize
} from "@delivery/domain/vault/Secret"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { Events } from "../events/Events.ts"
import { RequestId } from "../http/RequestId.ts"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import {
  type CatalogParts,
  environmentRef,
  productRef,
  secretsOf,
  shownIn,
  sortedPairs,
  type WrittenPair
} from "./SecretAnswers.ts"
import { allNamed, asExpected, byRef, fewPairs, nameInUse, pairsOf, writable } from "./VaultRules.ts"
import { DataKeys, type ValueCipher } from "./DataKeys.ts"
import { generate } from "./Generators.ts"
import {
  type Audit,
  type AuditEntry,
  type EnvironmentPart,
  type Facts,
  type HeldSecret,
  isReadable,
  type NewVersion,
  type ProductPart,
  type RequestKey,
  type SecretRow,
  type ShownVersion,
  type Targets,
  VaultRepo
} from "./VaultRepo.ts"

/** Why a change of secrets is refused. */
type Refusal = InvalidInput | NotFound | Forbidden | Conflict

/** Secrets (service document, Vault; contract, section 5). */
export class Vault extends Context.Service<
  Vault,
  {
    readonly list: Effect.Effect<VaultSecrets, NotFound, Caller>
    readonly listOfProduct: (product: string) => Effect.Effect<ProductSecrets, NotFound, Caller>
    readonly get: (product: string, name: string) => Effect.Effect<RevealedSecret, NotFound, Caller>
    readonly create: (product: string, input: CreateSecret) => Effect.Effect<RevealedSecret, Refusal, Caller>
    readonly update: (
      product: string,
      name: string,
      input: UpdateSecret
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
  static readonly layer = Layer.effect(
    Vault,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* VaultRepo
      const dataKeys = yield* DataKeys
      const events = yield* Events

      const newId = <Id extends string>() => Effect.provideService(nextId<Id>(), SecureRandom.SecureRandom, random)
      const now = Effect.map(Clock.currentTimeMillis, timestamp)

      /** Who does something now, in which request: what every audit row of it says. */
      const audited = Effect.fnUntraced(function* (by: Access, name: string) {
        return {
          id: yield* newId<string>(),
          workspaceId: by.workspace.id,
          actor: by.actor,
          name,
          requestId: yield* RequestId,
          at: yield* now
        }
      })

      const auditOf = Effect.fnUntraced(function* (
        by: Access,
        action: Audit["action"],
        name: string,
        entries: ReadonlyArray<AuditEntry>,
        newName: string | null = null
      ): Effect.fn.Return<Audit> {
        return { ...(yield* audited(by, name)), action, newName, entries }
      })

      const eventOf = (by: Access, kind: string, product: ProductPart, secret: SecretRow, changes: Changes) =>
        events.make(by, {
          kind: `secret_${kind}`,
          subject: {
            type: "secret",
            id: secret.id,
            label: `${secret.name} of ${product.name}`,
            path: `products/${product.slug}/secrets/${encodeURIComponent(secret.name)}`
          },
          changes
        })

      /** The value of a version, where the caller sees it. */
      const opened = (cipher: ValueCipher, { sealed, ...place }: NewVersion) =>
        sealed === null ? Effect.succeed(null) : cipher.open(place, sealed)

      /** A single secret as the caller may see it, now or as an earlier answer showed it. */
      const reveal = Effect.fnUntraced(function* (
        by: Access,
        cipher: ValueCipher,
        facts: Facts,
        earlier?: WrittenSecret
      ) {
        const [product] = facts.products
        const [secret] = facts.secrets
        if (product === undefined) return yield* NotFound.of("product")
        if (secret === undefined) return yield* NotFound.of("secret")
        const mayRead = isAtLeast(by.workspace.role, "member")
        const shown = shownIn(facts)
        const environments = yield* Effect.forEach(facts.environments.toSorted(byName), (environment) =>
          Effect.gen(function* () {
            const version = shown.version(secret, environment)
            const { deployed } = shown.pair(secret, environment) ?? {}
            const wasShown =
              earlier?.versions.find(({ environmentId }) => environmentId === environment.id)?.shown ?? true
            // A deleted secret's value is not read again, though what was written is answered again.
            const isWithheld = version !== undefined && version.hasValue && version.sealed === null
            const valueHidden = !mayRead || !isReadable(environment.class, deployed) || !wasShown || isWithheld
            return {
              ...shown.environment(secret, environment),
              value: version === undefined || valueHidden ? null : yield* opened(cipher, version),
              valueHidden
            }
          })
        )
        const name = earlier?.name ?? secret.name
        const updatedAt = earlier?.updatedAt ?? secret.updatedAt
        const { createdAt, id } = secret
        return { id, name, product: productRef(product), environments, createdAt, updatedAt } satisfies RevealedSecret
      })

      /** The secret of a product with the values that the caller may read; the reading is audited. */
      const read = Effect.fnUntraced(function* (by: Access, cipher: ValueCipher, product: string, name: string) {
        const reading = isAtLeast(by.workspace.role, "member") ? yield* audited(by, name) : undefined
        const facts = yield* repo.facts(by.workspace.id, { product, name }, reading)
        return yield* reveal(by, cipher, facts)
      })

      /** What a request wrote, as the answer to it, the first time and at each replay. */
      const answerSecret = Effect.fnUntraced(function* (by: Access, cipher: ValueCipher, written: WrittenSecret) {
        const { name, secretId, versions } = written
        const facts = yield* repo.facts(by.workspace.id, { secretId, versions }, yield* audited(by, name))
        return yield* reveal(by, cipher, facts, written)
      })

      /** What a request that makes the answer from the present state has written. */
      const writtenSecret = (secret: RevealedSecret): WrittenSecret => ({
        secretId: secret.id,
        name: secret.name,
        updatedAt: secret.updatedAt,
        versions: secret.environments.map(({ environment, valueHidden, version }) => ({
          environmentId: environment.id,
          version,
          shown: !valueHidden
        }))
      })

      /**
       * A change in one transaction. With a requestId, its first request performs it, and requests like it replay what
       * that wrote, having waited for it.
       */
      const once = Effect.fnUntraced(function* <A, Written>(
        by: Access,
        operation: RequestKey["operation"],
        requestId: string | undefined,
        request: unknown,
        perform: (cipher: ValueCipher) => Effect.Effect<{ readonly answer: A; readonly written: Written }, Refusal>,
        replay: (written: Written, cipher: ValueCipher) => Effect.Effect<A, Refusal>
      ) {
        const workspaceId = by.workspace.id
        const cipher = yield* dataKeys.cipher(workspaceId)
        if (requestId === undefined) {
          return yield* storage.transaction(Effect.map(perform(cipher), ({ answer }) => answer))
        }
        const key = { workspaceId, actor: by.actor, operation, requestId }
        const fingerprint = cipher.fingerprint(canonical(request))
        return yield* storage.transaction(
          Effect.gen(function* () {
            const at = yield* Clock.currentTimeMillis
            const expired = timestamp(at - requestsKeptMillis)
            const first = yield* repo.claim(key, { fingerprint, at: timestamp(at), expired })
            if (first === undefined) {
              const { answer, written } = yield* perform(cipher)
              yield* repo.record(key, written)
              return answer
            }
            if (first.fingerprint !== fingerprint) {
              return yield* new Conflict({
                message: "The requestId was used for another request.",
                reason: "request_id_reused"
              })
            }
            return yield* replay(first.written as Written, cipher)
          })
        )
      })

      /** The next version of a pair with this value; undefined for null where nothing was ever set. */
      const nextVersion = (
        cipher: ValueCipher,
        secret: HeldSecret,
        environmentId: EnvironmentId,
        value: Redacted.Redacted | null
      ): NewVersion | undefined => {
        const current = secret.versions.get(environmentId) ?? 0
        if (value === null && current === 0) return undefined
        const place = { secretId: secret.id, environmentId, version: current + 1 }
        return { ...place, sealed: value === null ? null : cipher.seal(place, value) }
      }

      const newSecret = Effect.fnUntraced(function* (by: Access, productId: ProductId, name: string, at: Timestamp) {
        const row: SecretRow = {
          id: yield* newId<SecretId>(),
          workspaceId: by.workspace.id,
          productId,
          name,
          createdAt: at,
          updatedAt: at
        }
        return { ...row, versions: new Map<EnvironmentId, number>() } satisfies HeldSecret
      })

      const oneProduct = (targets: Targets): Effect.Effect<ProductPart, NotFound> => {
        const [product] = targets.products
        return product === undefined ? Effect.fail(NotFound.of("product")) : Effect.succeed(product)
      }

      /** Stores the versions of secrets of one name, with the audit row and an event for each secret. */
      const store = Effect.fnUntraced(function* (
        by: Access,
        audit: Audit,
        change: {
          readonly source: "edit" | "assignment" | "generation"
          readonly targets: Targets
          readonly secrets: ReadonlyArray<HeldSecret>
          readonly created: ReadonlySet<SecretId>
          readonly versions: ReadonlyArray<NewVersion>
          readonly renamed?: { readonly from: string; readonly to: string }
        }
      ) {
        const slugs = new Map(change.targets.environments.map(({ id, slug }) => [id, slug]))
        const products = new Map(change.targets.products.map((product) => [product.id, product]))
        const versionsOf = Map.groupBy(change.versions, ({ secretId }) => secretId)
        const told = yield* Effect.forEach(change.secrets, (secret) =>
          Effect.gen(function* () {
            const product = products.get(secret.productId)!
            const changes = (versionsOf.get(secret.id) ?? []).map(({ environmentId, version }) => ({
              field: `environments.${slugs.get(environmentId)}.version`,
              from: version === 1 ? null : String(version - 1),
              to: String(version)
            }))
            const isCreated = change.created.has(secret.id)
            const { renamed } = change
            return [
              ...(renamed === undefined
                ? []
                : [yield* eventOf(by, "renamed", product, secret, [{ field: "name", ...renamed }])]),
              ...(isCreated || changes.length > 0
                ? [yield* eventOf(by, isCreated ? "created" : "changed", product, secret, changes)]
                : [])
            ]
          })
        )
        yield* repo.write({
          audit,
          source: change.source,
          versions: change.versions,
          touched: yield* Effect.forEach(
            change.secrets.filter(
              ({ id }) => !change.created.has(id) && (change.renamed !== undefined || versionsOf.has(id))
            ),
            (secret) => Effect.map(nextUpdate(secret), (updatedAt) => ({ id: secret.id, updatedAt }))
          ),
          events: told.flat()
        })
      })

      /** What both bulk calls do: one value for each environment, in all products, whose secrets are made if missing. */
      const writeAll = Effect.fnUntraced(function* (
        by: Access,
        cipher: ValueCipher,
        input: Pick<AssignSecret, "products" | "environments" | "name">,
        how: { readonly action: "assign" | "generate"; readonly source: "assignment" | "generation" },
        valueOf: (environment: EnvironmentPart) => Redacted.Redacted | null
      ) {
        const targets = yield* repo.hold(by.workspace.id, input)
        const products = yield* allNamed(targets.products, "products", input.products)
        const environments = yield* allNamed(targets.environments, "environments", input.environments)
        yield* writable(targets, products, environments)
        yield* repo.holdNames(by.workspace.id, input.name)
        const held = yield* repo.lock(
          by.workspace.id,
          products.map(({ id }) => id),
          input.name
        )
        const at = yield* now
        const made = yield* Effect.forEach(
          products.filter(({ id }) => !held.some((secret) => secret.productId === id)),
          ({ id }) => newSecret(by, id, input.name, at)
        )
        // The name is held, so nobody else can have made one.
        if (made.length > 0) yield* Effect.catchTag(repo.insert(made), "UniqueViolation", Effect.die)
        const secrets = new Map([...held, ...made].map((secret) => [secret.productId, secret]))
        const written: Array<WrittenPair> = []
        const versions: Array<NewVersion> = []
        for (const product of products) {
          const secret = secrets.get(product.id)!
          for (const environment of environments) {
            const value = valueOf(environment)
            const version = nextVersion(cipher, secret, environment.id, value)
            if (version !== undefined) versions.push(version)
            written.push({
              productId: product.id,
              environmentId: environment.id,
              secretId: secret.id,
              version: version?.version ?? 0,
              hasValue: value !== null,
              created: made.some(({ id }) => id === secret.id)
            })
          }
        }
        const entries = written
          .filter(({ version }) => version > 0)
          .map(({ environmentId, productId, version }) => ({
            product: productId,
            environment: environmentId,
            version
          }))
        yield* store(by, yield* auditOf(by, how.action, input.name, entries), {
          source: how.source,
          targets,
          secrets: [...secrets.values()],
          created: new Set(made.map(({ id }) => id)),
          versions
        })
        return { written, products, environments }
      })

      /** What a bulk call wrote to, for the replay of its answer. */
      const writtenTo = (by: Access, written: ReadonlyArray<WrittenPair>) =>
        repo.hold(by.workspace.id, {
          products: [...new Set(written.map(({ productId }) => productId))],
          environments: [...new Set(written.map(({ environmentId }) => environmentId))]
        })

      const assigned = (name: string, written: ReadonlyArray<WrittenPair>, targets: CatalogParts): Assigned => ({
        name,
        assignments: sortedPairs(written, targets).map(({ environment, pair, product }) => ({
          product: productRef(product),
          environment: environmentRef(environment),
          version: pair.version,
          hasValue: pair.hasValue,
          created: pair.created
        }))
      })

      const generated = (
        { generator, name }: GenerateSecret,
        written: WrittenGenerations,
        targets: CatalogParts,
        values: ReadonlyMap<EnvironmentId, Redacted.Redacted>
      ): Generated => {
        const pairsOf = Map.groupBy(sortedPairs(written.pairs, targets), ({ environment }) => environment)
        return {
          name,
          generator,
          generations: Array.from(pairsOf, ([environment, pairs]) => ({
            environment: environmentRef(environment),
            value: values.get(environment.id) ?? null,
            publicKey: written.publicKeys[environment.id] ?? null,
            assignments: pairs.map(({ pair, product }) => ({ product: productRef(product), version: pair.version }))
          })).toSorted((a, b) => byName(a.environment, b.environment))
        }
      }

      /** The values that a generation made, read again: of each environment, by one of its pairs. */
      const regenerated = Effect.fnUntraced(function* (
        by: Access,
        cipher: ValueCipher,
        written: WrittenGenerations,
        name: string
      ) {
        const values = new Map<EnvironmentId, Redacted.Redacted>()
        const places = written.pairs.filter(({ environmentId }) => written.revealed.includes(environmentId))
        if (places.length === 0) return values
        const read: Array<AuditEntry> = []
        for (const version of yield* repo.sealed(places)) {
          if (values.has(version.environmentId)) continue
          const value = yield* opened(cipher, version)
          if (value !== null) values.set(version.environmentId, value)
          const { productId } = places.find(({ secretId }) => secretId === version.secretId)!
          read.push({ product: productId, environment: version.environmentId, version: version.version })
        }
        if (read.length > 0) yield* repo.audit(yield* auditOf(by, "read", name, read))
        return values
      })

      const create = Effect.fnUntraced(function* (
        by: Access,
        cipher: ValueCipher,
        productRef: string,
        input: CreateSecret
      ) {
        const values = Object.entries(input.values ?? {})
        const targets = yield* repo.hold(by.workspace.id, {
          products: [productRef],
          environments: values.map(([ref]) => ref)
        })
        const product = yield* oneProduct(targets)
        const named = yield* byRef(targets.environments, "values", values)
        yield* writable(targets, [product], [...named.keys()])
        yield* repo.holdNames(by.workspace.id, input.name)
        const secret = yield* newSecret(by, product.id, input.name, yield* now)
        yield* Effect.catchTag(repo.insert([secret]), "UniqueViolation", () => Effect.fail(nameInUse(input.name)))
        const versions = Array.from(named, ([{ id }, value]) => nextVersion(cipher, secret, id, value)).filter(
          (version) => version !== undefined
        )
        yield* store(by, yield* auditOf(by, "create", input.name, entriesOf(product.id, versions)), {
          source: "edit",
          targets,
          secrets: [secret],
          created: new Set([secret.id]),
          versions
        })
        const answer = yield* read(by, cipher, product.id, input.name)
        return { answer, written: writtenSecret(answer) }
      })

      const update = Effect.fnUntraced(function* (
        by: Access,
        cipher: ValueCipher,
        productRef: string,
        name: string,
        input: UpdateSecret
      ) {
        const values = Object.entries(input.values ?? {})
        const expected = Object.entries(input.expectedVersions ?? {})
        const targets = yield* repo.hold(by.workspace.id, {
          products: [productRef],
          environments: [...values, ...expected].map(([ref]) => ref)
        })
        const product = yield* oneProduct(targets)
        const newName = input.newName === name ? undefined : input.newName
        // Both names, since of two secrets that take each other's name, each would wait for the other.
        if (newName !== undefined) yield* repo.holdNames(by.workspace.id, name, newName)
        const [secret] = yield* repo.lock(by.workspace.id, [product.id], name)
        if (secret === undefined) return yield* NotFound.of("secret")
        const named = yield* byRef(targets.environments, "values", values)
        const expectedVersions = yield* byRef(targets.environments, "expectedVersions", expected)
        yield* writable(targets, [product], [...named.keys()])
        if (newName !== undefined) {
          yield* Effect.catchTag(repo.rename(secret.id, newName), "UniqueViolation", () =>
            Effect.fail(nameInUse(newName))
          )
        }
        yield* asExpected(secret, expectedVersions)
        const versions = Array.from(named, ([{ id }, value]) => nextVersion(cipher, secret, id, value)).filter(
          (version) => version !== undefined
        )
        if (versions.length > 0 || newName !== undefined) {
          const entries = entriesOf(product.id, versions)
          yield* store(by, yield* auditOf(by, "update", name, entries, newName), {
            source: "edit",
            targets,
            secrets: [{ ...secret, name: newName ?? name }],
            created: new Set(),
            versions,
            ...(newName === undefined ? {} : { renamed: { from: name, to: newName } })
          })
        }
        const answer = yield* read(by, cipher, product.id, newName ?? name)
        return { answer, written: writtenSecret(answer) }
      })

      return Vault.of({
        list: Effect.gen(function* () {
          const { workspace } = yield* anyRole
          const facts = yield* repo.facts(workspace.id, {})
          return {
            environments: facts.environments.toSorted(byName).map(environmentRef),
            secrets: secretsOf(facts)
          }
        }).pipe(Effect.withSpan("Vault.list")),

        listOfProduct: Effect.fn("Vault.listOfProduct")(function* (ref: string) {
          const { workspace } = yield* anyRole
          const facts = yield* repo.facts(workspace.id, { product: ref })
          const product = yield* oneProduct(facts)
          const pair = pairsOf(facts.deployments)
          return {
            product: productRef(product),
            environments: facts.environments.toSorted(byName).map((environment) => ({
              ...environmentRef(environment),
              deployed: pair(product.id, environment.id)?.deployed ?? false
            })),
            secrets: secretsOf(facts)
          }
        }),

        get: Effect.fn("Vault.get")(function* (product: string, name: string) {
          const by = yield* anyRole
          return yield* read(by, yield* dataKeys.cipher(by.workspace.id), product, name)
        }),

        create: Effect.fn("Vault.create")(function* (product: string, input: CreateSecret) {
          yield* fewPairs("values", 1, Object.keys(input.values ?? {}).length)
          const by = yield* atLeast("member")
          return yield* once(
            by,
            "create",
            input.requestId,
            { product, ...input },
            (cipher) => create(by, cipher, product, input),
            (written: WrittenSecret, cipher) => answerSecret(by, cipher, written)
          )
        }),

        update: Effect.fn("Vault.update")(function* (product: string, name: string, input: UpdateSecret) {
          yield* fewPairs("values", 1, Object.keys(input.values ?? {}).length)
          const by = yield* atLeast("member")
          return yield* once(
            by,
            "update",
            input.requestId,
            { product, name, ...input },
            (cipher) => update(by, cipher, product, name, input),
            (written: WrittenSecret, cipher) => answerSecret(by, cipher, written)
          )
        }),

        delete: Effect.fn("Vault.delete")(function* (productRef: string, name: string) {
          const by = yield* atLeast("member")
          yield* storage.transaction(
            Effect.gen(function* () {
              const targets = yield* repo.hold(by.workspace.id, { products: [productRef], environments: [] })
              const product = yield* oneProduct(targets)
              const [secret] = yield* repo.lock(by.workspace.id, [product.id], name)
              if (secret === undefined) return yield* NotFound.of("secret")
              yield* writable(targets, [product], [])
              yield* repo.write({
                audit: yield* auditOf(by, "delete", name, []),
                source: "edit",
                versions: [],
                touched: [],
                deleted: secret.id,
                events: [yield* eventOf(by, "deleted", product, secret, [])]
              })
            })
          )
        }),

        assign: Effect.fn("Vault.assign")(function* (input: AssignSecret) {
          yield* fewPairs("products", new Set(input.products).size, new Set(input.environments).size)
          const by = yield* atLeast("member")
          return yield* once(
            by,
            "assign",
            input.requestId,
            input,
            (cipher) =>
              Effect.map(
                writeAll(by, cipher, input, { action: "assign", source: "assignment" }, () => input.value),
                ({ written, ...targets }) => ({ answer: assigned(input.name, written, targets), written })
              ),
            (written: ReadonlyArray<WrittenPair>) =>
              Effect.map(writtenTo(by, written), (targets) => assigned(input.name, written, targets))
          )
        }),

        generate: Effect.fn("Vault.generate")(function* (input: GenerateSecret) {
          yield* fewPairs("products", new Set(input.products).size, new Set(input.environments).size)
          if (input.generator.type === "password" && chosenClasses(input.generator).length === 0) {
            return yield* InvalidInput.at("generator", "A password needs at least one class of characters")
          }
          const by = yield* atLeast("member")
          return yield* once(
            by,
            "generate",
            input.requestId,
            input,
            Effect.fnUntraced(function* (cipher) {
              // One for each ref, of which those that are used are known once the refs are resolved.
              const fresh = yield* Effect.forEach([...new Set(input.environments)], () => generate(input.generator))
              const made = new Map<EnvironmentId, (typeof fresh)[number]>()
              const valueOf = (environment: EnvironmentPart) => {
                const value = made.get(environment.id) ?? fresh[made.size]!
                made.set(environment.id, value)
                return value.value
              }
              const how = { action: "generate", source: "generation" } as const
              const { written: pairs, ...targets } = yield* writeAll(by, cipher, input, how, valueOf)
              const readable = targets.environments.filter((environment) => isReadable(environment.class, undefined))
              const written: WrittenGenerations = {
                pairs,
                revealed: input.reveal === true ? readable.map(({ id }) => id) : [],
                publicKeys: Object.fromEntries(
                  Array.from(made, ([id, { publicKey }]) => [id, publicKey] as const).filter(
                    (entry): entry is [EnvironmentId, string] => entry[1] !== null
                  )
                )
              }
              return {
                answer: generated(input, written, targets, yield* regenerated(by, cipher, written, input.name)),
                written
              }
            }),
            Effect.fnUntraced(function* (written: WrittenGenerations, cipher) {
              const targets = yield* writtenTo(by, written.pairs)
              return generated(input, written, targets, yield* regenerated(by, cipher, written, input.name))
            })
          )
        }),

        versions: Effect.fn("Vault.versions")(function* (path, before = maxVersion) {
          const { workspace } = yield* anyRole
          const page = yield* repo.versions(workspace.id, path, { before, limit: versionsPageSize })
          if (!page.hasProduct) return yield* NotFound.of("product")
          if (!page.hasSecret) return yield* NotFound.of("secret")
          if (!page.hasEnvironment) return yield* NotFound.of("environment")
          return page.versions
        }),

        erase: Effect.gen(function* () {
          const at = yield* Clock.currentTimeMillis
          const before = {
            deleted: timestamp(at - deletedKeptMillis),
            requests: timestamp(at - requestsKeptMillis)
          }
          let erased = 0
          for (;;) {
            const some = yield* repo.erase(before, eraseBatch)
            if (some === 0) return erased
            erased += some
          }
        }).pipe(Effect.withSpan("Vault.erase"))
      })
    })
  )
}

const hourMillis = 3_600_000
const requestsKeptMillis = 24 * hourMillis
const deletedKeptMillis = 30 * 24 * hourMillis

/** How many rows of a kind one transaction erases. */
const eraseBatch = 100

/** Above every version. */
const maxVersion = 2 ** 31 - 1

/** What a request that answered one secret wrote: which version of each environment the answer showed. */
interface WrittenSecret {
  readonly secretId: SecretId
  readonly name: string
  readonly updatedAt: Timestamp
  readonly versions: ReadonlyArray<ShownVersion>
}

interface WrittenGenerations {
  readonly pairs: ReadonlyArray<WrittenPair>
  /** The environments whose values were answered. */
  readonly revealed: ReadonlyArray<EnvironmentId>
  readonly publicKeys: Readonly<Record<string, string>>
}

type Changes = ReadonlyArray<{ readonly field: string; readonly from: string | null; readonly to: string | null }>

const entriesOf = (product: ProductId, versions: ReadonlyArray<NewVersion>): ReadonlyArray<AuditEntry> =>
  versions.map(({ environmentId, version }) => ({ product, environment: environmentId, version }))

/** JSON with sorted keys, so that equal bodies have one text. It holds values: only its keyed hash is kept. */
const canonical = (value: unknown): string => JSON.stringify(sorted(value))

const sorted = (part: unknown): unknown => {
  if (Redacted.isRedacted(part)) return Redacted.value(part)
  if (Array.isArray(part)) return part.map(sorted)
  if (typeof part !== "object" || part === null) return part
  return Object.entries(part)
    .toSorted(([a], [b]) => compare(a, b))
    .map(([key, value]) => [key, sorted(value)])
}
