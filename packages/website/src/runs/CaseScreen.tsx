import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { FailureView } from "../api/FailureView.tsx"
import { environmentsQuery } from "../catalog/queries.ts"
import { useProductName } from "../catalog/useProductName.ts"
import { Badge } from "../ui/Badge.tsx"
import { CopyButton } from "../ui/Copy.tsx"
import { withoutUndefined } from "../ui/address.ts"
import { Filter } from "../ui/Filter.tsx"
import { oneLine } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import CaseHistory from "./CaseHistory.tsx"
import { evidenceOf } from "./evidence.ts"
import { shownStates } from "./shownStates.ts"
import { caseQuery } from "./queries.ts"
import { StateBadge } from "./StateBadge.tsx"

const CaseTicket = later(() => import("./CaseTicket.tsx"))
const MuteCase = later(() => import("../flow/MuteCase.tsx"))

/** A test of a product: what it is called and why, and its results over many runs. */
const CaseScreen = () => {
  const { case: caseId, product, slug } = useParams({ from: "/w/$slug/products/$product/cases/$case" })
  const productName = useProductName(slug)
  const { environment } = useSearch({ from: "/w/$slug/products/$product/cases/$case" })
  const { data, error, refetch } = useQuery(caseQuery(slug, product, caseId, environment))
  const { data: environments } = useQuery(environmentsQuery(slug))
  const navigate = useNavigate({ from: "/w/$slug/products/$product/cases/$case" })
  return (
    <>
      <Header
        crumbs={[
          { label: "Tests", link: { to: "/w/$slug/tests", params: { slug } } },
          { label: productName(product), link: { to: "/w/$slug/tests", params: { slug }, search: { product } } }
        ]}
        title={
          // On narrow screens it stands below, in full.
          <span className="max-sm:sr-only">{data === undefined ? "Test" : data.title.slice(0, 1_000)}</span>
        }
      />
      <search aria-label="Results" className="border-border border-b px-3 py-1.5">
        <Filter
          choices={(environments?.environments ?? []).map((one) => ({ value: one.slug, label: one.name }))}
          noun="environment"
          onChange={(next) => void navigate({ search: withoutUndefined({ environment: next }), replace: true })}
          value={environment}
        />
      </search>
      {data !== undefined ? (
        <>
          <section aria-label="Summary" className="border-border flex flex-col gap-1.5 border-b px-4 py-3">
            <p className={data.title.length > oneLine ? "foreign" : "foreign md:hidden"}>
              {data.title.slice(0, 1_000)}
            </p>
            <div className="flex flex-wrap items-start gap-2">
              <p className="text-muted flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-1 max-md:basis-full">
                <span className="inline-flex max-w-full min-w-0">
                  <Truncated text={data.file} />
                </span>
                <Badge>{data.coverage}</Badge>
                <span className="foreign">{data.testKind}</span>
                <CopyButton label="Copy the id of the test" text={data.caseId} />
              </p>
              <MuteCase caseId={caseId} product={product} slug={slug} title={data.title} />
              <CaseTicket one={data} product={product} slug={slug} />
            </div>
            <ul aria-label="Why" className="flex flex-col gap-1 empty:hidden">
              {shownStates({ states: data.states.filter((state) => state !== "muted") }).map((state) => (
                <li className="flex items-center gap-2" key={state}>
                  <StateBadge state={state} />
                  <span className="text-muted">{evidenceOf(data, state)}</span>
                </li>
              ))}
            </ul>
          </section>
          <CaseHistory caseId={caseId} environment={environment} product={product} slug={slug} />
        </>
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={12} />
      )}
    </>
  )
}

export default CaseScreen
