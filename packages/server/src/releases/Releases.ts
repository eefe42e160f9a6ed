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
import { identifierOf } from "../planning/TicketRefs.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { viewerOf } from "../planning/Viewer.ts"
import { TestRuns } from "../runs/TestRuns.ts"
import {
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
    const commits = named.length === 0 ? [] : yield* repo.commits(viewerOf(access), named, listed)
    const byVersion = Map.groupBy(commits, ({ version }) => version)
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
    const named = [{ productId: product.id, version }]
    const releases = isVersion(version) ? yield* repo.releasesOf(access.workspace.id, named) : []
    if (releases.length === 0) return yield* NotFound.of("version", version)
    const commits = yield* repo.commits(viewerOf(access), named, { count: maxVersionCommits, subject: maxSubject })
    return {
      product: releases[0]!.product,
      version,
      commits: commits.map(presentCommit),
      environments: inEnvironments(releases),
      runs: yield* runs.ofVersions(access, named),
      tickets: ticketsOf(commits).map(({ id, key, number, title }) => ({
        id,
        identifier: ticketIdentifier(key, number),
        title
      }))
    }
  })

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
    const versions = yield* repo.versionsNaming(viewer, ticket.id)
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
      text: textOf(identifier, releases, deployed, tested)
    }
  })

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
