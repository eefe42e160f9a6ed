import { Link } from "@tanstack/react-router"
import { tabClass, Tabs } from "../ui/Header.tsx"
import type { CasesTarget } from "./CasesFilterBar.tsx"

/** The tests of a product, how they do over time, and how its versions come to production. */
export const CasesTabs = ({ slug, target }: { readonly slug: string; readonly target: CasesTarget }) => (
  <Tabs label="Tests over time">
    <Link
      activeOptions={{ exact: true, includeSearch: false }}
      className={tabClass}
      params={{ slug }}
      search={target}
      to="/w/$slug/tests"
    >
      Tests
    </Link>
    <Link
      activeOptions={{ exact: true }}
      className={tabClass}
      params={{ slug, _splat: target.product === undefined ? "muted-tests" : `products/${target.product}/muted-tests` }}
      to="/w/$slug/$"
    >
      Muted
    </Link>
    <Link activeOptions={{ exact: true }} className={tabClass} params={{ slug, _splat: "test-rules" }} to="/w/$slug/$">
      Rules
    </Link>
    <Link
      activeOptions={{ exact: true, includeSearch: false }}
      className={tabClass}
      params={{ slug }}
      search={target}
      to="/w/$slug/trends"
    >
      Trends
    </Link>
    <Link
      activeOptions={{ exact: true }}
      className={tabClass}
      params={{ slug, _splat: target.product === undefined ? "delivery" : `products/${target.product}/delivery` }}
      to="/w/$slug/$"
    >
      Delivery
    </Link>
  </Tabs>
)
