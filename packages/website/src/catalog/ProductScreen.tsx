import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useRole } from "../api/session.ts"
import { Badge } from "../ui/Badge.tsx"
import { Facts } from "../ui/Facts.tsx"
import { Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { Deployed } from "./Deployed.tsx"
import { EnvironmentName } from "./EnvironmentName.tsx"

const CatalogMenu = later(() => import("./CatalogMenu.tsx"))

const more = "text-accent hover:underline"

/** A product: what it is, where it runs, and how its tests do. */
const ProductScreen = ({ product, slug }: { readonly slug: string; readonly product: string }) => {
  const query = useQuery({
    queryKey: workspaceKey(slug, "products", "one", product),
    queryFn: ({ signal }) => client.products.get({ params: { slug, product } }, { signal })
  })
  const isAdmin = mayAct(useRole(slug), "admin")
  const { data } = query
  return (
    <>
      <Header
        actions={isAdmin && data?.archived === false && <CatalogMenu slug={slug} subject={data} />}
        crumbs={[{ label: "Deployments", link: { to: "/w/$slug/deployments", params: { slug } } }]}
        state={data?.archived === true && <Badge tone="warning">archived</Badge>}
        title={data?.name ?? product}
      />
      <Loaded query={query} rows={6}>
        {({ baseBranch, repository, slug: name, type }) => (
          <>
            <Facts
              facts={[
                ["Type", type],
                ["Repository", repository ?? "none"],
                ["Base branch", baseBranch],
                [
                  "More of it",
                  <span className="flex flex-wrap gap-x-4" key="more">
                    <Link className={more} params={{ slug }} search={{ product: name }} to="/w/$slug/tests">
                      Tests
                    </Link>
                    <Link className={more} params={{ slug }} search={{ product: name }} to="/w/$slug/trends">
                      Trends
                    </Link>
                    <Link className={more} params={{ slug }} search={{ product: name }} to="/w/$slug/vault">
                      Secrets
                    </Link>
                  </span>
                ]
              ]}
            />
            <Deployed
              filters={{ product: name }}
              isOf={(one) => one.product.slug === name}
              nameOf={({ environment }) => <EnvironmentName environment={environment} />}
              slug={slug}
            />
          </>
        )}
      </Loaded>
    </>
  )
}

export default ProductScreen
