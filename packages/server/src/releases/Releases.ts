import { NotFound } from "@delivery/domain/Errors"
import { maxSubject } from "@delivery/domain/catalog/Commit"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { DeploymentId } from "@delivery/domain/Ids"
import { byName, compare } from "@delivery/domain/Order"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import {
  maxListedCommits,
  maxListedSubject,
  maxTraced,
  maxVersionCommits,
  type ProductVersion,
  type Release,
  type ReleasedCommit,
  releasesPageSize,
  type TicketTrace
} from "@delivery/domain/releases/Release"
import { traceText } from "@delivery/domain/releases/TraceText"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { isId, Text } from "@delivery/domain/Text"
import { Context, Effect, Layer, Schema } from "effect"
import { anyRole } from "../access/Access.ts"
import { present as presentMessage } from "../agents/Messages.ts"
import { MessagesRepo } from "../agents/MessagesRepo.ts"
import { DeploymentsRepo, type ReleasePlace } from "../catalog/DeploymentsRepo.ts"
import { ProductsRepo } from "../catalog/ProductsRepo.ts"
import type { Spelled } from "../catalog/Spellings.ts"
import { identifierOf } from "../planning/TicketRefs.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { viewerOf } from "../planning/Viewer.ts"
import { TestRuns } from "../runs/TestRuns.ts"
import type { ProductVersion as TestedVersion } from "../runs/TestRunsRepo.ts"
import {
  type CommitBounds,
  type DeployedVersion,
  type FoundCommit,
  type LiveRelease,
  type NamedTicket,
  ReleasesRepo
} from "./ReleasesRepo.ts"

/** The query of a history. */
export interface HistoryQuery {
  readonly before?: number | undefined
  /** The id of a deployment that there is or was at the place. */
  readonly deployment?: string | undefined
}

/** What was released where, and what became of tickets (docs/contract.md, Releases). */
export class Releases extends Context.Service<
  Releases,
  {
    /** Newest first, from where the query says. */
    readonly history: (
      product: string,
      environment: string,
      query: HistoryQuery
    ) => Effect.Effect<ReadonlyArray<Release>, NotFound, Caller>
    readonly version: (product: string, version: string) => Effect.Effect<ProductVersion, NotFound, Caller>
    readonly trace: (ticket: string) => Effect.Effect<TicketTrace, NotFound, Caller>
  }
>()("@delivery/server/releases/Releases") {
  static readonly layer = Layer.effect(Releases, Effect.gen(make))
}

interface Dependencies {
  readonly repo: ReleasesRepo["Service"]
  readonly deployments: DeploymentsRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly tickets: TicketsRepo["Service"]
  readonly messages: MessagesRepo["Service"]
  readonly runs: TestRuns["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* ReleasesRepo,
    deployments: yield* DeploymentsRepo,
    products: yield* ProductsRepo,
    tickets: yield* TicketsRepo,
    messages: yield* MessagesRepo,
    runs: yield* TestRuns
  }
  return Releases.of({
    history: history(dependencies),
    version: version(dependencies),
    trace: trace(dependencies)
  })
}

const listed = { count: maxListedCommits, subject: maxListedSubject }

const history = ({ deployments, repo }: Dependencies) => {
  const cursorOf = cursorAt(repo)
  return Effect.fn("Releases.history")(function* (productRef: string, environmentRef: string, query: HistoryQuery) {
    const access = yield* anyRole
    const workspaceId = access.workspace.id
    const { deployment, environment, product } = yield* deployments.target(workspaceId, productRef, environmentRef)
    const unknown = NotFound.of("deployment", `${productRef}/${environmentRef}`)
    if (product === undefined || environment === undefined) return yield* unknown
    const place = { workspaceId, productId: product.id, environmentId: environment.id }
    if (deployment === undefined && !(yield* repo.wasDeployed(place, undefined))) return yield* unknown
    const releases = yield* repo.history(place, yield* cursorOf(place, query), releasesPageSize)
    const versions = new Set(releases.flatMap(({ version }) => version ?? []))
    const named = [...versions].map((version) => ({ productId: product.id, version }))
    const spelled = named.length === 0 ? [] : yield* repo.spelled(workspaceId, named)
    const commits = spelled.length === 0 ? [] : yield* repo.commits(viewerOf(access), everySpelling(spelled), listed)
    const told = Map.groupBy(commits, ({ version }) => version)
    const byVersion = new Map(
      spelled.map(({ spellings, version }) => {
        const all = spellings.flatMap((one) => told.get(one) ?? [])
        return [version, ofOneVersion(all, listed)]
      })
    )
    return releases.map(({ failed, passed, ...release }) => ({
      ...release,
      commits: release.version === null ? [] : (byVersion.get(release.version) ?? []).map(presentCommit),
      runs: { passed, failed }
    }))
  })
}

