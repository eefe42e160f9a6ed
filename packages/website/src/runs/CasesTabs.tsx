import { Link } from "@tanstack/react-router"
import { tabClass, Tabs } from "../ui/Header.tsx"
import type { CasesTarget } from "./CasesFilterBar.tsx"

/** The tests of a product, and how they do over time. */
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
      activeOptions={{ exact: true, includeSearch: false }}
      className={tabClass}
      params={{ slug }}
      search={target}
      to="/w/$slug/trends"
    >
      Trends
    </Link>
  </Tabs>
)
