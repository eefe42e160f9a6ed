import type { TestRule } from "@delivery/domain/flow/TestRule"
import { useQuery } from "@tanstack/react-query"
import { environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { membersQuery } from "../identity/queries.ts"
import { useOwners } from "../planning/owners.ts"
import { agentsQuery, projectsQuery, teamsQuery } from "../planning/queries.ts"
import { latestRunsQuery } from "../runs/queries.ts"
import type { RuleNames } from "./words.ts"

type Named = Pick<TestRule, "product" | "environment" | "team" | "project" | "owner">

const wasRevoked = "owner was revoked"

/** What rules refer to, by the names that people know. */
export const useRuleNames = (slug: string) => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  const { data: teams } = useQuery(teamsQuery(slug))
  const { data: projects } = useQuery(projectsQuery(slug))
  const { data: members } = useQuery(membersQuery(slug))
  const { data: runs } = useQuery(latestRunsQuery(slug))
  const { data: agents } = useQuery(agentsQuery(slug))
  const owners = useOwners(slug)
  const ownerOf = (id: string): string => {
    const known = owners.find((one) => one.owner.id === id)
    // Nobody is said to have left before it is known who is there.
    if (known === undefined && (members === undefined || agents === undefined)) return "its owner"
    if (known !== undefined) return known.label
    const person = members?.members.find((one) => one.id === id)
    // Who is no member is an agent.
    if (person === undefined) return "a revoked agent"
    return `${person.name}, who ${person.active ? "only reads" : "has left"}`
  }
  /** Why the owner of a rule gets no tickets any more; undefined where they do, and while that is not known. */
  const goneOwner = (owner: string | null): string | undefined => {
    if (owner === null || members === undefined || agents === undefined) return undefined
    if (owners.some((one) => one.owner.id === owner)) return undefined
    const person = members.members.find(({ id }) => id === owner)
    if (person === undefined) return wasRevoked
    return person.active ? undefined : "owner has left"
  }
  const nameOf = (all: ReadonlyArray<{ readonly slug: string; readonly name: string }> | undefined, ref: string) =>
    all?.find((one) => one.slug === ref)?.name ?? ref
  return {
    products: products?.products ?? [],
    environments: environments?.environments ?? [],
    teams: teams?.teams ?? [],
    projects: projects?.projects ?? [],
    owners,
    /** The name of who owns the tickets of a rule, also of one who may not be chosen any more. */
    ownerOf,
    goneOwner,
    /** What a new rule is likely to be about: the product of the newest run, and a team that works on a product. */
    likely: {
      product: (
        products?.products.find(({ archived, slug }) => !archived && slug === runs?.runs[0]?.product.slug) ??
        products?.products.find(({ archived }) => !archived)
      )?.slug,
      teamOf: (product: string) =>
        (
          teams?.teams.find(({ key }) =>
            projects?.projects.some(
              (project) =>
                project.archivedAt === null &&
                project.products.some(({ slug }) => slug === product) &&
                project.teams.some((team) => team.key === key)
            )
          ) ?? teams?.teams[0]
        )?.key
    },
    isAgent: (owner: string | null): boolean => owners.find((one) => one.owner.id === owner)?.owner.kind === "agent",
    /** Undefined while that is not known. */
    hasLeft: (person: string): boolean | undefined =>
      members === undefined ? undefined : !members.members.some(({ active, id }) => active && id === person),
    namesOf: ({ environment, owner, product, project, team }: Named): RuleNames => ({
      product: nameOf(products?.products, product),
      environment: environment === null ? null : nameOf(environments?.environments, environment),
      team: teams?.teams.find(({ key }) => key === team)?.name ?? team,
      project: project === null ? null : nameOf(projects?.projects, project),
      owner: owner === null ? null : ownerOf(owner),
      isOwnerRevoked: goneOwner(owner) === wasRevoked
    })
  }
}

export type RuleThings = ReturnType<typeof useRuleNames>
