import type { AuditEntryId, DeploymentTokenId, SecretId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type DeploymentTokenRow, deploymentTokens } from "../../src/access/ActorRows.ts"
import { AuditRepo } from "../../src/audit/AuditRepo.ts"
import { DeploymentsRepo } from "../../src/catalog/DeploymentsRepo.ts"
import { DeploymentTokensRepo } from "../../src/deploy/DeploymentTokensRepo.ts"
import { LoadsRepo } from "../../src/deploy/LoadsRepo.ts"
import { hashToken } from "../../src/ids/Tokens.ts"
import { addDeployment, addEnvironment, addProduct } from "../catalog/Rows.ts"
import { assertHolds, makeScene, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"

/** What both storages keep of deployment tokens. */

onEachStorage("Stored deployment tokens", (it) => {
  const make = Effect.gen(function* () {
    const { owner, workspace } = yield* makeScene
    const product = yield* addProduct(workspace.id, { name: "Shop" })
    const environment = yield* addEnvironment(workspace.id, { name: "Production", class: "production" })
    const deployment = yield* addDeployment(product, environment)
    const repo = yield* DeploymentTokensRepo
    const add = Effect.fnUntraced(function* (fields: Partial<DeploymentTokenRow> = {}) {
      const name = unique("token")
      const token: DeploymentTokenRow = {
        id: newId<DeploymentTokenId>(),
        workspaceId: workspace.id,
        deploymentId: deployment.id,
        name,
        tokenHash: hashToken(name),
        tokenPrefix: "dtk_abcd",
        lastFour: "wxyz",
        allowedAddresses: null,
        createdById: owner.principal.id,
        createdAt: minute(0),
        expiresAt: null,
        lastUsedAt: null,
        lastUsedFrom: null,
        revokedAt: null,
        replacedBy: null,
        makerId: null,
        ...fields
      }
      yield* repo.insert(token)
      return token
    })
    const list = (at = minute(5)) =>
      Effect.map(repo.ofDeployment(deployment.id, at), (rows) => rows.map(({ id }) => id))
    return { workspace, owner, product, environment, deployment, add, list }
  })

  it.effect("keep every column", () =>
    Effect.gen(function* () {
      const { add, deployment, ...at } = yield* make
      const full = yield* add({
        allowedAddresses: ["10.0.0.0/8"],
        expiresAt: minute(9),
        lastUsedAt: minute(1),
        lastUsedFrom: "10.0.0.1",
        replacedBy: newId<DeploymentTokenId>(),
        makerId: newId()
      })
      assert.sameMembers(Object.keys(full), Object.keys(deploymentTokens.columns))
      const { lock, ofWorkspace } = yield* DeploymentTokensRepo
      assert.deepStrictEqual(yield* lock(deployment.id, full.id), full)
      const [found] = yield* ofWorkspace(full.workspaceId, minute(5))
      const { environment, maker, makerEndedAt, product, ...row } = found!
      assert.deepStrictEqual([product.slug, environment.slug], [at.product.slug, at.environment.slug])
      assert.deepStrictEqual([row, maker.active, makerEndedAt], [full, true, null])
      assert.isUndefined(yield* lock(deployment.id, "none"))
      assert.isUndefined(yield* lock(newId(), full.id))
    })
  )

  it.effect("are listed while they work, newest first", () =>
    Effect.gen(function* () {
      const { add, deployment, list } = yield* make
      const old = yield* add({ createdAt: minute(1) })
      const fresh = yield* add({ createdAt: minute(2), expiresAt: minute(6) })
      yield* add({ expiresAt: minute(5) })
      yield* add({ revokedAt: minute(1) })
      assert.deepStrictEqual(yield* list(), [fresh.id, old.id])
      assert.deepStrictEqual(yield* list(minute(6)), [old.id])
      yield* (yield* DeploymentsRepo).delete(deployment.id, minute(3))
      assert.deepStrictEqual(yield* list(), [])
    })
  )

  it.effect("are used later, never earlier", () =>
    Effect.gen(function* () {
      const { add, deployment } = yield* make
      const { id } = yield* add()
      const { lock, touch } = yield* DeploymentTokensRepo
      const use = (minutes: number, from: string) => touch(new Map([[id, { at: minute(minutes), from }]]))
      yield* use(2, "b")
      yield* use(1, "a")
      assert.deepInclude(yield* lock(deployment.id, id), { lastUsedAt: minute(2), lastUsedFrom: "b" })
      yield* use(3, "c")
      yield* touch(new Map([[newId<DeploymentTokenId>(), { at: minute(1), from: "x" }]]))
      assert.deepInclude(yield* lock(deployment.id, id), { lastUsedAt: minute(3), lastUsedFrom: "c" })
    })
  )

  it.effect("end once: by revocation, by their time, with their deployment", () =>
    Effect.gen(function* () {
      const { add, deployment, environment, product } = yield* make
      const repo = yield* DeploymentTokensRepo
      const found = yield* add()
      const pair = {
        product: { slug: product.slug, name: "Shop" },
        environment: { slug: environment.slug, name: "Production" }
      }
      const told = yield* repo.revokeByToken(found.tokenHash, minute(2))
      assert.deepInclude(told, { id: found.id, workspaceId: found.workspaceId, name: found.name, expiresAt: null })
      assert.deepInclude(told!.product, pair.product)
      assert.deepInclude(told!.environment, pair.environment)
      assert.isUndefined(yield* repo.revokeByToken(found.tokenHash, minute(2)))
      assert.isUndefined(yield* repo.revokeByToken(hashToken("none"), minute(2)))
      const expired = yield* add({ expiresAt: minute(1) })
      yield* add({ expiresAt: minute(3) })
      assert.isUndefined(yield* repo.revokeByToken(expired.tokenHash, minute(2)))
      const ended = yield* repo.endExpired(minute(2), 1_000)
      assert.deepStrictEqual(
        ended.filter(({ workspaceId }) => workspaceId === found.workspaceId).map(({ id }) => id),
        [expired.id]
      )
      assert.strictEqual((yield* repo.lock(deployment.id, expired.id))!.revokedAt, minute(1))
      const kept = yield* add()
      const rest = yield* repo.revokeAll(deployment.id, minute(2))
      assert.lengthOf(rest, 2)
      assert.include(
        rest.map(({ id }) => id),
        kept.id
      )
      assert.deepStrictEqual(yield* repo.revokeAll(deployment.id, minute(2)), [])
    })
  )

  it.effect("are found by what they were made with, while they work", () =>
    Effect.gen(function* () {
      const { add } = yield* make
      const [maker, other] = [newId(), newId()]
      const made = yield* add({ makerId: maker })
      yield* add({ makerId: maker, revokedAt: minute(1) })
      yield* add({ makerId: maker, expiresAt: minute(1) })
      yield* add({ makerId: other })
      const { madeBy } = yield* DeploymentTokensRepo
      const ids = (makers: ReadonlyArray<string>) =>
        Effect.map(madeBy(makers, minute(2)), (tokens) => tokens.map(({ id }) => id))
      assert.deepStrictEqual(yield* ids([maker]), [made.id])
      assert.deepStrictEqual(yield* ids([newId()]), [])
      assert.lengthOf(yield* ids([maker, other]), 2)
    })
  )

  it.effect("come from networks, the first and others, which the one that replaces them knows", () =>
    Effect.gen(function* () {
      const { add, workspace } = yield* make
      const [token, fresh, last] = [yield* add(), yield* add(), yield* add()]
      const { cameFrom, replace } = yield* DeploymentTokensRepo
      const from = (tokenId: DeploymentTokenId, network: string) =>
        cameFrom({ workspaceId: workspace.id, tokenId, network, firstUsedAt: minute(1) })
      assert.strictEqual(yield* from(token.id, "a"), "first")
      assert.strictEqual(yield* from(token.id, "a"), "known")
      assert.strictEqual(yield* from(token.id, "b"), "other")
      assert.strictEqual(yield* from(token.id, "b"), "known")
      assert.strictEqual(yield* from(fresh.id, "a"), "first")
      yield* replace(token, last.id, minute(2))
      assert.strictEqual(yield* from(last.id, "b"), "known")
      assert.strictEqual(yield* from(last.id, "c"), "other")
    })
  )

  it.effect("and their deployments are held while something is made or changed by them", () =>
    Effect.gen(function* () {
      const { add, deployment } = yield* make
      const token = yield* add()
      const gone = yield* add({ expiresAt: minute(1) })
      const { hold, holdDeployment, lock } = yield* DeploymentTokensRepo
      assert.isTrue(yield* holdDeployment(deployment.id))
      assert.isTrue(yield* hold(token.id, deployment.id, minute(2)))
      assert.isFalse(yield* hold(gone.id, deployment.id, minute(2)))
      yield* assertHolds(lock(deployment.id, token.id))
      yield* assertHolds(hold(token.id, deployment.id, minute(2)))
      yield* (yield* DeploymentsRepo).delete(deployment.id, minute(3))
      assert.isFalse(yield* holdDeployment(deployment.id))
      assert.isFalse(yield* hold(token.id, deployment.id, minute(2)))
    })
  )

  it.effect("have an entry of the audit that equal requests of a minute share", () =>
    Effect.gen(function* () {
      const { add, workspace } = yield* make
      const { id: tokenId } = yield* add()
      const { claimEntry } = yield* LoadsRepo
      const subjectId = newId()
      const claim = Effect.fnUntraced(function* (at: number, fields: object = {}) {
        const read = {
          workspaceId: workspace.id,
          tokenId,
          address: "10.0.0.1",
          subjectId,
          fingerprint: "a",
          entryId: newId<AuditEntryId>(),
          beganAt: minute(at),
          ...fields
        }
        const claimed = yield* claimEntry(read, minute(at - 1))
        return { isNew: claimed.entryId === read.entryId, beganAt: claimed.beganAt }
      })
      assert.deepStrictEqual(yield* claim(2), { isNew: true, beganAt: minute(2) })
      assert.deepStrictEqual(yield* claim(2.5), { isNew: false, beganAt: minute(2) })
      assert.deepStrictEqual(yield* claim(2.5, { address: "10.0.0.2" }), { isNew: true, beganAt: minute(2.5) })
      assert.deepStrictEqual(yield* claim(2.5, { subjectId: newId() }), { isNew: true, beganAt: minute(2.5) })
      // A minute later, and once something else was answered, it is another one.
      assert.deepStrictEqual(yield* claim(3), { isNew: true, beganAt: minute(3) })
      assert.deepStrictEqual(yield* claim(3.1, { fingerprint: "b" }), { isNew: true, beganAt: minute(3.1) })
      assert.deepStrictEqual(yield* claim(3.2), { isNew: true, beganAt: minute(3.2) })
      assert.deepStrictEqual(yield* claim(3.3), { isNew: false, beganAt: minute(3.2) })
      const { eraseReads } = yield* LoadsRepo
      yield* eraseReads(minute(3.2))
      assert.deepStrictEqual(yield* claim(3.4), { isNew: false, beganAt: minute(3.2) })
      yield* eraseReads(minute(3.3))
      assert.deepStrictEqual(yield* claim(3.5), { isNew: true, beganAt: minute(3.5) })
    })
  )

  it.effect("have read versions, all of a deployment or some", () =>
    Effect.gen(function* () {
      const { deployment, workspace } = yield* make
      const { load, loaded } = yield* LoadsRepo
      const [a, b] = [newId<SecretId>(), newId<SecretId>()]
      const at = (minutes: number, versions: Readonly<Record<SecretId, number>>) => ({
        workspaceId: workspace.id,
        deploymentId: deployment.id,
        loadedAt: minute(minutes),
        versions
      })
      assert.isUndefined(yield* loaded(deployment.id))
      yield* load(at(2, { [a]: 1 }), "some")
      yield* load(at(3, { [b]: 1 }), "some")
      assert.deepStrictEqual(yield* loaded(deployment.id), { ...at(3, { [a]: 1, [b]: 1 }), whole: false })
      yield* load(at(4, { [b]: 2 }), "all")
      assert.deepStrictEqual(yield* loaded(deployment.id), { ...at(4, { [b]: 2 }), whole: true })
      yield* load(at(1, { [a]: 3 }), "some")
      assert.deepStrictEqual(yield* loaded(deployment.id), { ...at(4, { [a]: 3, [b]: 2 }), whole: true })
    })
  )

  it.effect("add to the count of entries that are there", () =>
    Effect.gen(function* () {
      const { workspace } = yield* make
      const { count, find, insert } = yield* AuditRepo
      const id = newId<AuditEntryId>()
      const entry = {
        id,
        workspaceId: workspace.id,
        action: "secrets_loaded",
        outcome: "allowed" as const,
        actorId: null,
        actor: { kind: "removed" } as const,
        credential: null,
        address: null,
        subjectType: "deployment",
        subjectId: "a",
        subjectLabel: "a",
        environments: null,
        versions: null,
        changes: null,
        secrets: [{ name: "A", version: 1 }],
        count: 1,
        requestId: null
      }
      yield* insert([entry])
      yield* count([
        { id, workspaceId: workspace.id, count: 3 },
        { id: newId<AuditEntryId>(), workspaceId: workspace.id, count: 3 }
      ])
      yield* count([{ id, workspaceId: workspace.id, count: 1 }])
      assert.deepStrictEqual(yield* find(workspace.id, {}, 10), [{ ...entry, count: 5 }])
    })
  )
})
