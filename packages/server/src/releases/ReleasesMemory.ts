import type { DeploymentId, EnvironmentId, ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { firstCharacters } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { type DeploymentRow, deployments, presentRefs, type ReleasePlace } from "../catalog/DeploymentsRepo.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import {
  commitMentions,
  type CommitRow,
  deploymentReleases,
  type ReleaseRow,
  versionCommits
} from "../catalog/ReleaseRows.ts"
import { spelledWith, spellingsInMemory } from "../catalog/Spellings.ts"
import { teams } from "../planning/TeamsRepo.ts"
import { findTicketInMemory } from "../planning/TicketRefs.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { pastRuns } from "../runs/erasure/RunErasureRepo.ts"
import { type ProductVersion, type TestRunRow, testRuns } from "../runs/TestRunsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { type CommitBounds, type FoundCommit, type FoundRelease, ReleasesRepo } from "./ReleasesRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  ReleasesRepo,
  Effect.map(MemoryStorage, (memory) =>
    ReleasesRepo.of({
      history: history(memory),
      wasDeployed: wasDeployed(memory),
      spelled: spelled(memory),
      commits: commits(memory),
      commitsNaming: commitsNaming(memory),
      versionsNaming: versionsNaming(memory),
      releasesOf: releasesOf(memory),
      deployed: deployed(memory)
    })
  )
)

const history =
  (memory: Memory): ReleasesRepo["Service"]["history"] =>
  (place, { before, deployment }, limit) =>
    memory.read((database) => {
      const there = deploymentsAt(database, place)
      const spellings = spellingsInMemory(database, place.productId)
      const from = deployment === undefined ? 0 : there.findIndex(({ id }) => id === deployment)
      return there
        .slice(from)
        .flatMap(({ deletedAt, id }) => {
          const releases = releasesIn(database, id)
          const isBelow = ({ number }: ReleaseRow) =>
            before === undefined || number < before || (deployment !== undefined && deployment !== id)
          return releases
            .filter(isBelow)
            .toReversed()
            .map((release) => foundRelease(database, releases, release, { deletedAt, spellings }))
        })
        .slice(0, limit)
    })

/** The one that there is first, then the one that was deleted last. */
const deploymentsAt = (database: MemoryDatabase, { environmentId, productId }: ReleasePlace) =>
  database
    .table(deployments)
    .filter((row) => row.productId === productId && row.environmentId === environmentId)
    .toSorted((a, b) => compare(b.deletedAt ?? "~", a.deletedAt ?? "~") || compare(b.id, a.id))

const wasDeployed =
  (memory: Memory): ReleasesRepo["Service"]["wasDeployed"] =>
  (place, deployment) =>
    memory.read((database) =>
      deploymentsAt(database, place).some(({ id }) => deployment === undefined || id === deployment)
    )

/** The releases of a deployment, oldest first. */
const releasesIn = (database: MemoryDatabase, deployment: DeploymentId) =>
  database
    .table(deploymentReleases)
    .filter(({ deploymentId }) => deploymentId === deployment)
    .toSorted((a, b) => a.number - b.number)

const foundRelease = (
  database: MemoryDatabase,
  releases: ReadonlyArray<ReleaseRow>,
  release: ReleaseRow,
  {
    deletedAt,
    spellings
  }: { readonly deletedAt: Timestamp | null; readonly spellings: ReturnType<typeof spellingsInMemory> }
): FoundRelease => {
  const { actorId, actorKind, at, deploymentId, environmentId, number, overrideReason, productId, readiness, version } =
    release
  const counted = [
    ...database.table(testRuns).filter((run) => testsDeployment(run)),
    ...database.table(pastRuns).filter(({ testedElsewhere }) => testedElsewhere !== true)
  ]
  const tested = counted.filter(
    (run) =>
      run.productId === productId &&
      run.environmentId === environmentId &&
      version !== null &&
      run.deploymentVersion === version &&
      run.deploymentId === deploymentId &&
      run.release === number
  )
  const previous = releases.find((other) => other.number === number - 1)?.version ?? null
  const same = new Set<string | null>(version === null ? [] : spellings(version))
  const earlier = releases.findLast((other) => other.number < number && same.has(other.version))
  return {
    number,
    version,
    previous,
    deployment: { id: deploymentId, deletedAt },
    at,
    by: actorKind === null ? { kind: "removed" } : resolveActor(database, { kind: actorKind, id: actorId } as ActorRef),
    passed: tested.filter((run) => resultOf(run) === "passed").length,
    failed: tested.filter((run) => resultOf(run) === "failed").length,
    override: overrideReason,
    readiness,
    rolledBackTo: same.has(previous) ? null : (earlier?.number ?? null)
  }
}

/** What has passed only on another release or address, or with uncommitted changes has failed on this one. */
const resultOf = ({ result, retriedElsewhere }: Pick<TestRunRow, "result" | "retriedElsewhere">) =>
  retriedElsewhere === true ? "failed" : result

