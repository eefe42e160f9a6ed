import type { Archived } from "@delivery/domain/Doc"
import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { Member } from "@delivery/domain/identity/Member"
import type { PersonId, ProjectId, WorkspaceId } from "@delivery/domain/Ids"
import { byName, compare } from "@delivery/domain/Order"
import type {
  CreateProject,
  Project,
  ProjectProduct,
  ProjectSummary,
  ReorderProject,
  UpdateProject
} from "@delivery/domain/planning/Project"
import { firstCharacters, fits, isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { slugInUse } from "../catalog/Archivables.ts"
import { type ProductRow, ProductsRepo } from "../catalog/ProductsRepo.ts"
import { nextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import type { UniqueViolation } from "../storage/Sql.ts"
import { Storage } from "../storage/Storage.ts"
import { type HeldProject, type ProjectRow, ProjectsRepo } from "./ProjectsRepo.ts"
import { rankAt } from "./RankedList.ts"
import { type TeamRow, TeamsRepo } from "./TeamsRepo.ts"
import { defaultViewsOf, ViewsRepo } from "./ViewsRepo.ts"
import { type Viewer, viewerOf } from "./Visibility.ts"

/** Projects (service document, Projects; contract, section 8). One without a team that the caller sees is not there. */
export class Projects extends Context.Service<
  Projects,
  {
    readonly list: (filter: {
      readonly team?: string | undefined
      readonly product?: string | undefined
      readonly archived?: Archived | undefined
    }) => Effect.Effect<ReadonlyArray<ProjectSummary>, NotFound, Caller>
    readonly create: (input: CreateProject) => Effect.Effect<Project, NotFound | Forbidden | Conflict, Caller>
    readonly get: (project: string) => Effect.Effect<Project, NotFound, Caller>
    readonly update: (
      project: string,
      input: UpdateProject
    ) => Effect.Effect<Project, NotFound | Forbidden | Conflict, Caller>
    readonly reorder: (
      project: string,
      place: ReorderProject
    ) => Effect.Effect<Project, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly archive: (project: string) => Effect.Effect<Project, NotFound | Forbidden, Caller>
    readonly restore: (project: string) => Effect.Effect<Project, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/planning/Projects") {
  static readonly layer = Layer.effect(
    Projects,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* ProjectsRepo
      const teams = yield* TeamsRepo
      const products = yield* ProductsRepo
      const members = yield* MembersRepo
      const views = yield* ViewsRepo
      const events = yield* Events

      const findLead = Effect.fnUntraced(function* (workspaceId: WorkspaceId, ref: string) {
        const member = isId(ref)
          ? yield* members.find(workspaceId, ref as PersonId)
          : yield* members.findByEmail(workspaceId, ref.trim().toLowerCase())
        return member?.active === true ? member : yield* NotFound.reference("lead")
      })

      const findTeams = Effect.fnUntraced(function* (viewer: Viewer, keys: ReadonlyArray<string>) {
        const found = yield* teams.findAll(viewer, keys)
        return found.length === new Set(keys).size ? found : yield* NotFound.reference("teams")
      })

      const findProducts = Effect.fnUntraced(function* (workspaceId: WorkspaceId, refs: ReadonlyArray<string>) {
        if (refs.length === 0) return []
        const all = yield* products.list(workspaceId)
        const byRef = new Map(
          all.flatMap((product) => [[product.id as string, product] as const, [product.slug, product]])
        )
        const found = new Set(refs.map((ref) => byRef.get(ref)))
        return found.has(undefined)
          ? yield* NotFound.reference("products")
          : [...found].flatMap((product) => product ?? [])
      })

      /** What the body of a new or changed project refers to; undefined for what it leaves out. */
      const resolve = Effect.fnUntraced(function* (viewer: Viewer, input: UpdateProject) {
        const { workspaceId } = viewer
        const lead: Member | null | undefined =
          typeof input.lead === "string" ? yield* findLead(workspaceId, input.lead) : input.lead
        return {
          lead,
          teams: input.teams && (yield* findTeams(viewer, input.teams)),
          products: input.products && (yield* findProducts(workspaceId, input.products))
        }
      })

      const current = (viewer: Viewer, slug: string) =>
        Effect.map(repo.find(viewer, slug), (project) => shown(project!))

      const update = Effect.fnUntraced(function* (by: Access, slug: string, input: UpdateProject) {
        const viewer = viewerOf(by)
        const before = yield* repo.lock(viewer, slug)
        if (before === undefined) return yield* NotFound.of("project")
        const refs = yield* resolve(viewer, input)
        if (before.archivedAt !== null) return yield* archivedProject
        const teams = changedLinks(
          before.teams.filter(({ isSeen }) => isSeen),
          refs.teams
        )
        const products = changedLinks(before.products, refs.products)
        yield* refuseArchived({ teams: teams.added, products: products.added })

        const { lead: _, products: __, teams: ___, ...fields } = input
        const lead = refs.lead === undefined ? before.lead : refs.lead
        const after = { ...before, ...fields, lead, products: refs.products ?? before.products }
        const changes = changesBetween(toldOf(before), toldOf(after), ...toldFields).map(shortened)
        const isUnchanged = changes.length === 0 && teams.added.length + teams.removed.length === 0
        if (isUnchanged) return yield* current(viewer, slug)

        const ids = <Id extends string>(rows: ReadonlyArray<{ readonly id: Id }>) => rows.map(({ id }) => id)
        if (teams.removed.length + products.removed.length > 0) {
          yield* repo
            .unlink(before, { teams: ids(teams.removed), products: ids(products.removed) })
            .pipe(Effect.catchTag("HoldsTickets", () => Effect.fail(holdsTickets(teams.removed))))
        }
        if (teams.added.length + products.added.length > 0) {
          yield* repo.link(before, { teams: ids(teams.added), products: ids(products.added) })
        }
        yield* repo.update(before.id, {
          ...fields,
          ...(refs.lead === undefined ? {} : { leadId: refs.lead?.id ?? null }),
          updatedAt: yield* nextUpdate(before)
        })

        const subject = subjectOf(after)
        const linked = before.teams.filter(({ id }) => !teams.removed.some((team) => team.id === id))
        const audience = [...ids(linked), ...ids(teams.added)]
        if (changes.length > 0) yield* events.record(by, { kind: "project_updated", subject, changes, teams: audience })
        // Each told to those alone who see the team.
        for (const [team, from, to] of [
          ...teams.removed.toSorted(byKey).map((team) => [team, team.key, null] as const),
          ...teams.added.toSorted(byKey).map((team) => [team, null, team.key] as const)
        ]) {
          yield* events.record(by, {
            kind: "project_updated",
            subject,
            changes: [{ field: "teams", from, to }],
            teams: [team.id]
          })
        }
        return yield* current(viewer, after.slug)
      })

      return Projects.of({
        list: Effect.fn("Projects.list")(function* ({ archived = "exclude", product, team }) {
          const by = yield* anyRole
          const viewer = viewerOf(by)
          const teamId = team === undefined ? undefined : (yield* teams.findAll(viewer, [team]))[0]?.id
          if (team !== undefined && teamId === undefined) return yield* NotFound.reference("team")
          const productId = product === undefined ? undefined : (yield* products.find(viewer.workspaceId, product))?.id
          if (product !== undefined && productId === undefined) return yield* NotFound.reference("product")
          return (yield* repo.list(viewer, { teamId, productId, archived })).map(shown)
        }),

        create: Effect.fn("Projects.create")(
          function* (input: CreateProject) {
            const by = yield* atLeast("member")
            const viewer = viewerOf(by)
            const refs = yield* resolve(viewer, input)
            const linked = { teams: refs.teams ?? [], products: refs.products ?? [] }
            yield* refuseArchived(linked)
            const id = yield* nextId<ProjectId>()
            return yield* storage
              .transaction(
                Effect.gen(function* () {
                  const order = yield* repo.lockOrder(by.workspace.id)
                  const now = timestamp(yield* Clock.currentTimeMillis)
                  const project: ProjectRow = {
                    id,
                    workspaceId: by.workspace.id,
                    slug: input.slug,
                    name: input.name,
                    summary: input.summary ?? null,
                    status: input.status ?? "planned",
                    leadId: refs.lead?.id ?? null,
                    targetDate: input.targetDate ?? null,
                    document: input.document ?? null,
                    rank: yield* rankAt(order, { id, rank: null }, { before: null }),
                    archivedAt: null,
                    createdAt: now,
                    updatedAt: now
                  }
                  const teams = linked.teams.map(({ id }) => id)
                  yield* repo.insert(project, { teams, products: linked.products.map(({ id }) => id) })
                  yield* views.insert(yield* defaultViewsOf(project, by.actor))
                  yield* events.record(by, { kind: "project_created", subject: subjectOf(project), teams })
                  return yield* current(viewer, project.slug)
                })
              )
              .pipe(Effect.catchTag("UniqueViolation", inUse(input)))
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        get: Effect.fn("Projects.get")(function* (slug: string) {
          const by = yield* anyRole
          const project = yield* repo.find(viewerOf(by), slug)
          return project === undefined ? yield* NotFound.of("project") : shown(project)
        }),

        update: Effect.fn("Projects.update")(function* (slug: string, input: UpdateProject) {
          const by = yield* atLeast("member")
          return yield* storage
            .transaction(update(by, slug, input))
            .pipe(Effect.catchTag("UniqueViolation", inUse(input)))
        }),

        reorder: Effect.fn("Projects.reorder")(function* (slug: string, place: ReorderProject) {
          const by = yield* atLeast("member")
          const viewer = viewerOf(by)
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const order = yield* repo.lockOrder(by.workspace.id)
                const before = yield* repo.lock(viewer, slug)
                if (before === undefined) return yield* NotFound.of("project")
                const side = place.before === undefined ? "after" : "before"
                const ref = place.before ?? place.after ?? null
                const anchor = ref === null ? null : yield* repo.findPlace(viewer, ref)
                if (anchor === undefined) return yield* NotFound.reference(side)
                if (anchor?.id === before.id) return yield* InvalidInput.at(side, "A project cannot go beside itself.")
                if (before.archivedAt !== null) return yield* archivedProject
                if (anchor !== null && anchor.archivedAt !== null) {
                  return yield* new Conflict({ message: "The other project is archived.", reason: "archived" })
                }
                const rank = yield* rankAt(order, before, side === "before" ? { before: anchor } : { after: anchor })
                if (rank !== before.rank) {
                  yield* repo.update(before.id, { rank, updatedAt: yield* nextUpdate(before) })
                  yield* events.record(by, { kind: "project_reordered", ...about(before) })
                }
                return yield* current(viewer, slug)
              })
            )
            .pipe(Effect.catchTag("UniqueViolation", Effect.die))
        }),

        archive: Effect.fn("Projects.archive")(function* (slug: string) {
          const by = yield* atLeast("member")
          const viewer = viewerOf(by)
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const before = yield* repo.lock(viewer, slug)
                if (before === undefined) return yield* NotFound.of("project")
                if (before.archivedAt === null) {
                  const now = yield* nextUpdate(before)
                  yield* repo.update(before.id, { archivedAt: now, updatedAt: now })
                  yield* events.record(by, { kind: "project_archived", ...about(before) })
                }
                return yield* current(viewer, slug)
              })
            )
            .pipe(Effect.catchTag("UniqueViolation", Effect.die))
        }),

        restore: Effect.fn("Projects.restore")(function* (slug: string) {
          const by = yield* atLeast("member")
          const viewer = viewerOf(by)
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const order = yield* repo.lockOrder(by.workspace.id)
                const before = yield* repo.lock(viewer, slug)
                if (before === undefined) return yield* NotFound.of("project")
                if (before.archivedAt !== null) {
                  const rank = yield* rankAt(order, before, { before: null })
                  yield* repo.update(before.id, { rank, archivedAt: null, updatedAt: yield* nextUpdate(before) })
                  yield* events.record(by, { kind: "project_restored", ...about(before) })
                }
                return yield* current(viewer, slug)
              })
            )
            .pipe(Effect.catchTag("UniqueViolation", Effect.die))
        })
      })
    })
  )
}

