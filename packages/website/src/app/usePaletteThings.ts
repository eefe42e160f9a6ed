import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { deploymentsQuery, environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { membersQuery } from "../identity/queries.ts"
import { projectsQuery, teamsQuery, viewsQuery } from "../planning/queries.ts"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { latestRunsQuery } from "../runs/queries.ts"
import { filteredLink, savedFiltersQuery } from "../runs/savedFilters.ts"
import { vaultQuery } from "../vault/queries.ts"
import type { Command } from "./palette.ts"

/** What there is to go to, of what is read whole. */

/** What has a name of its own. */
const useNamed = (slug: string): ReadonlyArray<Command> => {
  const navigate = useNavigate()
  const { data: projects } = useQuery(projectsQuery(slug))
  const { data: teams } = useQuery(teamsQuery(slug))
  const { data: views } = useQuery(viewsQuery(slug))
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  const { data: members } = useQuery(membersQuery(slug))
  return [
    ...(products?.products ?? []).map((one): Command => ({
      id: one.id,
      label: one.name,
      hint: "product",
      icon: "deployments",
      run: () => void navigate({ to: "/w/$slug/$", params: { slug, _splat: `products/${one.slug}` } })
    })),
    ...(environments?.environments ?? []).map((one): Command => ({
      id: one.id,
      label: one.name,
      hint: one.approvals ? "environment, needs approvals" : "environment",
      icon: "deployments",
      run: () => void navigate({ to: "/w/$slug/$", params: { slug, _splat: `environments/${one.slug}` } })
    })),
    ...(projects?.projects ?? []).map((one): Command => ({
      id: one.id,
      label: one.name,
      hint: "project",
      icon: "project",
      run: () => void navigate({ to: "/w/$slug/projects/$project", params: { slug, project: one.slug } })
    })),
    ...(views?.views ?? []).map((one): Command => ({
      id: one.id,
      label: one.name,
      hint: "view",
      icon: "filter",
      run: () => void navigate({ to: "/w/$slug/views/$view", params: { slug, view: one.id } })
    })),
    ...(teams?.teams ?? []).map((one): Command => ({
      id: one.id,
      label: one.name,
      hint: "team",
      icon: "people",
      run: () => void navigate({ to: "/w/$slug/teams/$team", params: { slug, team: one.key } })
    })),
    ...(members?.members ?? [])
      .filter(({ active }) => active)
      .map((one): Command => ({
        id: one.id,
        label: one.name,
        hint: "member",
        icon: "person",
        words: one.email,
        run: () => void navigate({ to: "/w/$slug/settings/members", params: { slug } })
      }))
  ]
}

/** The filters that were saved of a list. */
const useSavedFilters = (slug: string): ReadonlyArray<Command> => {
  const navigate = useNavigate()
  const { data: ofRuns } = useQuery(savedFiltersQuery(slug, "runs"))
  const { data: ofTests } = useQuery(savedFiltersQuery(slug, "tests"))
  return [...(ofRuns?.savedFilters ?? []), ...(ofTests?.savedFilters ?? [])].map((one): Command => ({
    id: one.id,
    label: one.name,
    hint: `filter of ${one.screen}`,
    icon: "filter",
    run: () => void navigate(filteredLink(slug, one))
  }))
}

/** What it tested and where is a hint. */
export const hintOfRun = ({ environment, git, product }: Pick<TestRunSummary, "environment" | "git" | "product">) =>
  `${product.name} · ${environment.name} · ${git.subject}`

export const useRunCommand = (slug: string) => {
  const navigate = useNavigate()
  return (number: number): Pick<Command, "icon" | "label" | "run"> => ({
    label: `Run ${number}`,
    icon: "runs",
    run: () => void navigate({ to: "/w/$slug/test-runs/$run", params: { slug, run: String(number) } })
  })
}

/** What belongs to products. */
const useMade = (slug: string): ReadonlyArray<Command> => {
  const navigate = useNavigate()
  const commandOfRun = useRunCommand(slug)
  const { data: runs } = useQuery(latestRunsQuery(slug))
  const { data: deployments } = useQuery(deploymentsQuery(slug))
  const { data: vault } = useQuery(vaultQuery(slug))
  return [
    ...(runs?.runs ?? []).map((run): Command => ({
      ...commandOfRun(run.number),
      id: run.id,
      hint: hintOfRun(run),
      isPart: true
    })),
    ...(deployments?.deployments ?? []).map((one): Command => ({
      id: one.id,
      label: `${one.product.name} in ${one.environment.name}`,
      hint: "deployment",
      icon: "deployments",
      run: () =>
        void navigate({
          to: "/w/$slug/deployments/$product/$environment",
          params: { slug, product: one.product.slug, environment: one.environment.slug }
        })
    })),
    ...(vault?.secrets ?? []).map((one): Command => ({
      id: one.id,
      label: one.name,
      hint: `secret of ${one.product.name}`,
      isPart: true,
      icon: "vault",
      run: () =>
        void navigate({
          to: "/w/$slug/products/$product/secrets/$name",
          params: { slug, product: one.product.slug, name: one.name }
        })
    }))
  ]
}

export const usePaletteThings = (slug: string): ReadonlyArray<Command> => [
  ...useNamed(slug),
  ...useSavedFilters(slug),
  ...useMade(slug)
]
