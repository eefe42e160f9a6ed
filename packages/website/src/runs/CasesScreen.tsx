import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { ListedCase } from "@delivery/domain/runs/Case"
import { useCallback, useEffect, useRef, useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { withoutUndefined } from "../ui/address.ts"
import { pressedClass } from "../ui/Filter.tsx"
import { formatDuration } from "../ui/duration.ts"
import { formatRate } from "../ui/rate.ts"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { SearchField } from "../ui/SearchField.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { type Status, StatusMark } from "../ui/StatusMark.tsx"
import { CasesFilterBar, useProduct } from "./CasesFilterBar.tsx"
import { CasesTabs } from "./CasesTabs.tsx"
import { casesQuery } from "./queries.ts"
import type { CasesSearch } from "./search.ts"

/** The tests of a product over many runs: which fail, which are flaky or slow, and why they are called so. */

const CaseListTicket = later(() => import("./CaseListTicket.tsx"))
const CasePeek = later(() => import("./CasePeek.tsx"))
const CaseStates = later(() => import("./CaseStates.tsx"))
const Heat = later(async () => ({ default: (await import("./Heat.tsx")).Heat }))
const NoCases = later(() => import("./NoCases.tsx"))
const NoProduct = later(() => import("./NoProduct.tsx"))
const SavedFilters = later(() => import("./SavedFilters.tsx"))

const columns =
  "grid grid-cols-[16px_minmax(0,1fr)_auto] items-center gap-3 px-4 lg:grid-cols-[16px_minmax(0,5fr)_minmax(0,6fr)_8rem_4.5rem_4.5rem]"

const markOf = ({ states }: Pick<ListedCase, "states">): Status =>
  states.includes("failing") ? "failed" : states.includes("flaky") ? "flaky" : states.length > 0 ? "passed" : "skipped"

/** What the columns are, where there are some. */
const Headings = () => (
  <div className={`${columns} text-muted border-border h-7 border-b text-xs font-medium max-lg:hidden`}>
    <span />
    <span>Test</span>
    <span>State</span>
    <span className="hidden text-right lg:block">Newest results</span>
    <span className="text-right">Passed</span>
    <span className="text-right" title="95 of 100 of its results took at most so long">
      Duration
    </span>
  </div>
)

interface RowProps {
  readonly environment: string | undefined
  readonly one: ListedCase
  readonly isCurrent: boolean
  readonly product: string
  readonly slug: string
}

const CaseRow = ({ environment, isCurrent, one, product, slug }: RowProps) => (
  <Link
    className={`two-lines ${columns} border-border hover:bg-hover h-(--row) border-b ${isCurrent ? "bg-selected" : ""}`}
    params={{ slug, product, case: one.caseId }}
    search={withoutUndefined({ environment })}
    to="/w/$slug/products/$product/cases/$case"
  >
    <StatusMark status={markOf(one)} />
    <span className="foreign truncate" title={`${one.title.slice(0, 1_000)}\n${one.file.slice(0, 1_000)}`}>
      {one.title.slice(0, 1_000)}
    </span>
    <span className="flex min-w-0 items-center gap-2 overflow-hidden max-sm:col-start-2">
      <CaseStates one={one} />
      {one.states.length === 0 && <span className="text-muted text-xs">not run for 30 days</span>}
    </span>
    <span className="hidden lg:block">
      <Heat results={one.results ?? []} />
    </span>
    <span className="text-muted tabular hidden text-right lg:block" title="How many of its results of 30 days passed">
      {one.passRate === null ? "–" : formatRate(one.passRate)}
    </span>
    <span
      className="text-muted tabular hidden text-right lg:block"
      title="95 of 100 of its results took at most so long"
    >
      {formatDuration(one.durationP95Ms)}
    </span>
  </Link>
)

const states = ["failing", "flaky", "slow", "muted"] as const

const Filters = ({ product, slug }: { readonly product: string | undefined; readonly slug: string }) => {
  const search = useSearch({ from: "/w/$slug/tests" })
  const navigate = useNavigate({ from: "/w/$slug/tests" })
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(search.q ?? "")
  const typed = useRef(text)
  // The field follows the address where that changes by itself.
  useEffect(() => {
    if ((search.q ?? "") === typed.current) return
    typed.current = search.q ?? ""
    setText(typed.current)
  }, [search.q])
  const set = (change: { readonly [Name in keyof CasesSearch]?: CasesSearch[Name] | undefined }) =>
    void navigate({ search: (before) => withoutUndefined<CasesSearch>({ ...before, ...change }), replace: true })
  useKeys([{ keys: "/", label: "Search tests", group: "Tests", run: () => field.current?.focus() }])
  return (
    <CasesFilterBar
      count={search.state === undefined ? 0 : 1}
      environment={search.environment}
      label="Tests"
      onChange={set}
      product={product}
      search={
        <SearchField
          label="Title or file"
          onChange={(next) => {
            typed.current = next.trim()
            setText(next)
            set({ q: next.trim() === "" ? undefined : next.trim() })
          }}
          ref={field}
          value={text}
        />
      }
      slug={slug}
    >
      {[...states, ...(search.state === "passing" ? [search.state] : [])].map((state) => (
        <button
          aria-pressed={search.state === state}
          className={pressedClass}
          key={state}
          onClick={() => set({ state: search.state === state ? undefined : state })}
          type="button"
        >
          <span className="first-letter:uppercase">{state}</span>
        </button>
      ))}
    </CasesFilterBar>
  )
}

const CaseList = ({ product, slug }: { readonly product: string; readonly slug: string }) => {
  const { product: _, ...filters } = useSearch({ from: "/w/$slug/tests" })
  const navigate = useNavigate()
  const query = useInfiniteQuery(casesQuery(slug, product, filters))
  const { data, error, fetchNextPage, hasNextPage, isFetching, refetch } = query
  const cases = data?.pages.flatMap((page) => page.cases) ?? []
  const [current, setCurrent] = useState<string>()
  const one = cases.find(({ caseId }) => caseId === current)
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [fetchNextPage, hasNextPage, isFetching])
  if (data === undefined) {
    return error === null ? (
      <SkeletonRows isTall rows={14} />
    ) : (
      <FailureView error={error} onRetry={() => void refetch()} />
    )
  }
  if (cases.length === 0) {
    return <NoCases isFiltered={Object.keys(filters).length > 0} product={product} slug={slug} />
  }
  return (
    <>
      <Headings />
      <Rows
        count={cases.length}
        isTall
        keyOf={(index) => cases[index]!.caseId}
        label="Tests"
        noun="test"
        onCurrent={(index) => setCurrent(cases[index]?.caseId)}
        onNearEnd={more}
        onOpen={(index) =>
          void navigate({
            to: "/w/$slug/products/$product/cases/$case",
            params: { slug, product, case: cases[index]!.caseId },
            search: withoutUndefined({ environment: filters.environment })
          })
        }
        peek={(index) => (
          <CasePeek environment={filters.environment} one={cases[index]!} product={product} slug={slug} />
        )}
        row={(index, isCurrent) => (
          <CaseRow
            environment={filters.environment}
            isCurrent={isCurrent}
            one={cases[index]!}
            product={product}
            slug={slug}
          />
        )}
      />
      {one !== undefined && <CaseListTicket one={one} product={product} slug={slug} />}
    </>
  )
}

const CasesScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/tests" })
  const search = useSearch({ from: "/w/$slug/tests" })
  const { environment, product: asked } = search
  const product = useProduct(slug, asked)
  return (
    <>
      <Header
        actions={product && <SavedFilters filtered={{ screen: "tests", search: { ...search, product } }} slug={slug} />}
        crumbs={[]}
        title="Tests"
      />
      <CasesTabs
        slug={slug}
        target={{
          ...(asked === undefined ? {} : { product: asked }),
          ...(environment === undefined ? {} : { environment })
        }}
      />
      <Filters product={product ?? undefined} slug={slug} />
      {product === undefined ? (
        <SkeletonRows isTall rows={14} />
      ) : product === null ? (
        <NoProduct slug={slug} />
      ) : (
        <CaseList product={product} slug={slug} />
      )}
    </>
  )
}

export default CasesScreen