const shown = <A extends ProjectSummary>(project: A): A => ({
  ...project,
  teams: project.teams.toSorted(byName),
  products: project.products.toSorted(byName)
})

const subjectOf = (project: Pick<ProjectRow, "id" | "slug" | "name">) => ({
  type: "project",
  id: project.id,
  label: project.name,
  path: `projects/${project.slug}`
})

/** The subject of an event about a project, and who sees it. */
const about = (project: HeldProject) => ({
  subject: subjectOf(project),
  teams: project.teams.map(({ id }) => id)
})

/** An archived project takes no changes until it is restored. */
export const archivedProject = new Conflict({ message: "The project is archived.", reason: "archived" })

/** What is archived takes no new projects. */
const refuseArchived = ({
  products,
  teams
}: {
  readonly teams: ReadonlyArray<Pick<TeamRow, "key" | "archivedAt">>
  readonly products: ReadonlyArray<Pick<ProductRow, "slug" | "archivedAt">>
}): Effect.Effect<void, Conflict> => {
  const archived = [
    ...teams.map((team) => ({ ...team, label: `team ${team.key}` })),
    ...products.map((product) => ({ ...product, label: `product ${product.slug}` }))
  ].find(({ archivedAt }) => archivedAt !== null)
  return archived === undefined
    ? Effect.void
    : Effect.fail(new Conflict({ message: `The ${archived.label} is archived.`, reason: "archived" }))
}

