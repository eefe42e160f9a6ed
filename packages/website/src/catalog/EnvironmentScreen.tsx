import { useQuery } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useRole } from "../api/session.ts"
import { Badge } from "../ui/Badge.tsx"
import { Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { Deployed } from "./Deployed.tsx"

const EnvironmentApprovals = later(() => import("./EnvironmentApprovals.tsx"))
const CatalogMenu = later(() => import("./CatalogMenu.tsx"))

/** An environment: what runs there, and how the newest runs of tests in it went. */
const EnvironmentScreen = ({ environment, slug }: { readonly slug: string; readonly environment: string }) => {
  const query = useQuery({
    queryKey: workspaceKey(slug, "environments", "one", environment),
    queryFn: ({ signal }) => client.environments.get({ params: { slug, environment } }, { signal })
  })
  const isAdmin = mayAct(useRole(slug), "admin")
  const { data } = query
  return (
    <>
      <Header
        actions={isAdmin && data?.archived === false && <CatalogMenu slug={slug} subject={data} />}
        crumbs={[{ label: "Deployments", link: { to: "/w/$slug/deployments", params: { slug } } }]}
        state={
          <>
            {data?.class === "production" && <Badge tone="warning">production</Badge>}
            {data?.approvals === true && <Badge tone="warning">needs approvals</Badge>}
            {data?.archived === true && <Badge tone="warning">archived</Badge>}
          </>
        }
        title={data?.name ?? environment}
      />
      <Loaded query={query} rows={6}>
        {(found) => (
          <>
            <Deployed
              filters={{ environment: found.slug }}
              isOf={(one) => one.environment.slug === found.slug}
              nameOf={({ product }) => product.name}
              slug={slug}
            />
            {found.approvals && <EnvironmentApprovals environment={found} slug={slug} />}
          </>
        )}
      </Loaded>
    </>
  )
}

export default EnvironmentScreen