const foundCommit = (
  database: MemoryDatabase,
  viewer: Viewer,
  { workspaceId: _, ...commit }: CommitRow
): FoundCommit => {
  const named = database
    .table(commitMentions)
    .filter(({ commitId }) => commitId === commit.id)
    .flatMap(({ number, teamKey }) => findTicketInMemory(database, viewer, `${teamKey}-${number}`) ?? [])
  return {
    ...commit,
    tickets: [...new Map(named.map((ticket) => [ticket.id, ticket])).values()].map(({ id, number, teamId, title }) => ({
      id,
      key: database.table(teams).get(teamId)!.key,
      number,
      title
    }))
  }
}

const commitsWhere = (database: MemoryDatabase, viewer: Viewer, where: (commit: CommitRow) => boolean) =>
  database
    .table(versionCommits)
    .filter((commit) => commit.workspaceId === viewer.workspaceId && where(commit))
    .toSorted((a, b) => compare(a.id, b.id))
    .map((commit) => foundCommit(database, viewer, commit))

const isOneOf =
  (versions: ReadonlyArray<ProductVersion>) =>
  (row: { readonly productId: ProductId; readonly version: string | null }): boolean =>
    versions.some(({ productId, version }) => row.productId === productId && row.version === version)

const spelled = (memory: Memory) => (workspaceId: WorkspaceId, versions: ReadonlyArray<ProductVersion>) =>
  memory.read((database) => {
    const known = database.table(deploymentReleases).filter((release) => release.workspaceId === workspaceId)
    return spelledWith(
      versions,
      known.flatMap(({ productId, version }) => (version === null ? [] : [{ productId, version }]))
    )
  })

const shortened = (commits: ReadonlyArray<FoundCommit>, { subject }: CommitBounds): ReadonlyArray<FoundCommit> =>
  commits.map((commit) => ({ ...commit, subject: firstCharacters(commit.subject, subject) }))

const commits = (memory: Memory) => (viewer: Viewer, versions: ReadonlyArray<ProductVersion>, bounds: CommitBounds) =>
  memory.read((database) => {
    const found = commitsWhere(database, viewer, isOneOf(versions))
    const first = [...Map.groupBy(found, keyOf).values()].flatMap((those) => those.slice(0, bounds.count))
    return shortened(
      first.toSorted((a, b) => compare(a.id, b.id)),
      bounds
    )
  })

const keyOf = ({ productId, version }: ProductVersion): string => `${productId}/${version}`

const naming = (database: MemoryDatabase, viewer: Viewer, ticket: TicketId) =>
  commitsWhere(database, viewer, () => true).filter(({ tickets }) => tickets.some(({ id }) => id === ticket))

const commitsNaming = (memory: Memory) => (viewer: Viewer, ticket: TicketId, bounds: CommitBounds) =>
  memory.read((database) => shortened(naming(database, viewer, ticket).slice(-bounds.count), bounds))

const versionsNaming = (memory: Memory) => (viewer: Viewer, ticket: TicketId) =>
  memory.read((database) => {
    const named = naming(database, viewer, ticket).map(({ productId, version }) => ({ productId, version }))
    return [...new Map(named.map((version) => [keyOf(version), version])).values()]
  })

const refsOf = (
  database: MemoryDatabase,
  { environmentId, productId }: { readonly environmentId: EnvironmentId; readonly productId: ProductId }
) =>
  presentRefs({
    product: database.table(products).get(productId)!,
    environment: database.table(environments).get(environmentId)!
  })

const releasesOf = (memory: Memory) => (workspaceId: WorkspaceId, versions: ReadonlyArray<ProductVersion>) =>
  memory.read((database) => {
    const rows = database.table(deploymentReleases)
    return rows
      .filter((release) => release.workspaceId === workspaceId && isOneOf(versions)(release))
      .toSorted((a, b) => compare(a.at, b.at) || compare(a.deploymentId, b.deploymentId) || a.number - b.number)
      .map((release) => {
        const { at, deploymentId, number, version } = release
        const next = rows.get(`${deploymentId}/${number + 1}`)
        const until = next?.at ?? database.table(deployments).get(deploymentId)?.deletedAt ?? null
        return { deploymentId, ...refsOf(database, release), number, version: version!, at, until }
      })
  })

const deployed = (memory: Memory) => (workspaceId: WorkspaceId, productIds: ReadonlyArray<ProductId>) =>
  memory.read((database) => {
    const originOf = ({ id, productId, version }: DeploymentRow) => {
      const same = new Set<string | null>(version === null ? [] : spellingsInMemory(database, productId)(version))
      return releasesIn(database, id).find((release) => same.has(release.version))?.number ?? null
    }
    return database
      .table(deployments)
      .filter((row) => row.workspaceId === workspaceId && row.deletedAt === null && productIds.includes(row.productId))
      .map((row) => ({ deploymentId: row.id, ...refsOf(database, row), origin: originOf(row) }))
      .filter(({ environment, product }) => !environment.archived && !product.archived)
  })