const holdsTickets = (teams: ReadonlyArray<{ readonly key: string }>) =>
  new Conflict({
    message: `The project holds tickets of ${teams.length === 1 ? "the team" : "one of the teams"} ${teams
      .toSorted(byKey)
      .map(({ key }) => key)
      .join(", ")}.`,
    reason: "team_has_tickets"
  })

const inUse =
  (input: UpdateProject) =>
  ({ constraint }: UniqueViolation) => {
    switch (constraint) {
      case "projects_slug_key":
        return slugInUse(input.slug ?? "")()
      case "projects_name_key":
        return Effect.fail(
          new Conflict({ message: `The name "${input.name}" is already in use.`, reason: "name_in_use" })
        )
      default:
        return Effect.die(new Error(`Unexpected violation of ${constraint}`))
    }
  }

const byKey = (a: { readonly key: string }, b: typeof a): number => compare(a.key, b.key)

/** What comes and what goes where `next`, if it is given, takes the place of `present`. */
const changedLinks = <Present extends { readonly id: string }, Next extends { readonly id: string }>(
  present: ReadonlyArray<Present>,
  next: ReadonlyArray<Next> | undefined
): { readonly added: ReadonlyArray<Next>; readonly removed: ReadonlyArray<Present> } => {
  if (next === undefined) return { added: [], removed: [] }
  const [before, after] = [new Set(present.map(({ id }) => id)), new Set(next.map(({ id }) => id))]
  return {
    added: next.filter(({ id }) => !before.has(id)),
    removed: present.filter(({ id }) => !after.has(id))
  }
}

/** The fields of which an event tells, as it shows them. Teams are told of apart. */
const toldOf = (
  project: Pick<ProjectRow, "slug" | "name" | "summary" | "status" | "targetDate" | "document"> & {
    readonly lead: { readonly email: string } | null
    readonly products: ReadonlyArray<ProjectProduct>
  }
) => ({
  ...project,
  lead: project.lead?.email ?? null,
  products:
    project.products
      .map(({ slug }) => slug)
      .toSorted()
      .join(", ") || null
})
const toldFields = ["slug", "name", "summary", "status", "lead", "targetDate", "products", "document"] as const

/** Longest text of an event's change. */
const maxToldLength = 200

const shortened = ({ field, from, to }: Change): Change => {
  const short = (text: string | null) =>
    text === null || fits(text, maxToldLength) ? text : `${firstCharacters(text, maxToldLength - 1)}…`
  return { field, from: short(from), to: short(to) }
}
