import { Conflict, NotFound } from "@delivery/domain/Errors"
import type { Member } from "@delivery/domain/identity/Member"
import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { UpdateProject } from "@delivery/domain/planning/Project"
import { addressKey, isId } from "@delivery/domain/Text"
import { Effect } from "effect"
import type { ProductRow, ProductsRepo } from "../catalog/ProductsRepo.ts"
import type { MembersRepo } from "../identity/MembersRepo.ts"
import type { TeamRow, TeamsRepo } from "./TeamsRepo.ts"
import type { Viewer } from "./Viewer.ts"

/** What the body of a new or changed project refers to. Undefined is what the body leaves out. */
export interface ProjectReferences {
  readonly lead: Member | null | undefined
  readonly teams: ReadonlyArray<TeamRow> | undefined
  readonly products: ReadonlyArray<ProductRow> | undefined
}

interface Dependencies {
  readonly teams: TeamsRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly members: MembersRepo["Service"]
}

/** Looks up what a body refers to. `NotFound` names the field. */
export const resolveReferences = Effect.fnUntraced(function* (
  dependencies: Dependencies,
  viewer: Viewer,
  input: Pick<UpdateProject, "lead" | "teams" | "products">
) {
  const references: ProjectReferences = {
    lead: typeof input.lead === "string" ? yield* findLead(dependencies, viewer.workspaceId, input.lead) : input.lead,
    teams: input.teams && (yield* findTeams(dependencies, viewer, input.teams)),
    products: input.products && (yield* findProducts(dependencies, viewer.workspaceId, input.products))
  }
  return references
})

/** An active member, by id or email address. */
const findLead = Effect.fnUntraced(function* ({ members }: Dependencies, workspaceId: WorkspaceId, ref: string) {
  const member = isId(ref)
    ? yield* members.find(workspaceId, ref as PersonId)
    : yield* members.findByEmail(workspaceId, addressKey(ref.trim()))
  return member?.active === true ? member : yield* NotFound.reference("lead", ref)
})

const findTeams = Effect.fnUntraced(function* ({ teams }: Dependencies, viewer: Viewer, keys: ReadonlyArray<string>) {
  const found = yield* teams.findAll(viewer, keys)
  const foundKeys = new Set(found.map(({ key }) => key))
  const missing = keys.find((key) => !foundKeys.has(key))
  return missing === undefined ? found : yield* NotFound.reference("teams", missing)
})

/** By slug or id, each once. */
const findProducts = Effect.fnUntraced(function* (
  { products }: Dependencies,
  workspaceId: WorkspaceId,
  refs: ReadonlyArray<string>
) {
  if (refs.length === 0) return []
  const all = yield* products.list(workspaceId)
  const byRef = new Map(all.flatMap((product) => [[product.id as string, product] as const, [product.slug, product]]))
  const missing = refs.find((ref) => !byRef.has(ref))
  if (missing !== undefined) return yield* NotFound.reference("products", missing)
  return [...new Set(refs.map((ref) => byRef.get(ref)!))]
})

/** Archived teams and products cannot be linked to a project. */
export const refuseArchived = ({
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
  return archived === undefined ? Effect.void : Effect.fail(Conflict.archived(archived.label))
}