const cursorAt = (repo: ReleasesRepo["Service"]) =>
  Effect.fnUntraced(function* (place: ReleasePlace, { before, deployment }: HistoryQuery) {
    if (deployment === undefined) return { before }
    const id = isId(deployment) ? DeploymentId.make(deployment.toLowerCase()) : undefined
    if (id === undefined || !(yield* repo.wasDeployed(place, id))) {
      return yield* NotFound.reference("deployment", deployment)
    }
    return { before, deployment: id }
  })

/** What a version can be: nothing else is looked for. */
const isVersion = Schema.is(Text(200))

const version = ({ products, repo, runs }: Dependencies) =>
  Effect.fn("Releases.version")(function* (productRef: string, version: string) {
    const access = yield* anyRole
    const product = yield* products.find(access.workspace.id, productRef)
    if (product === undefined) return yield* NotFound.of("product", productRef)
    const spelled = isVersion(version)
      ? everySpelling(yield* repo.spelled(access.workspace.id, [{ productId: product.id, version }]))
      : []
    const releases = spelled.length === 0 ? [] : yield* repo.releasesOf(access.workspace.id, spelled)
    if (releases.length === 0) return yield* NotFound.of("version", version)
    const bounds = { count: maxVersionCommits, subject: maxSubject }
    const commits = ofOneVersion(yield* repo.commits(viewerOf(access), spelled, bounds), bounds)
    return {
      product: releases[0]!.product,
      version,
      commits: commits.map(presentCommit),
      environments: inEnvironments(releases),
      runs: yield* runs.ofVersions(access, spelled),
      tickets: ticketsOf(commits).map(({ id, key, number, title }) => ({
        id,
        identifier: ticketIdentifier(key, number),
        title
      }))
    }
  })

/** Versions in each way in which they are written, each once. */
const everySpelling = (spelled: ReadonlyArray<Spelled>): ReadonlyArray<TestedVersion> => {
  const all = spelled.flatMap(({ productId, spellings }) => spellings.map((version) => ({ productId, version })))
  return [...new Map(all.map((one) => [keyOf(one), one])).values()]
}

const keyOf = ({ productId, version }: TestedVersion): string => `${productId}/${version}`

/** The first commits of a version, whichever of its spellings they were told with, each SHA once. */
const ofOneVersion = (commits: ReadonlyArray<FoundCommit>, { count }: CommitBounds): ReadonlyArray<FoundCommit> => {
  const bySha = new Map<string, FoundCommit>()
  for (const commit of commits.toSorted((a, b) => compare(a.id, b.id))) {
    if (!bySha.has(commit.sha)) bySha.set(commit.sha, commit)
  }
  return [...bySha.values()].slice(0, count)
}

const inEnvironments = (releases: ReadonlyArray<LiveRelease>): ProductVersion["environments"] =>
  [...Map.groupBy(releases, ({ environment }) => environment.id).values()]
    .map((there) => ({
      environment: there[0]!.environment,
      releases: there.map(({ at, number, until }) => ({ number, from: at, until }))
    }))
    .toSorted((a, b) => byName(a.environment, b.environment))

