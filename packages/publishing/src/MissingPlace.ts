import type { PromiseClient } from "@delivery/client"
import { isNamed } from "@delivery/domain/Named"
import type { Settings } from "./Settings.ts"
import { shellWord } from "./Shell.ts"

/** A run needs a product, an environment, and a deployment of the one in the other, which people make once. */

/** That somebody makes what a path lists, and by which command. */
const making = ({ url, workspace }: Settings, path: string, body: object): string => {
  const address = `${url.replace(/\/+$/, "")}/v1/workspaces/${encodeURIComponent(workspace)}/${path}`
  return `makes it, with their API key in DELIVERY_API_KEY: \`curl --json ${shellWord(JSON.stringify(body))} -H "Authorization: Bearer $DELIVERY_API_KEY" ${shellWord(address)}\``
}

const isActive = ({ archivedAt }: { readonly archivedAt: string | null }): boolean => archivedAt === null

/** Which ones there are, since the name of one may be mistyped. */
const existing = (all: ReadonlyArray<{ readonly slug: string }>): string =>
  all.length === 0
    ? ""
    : `, which has ${all
        .slice(0, 20)
        .map(({ slug }) => slug)
        .join(", ")}${all.length > 20 ? ", …" : ""}`

/** What of the place of a run is missing, in sentences with the command that makes it; undefined where the service does not say. */
export const missingPlace = async (
  client: PromiseClient,
  settings: Settings,
  signal: AbortSignal | undefined
): Promise<string | undefined> => {
  const { baseUrl, environment, product, workspace: slug } = settings
  const query = { archived: "include" } as const
  const [products, environments] = await Promise.all([
    client.safe.products.list({ params: { slug }, query }, { signal }),
    client.safe.environments.list({ params: { slug }, query }, { signal })
  ])
  if (!products.ok || !environments.ok) return undefined
  if (!products.value.products.some((one) => isNamed(one, product))) {
    const body = { slug: product, name: product, type: "website" }
    const there = existing(products.value.products.filter(isActive))
    return `There is no product "${product}" in the workspace ${slug}${there}. An admin ${making(settings, "products", body)}.`
  }
  if (!environments.value.environments.some((one) => isNamed(one, environment))) {
    // Others may read the values of secrets where it is not production.
    const body = {
      slug: environment,
      name: environment,
      class: /prod|live/i.test(environment) ? "production" : "non-production"
    }
    const there = existing(environments.value.environments.filter(isActive))
    return `There is no environment "${environment}" in the workspace ${slug}${there}. An admin ${making(settings, "environments", body)}.`
  }
  const body = { product, environment, baseUrl: baseUrl ?? "https://ADDRESS" }
  return `The product "${product}" has no deployment in "${environment}". A member ${making(settings, "deployments", body)}.`
}