const trace = ({ messages, repo, runs, tickets }: Dependencies) =>
  Effect.fn("Releases.trace")(function* (ref: string) {
    const access = yield* anyRole
    const viewer = viewerOf(access)
    const ticket = yield* tickets.find(viewer, ref)
    if (ticket === undefined) return yield* NotFound.of("ticket", ref)
    const commits = yield* repo.commitsNaming(viewer, ticket.id, { count: maxTraced, subject: maxListedSubject })
    const spelled = yield* repo.spelled(viewer.workspaceId, yield* repo.versionsNaming(viewer, ticket.id))
    const versions = everySpelling(spelled)
    const products = [...new Set(versions.map(({ productId }) => productId))]
    const releases = versions.length === 0 ? [] : yield* repo.releasesOf(viewer.workspaceId, versions)
    const deployed = versions.length === 0 ? [] : yield* repo.deployed(viewer.workspaceId, products)
    const tested = yield* runs.ofVersions(access, versions)
    const productsById = new Map([...releases, ...deployed].map(({ product }) => [product.id, productPart(product)]))
    const identifier = identifierOf(ticket)
    return {
      ticket: { id: ticket.id, identifier, title: ticket.title },
      commits: commits.map((commit) => ({
        ...presentCommit(commit),
        product: productsById.get(commit.productId)!,
        version: commit.version
      })),
      releases: releases.slice(-maxTraced).map(presentRelease),
      runs: tested,
      messages: (yield* messages.list(viewer, { ticketId: ticket.id })).map(presentMessage),
      text: textOf(identifier, changesOf(releases, spelled), deployed, tested)
    }
  })

/** The releases without those that only write the commit of the one before in another way. */
const changesOf = (releases: ReadonlyArray<LiveRelease>, spelled: ReadonlyArray<Spelled>) => {
  const spellings = new Map(
    spelled.flatMap(({ productId, spellings }) =>
      spellings.map((version) => [keyOf({ productId, version }), spellings] as const)
    )
  )
  const versions = new Map(releases.map(({ deploymentId, number, version }) => [`${deploymentId}/${number}`, version]))
  return releases.filter(({ deploymentId, number, product, version }) => {
    const previous = versions.get(`${deploymentId}/${number - 1}`)
    return previous === undefined || !spellings.get(keyOf({ productId: product.id, version }))?.includes(previous)
  })
}

const textOf = (
  identifier: string,
  releases: ReadonlyArray<LiveRelease>,
  deployed: ReadonlyArray<DeployedVersion>,
  runs: ReadonlyArray<TestRunSummary>
): string =>
  traceText(
    identifier,
    deployed.map(({ deploymentId, environment, origin, product }) => ({
      product: product.name,
      environment: environment.name,
      class: environment.class,
      origin,
      releases: releases.filter((release) => release.deploymentId === deploymentId)
    })),
    // What was muted says nothing against a fix, and a run of another address nothing of it.
    runs.filter(testsDeployment).map(({ gateResult, number, product, result }) => ({
      number,
      product: product.name,
      result: gateResult ?? result
    }))
  )

const productPart = ({ id, name, slug }: LiveRelease["product"]) => ({ id, slug, name })

const presentRelease = ({ at, environment, number, product, until, version }: LiveRelease) => ({
  product: productPart(product),
  environment: {
    id: environment.id,
    slug: environment.slug,
    name: environment.name,
    class: environment.class
  },
  number,
  version,
  at,
  until
})

const presentCommit = (commit: FoundCommit): ReleasedCommit => ({
  sha: commit.sha,
  subject: commit.subject,
  ...(commit.author === null ? {} : { author: commit.author }),
  ...(commit.at === null ? {} : { at: commit.at }),
  tickets: commit.tickets.toSorted(byIdentifier).map(({ key, number }) => ticketIdentifier(key, number))
})

/** The tickets that the commits name, each once. */
const ticketsOf = (commits: ReadonlyArray<FoundCommit>): ReadonlyArray<NamedTicket> =>
  [...new Map(commits.flatMap(({ tickets }) => tickets).map((ticket) => [ticket.id, ticket])).values()].toSorted(
    byIdentifier
  )

const byIdentifier = (a: NamedTicket, b: NamedTicket): number => compare(a.key, b.key) || a.number - b.number
