import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { Button } from "../ui/Button.tsx"
import { withoutUndefined } from "../ui/address.ts"
import { Filter } from "../ui/Filter.tsx"
import { FilterBar } from "../ui/FilterBar.tsx"
import { shortSha } from "../ui/format.ts"
import { useKeys } from "../ui/keys.ts"
import { SearchField } from "../ui/SearchField.tsx"
import { isFiltered, type RunFilters } from "./filters.ts"

/** The filters of the list of runs: words in a row, kept in the address. */

const results = [
  { value: "failed", label: "failed" },
  { value: "flaky", label: "flaky" },
  { value: "passed", label: "passed" }
]

interface RareProps {
  readonly filters: RunFilters
  readonly onChange: (change: { readonly commit?: string | undefined; readonly latest?: undefined }) => void
}

/** What only addresses and saved filters filter by: it shows, and can be taken away. */
const RareFilters = ({ filters: { commit, latest }, onChange }: RareProps) => (
  <>
    {commit !== undefined && (
      <Filter
        choices={[{ value: commit, label: shortSha(commit) }]}
        noun="commit"
        onChange={(next) => onChange({ commit: next })}
        value={commit}
      />
    )}
    {latest === true && (
      <Filter
        choices={[{ value: "true", label: "the latest that tells" }]}
        noun="run"
        onChange={(next) => next === undefined && onChange({ latest: undefined })}
        value="true"
      />
    )}
  </>
)

export const RunFilterBar = ({ filters, slug }: { readonly filters: RunFilters; readonly slug: string }) => {
  const navigate = useNavigate({ from: "/w/$slug/test-runs" })
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  const set = (change: { readonly [K in keyof RunFilters]?: RunFilters[K] | undefined }) =>
    void navigate({ search: (before) => withoutUndefined({ ...before, ...change }), replace: true })
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(filters.q ?? "")
  const typed = useRef(text)
  // The address follows what is typed, and the field follows the address where that changes by itself.
  useEffect(() => {
    if ((filters.q ?? "") === typed.current) return
    typed.current = filters.q ?? ""
    setText(typed.current)
  }, [filters.q])
  useKeys([
    { keys: "/", label: "Search runs", group: "Runs", run: () => field.current?.focus() },
    {
      keys: "f",
      label: "Only failed runs",
      group: "Runs",
      run: () => set({ result: filters.result === "failed" ? undefined : "failed" })
    }
  ])
  return (
    <FilterBar
      count={Object.keys(filters).filter((name) => name !== "q").length}
      label="Runs"
      search={
        <SearchField
          label="Branch, commit or subject"
          onChange={(next) => {
            typed.current = next.trim()
            setText(next)
            set({ q: next.trim() === "" ? undefined : next.trim() })
          }}
          ref={field}
          value={text}
        />
      }
    >
      <Filter
        choices={results}
        noun="result"
        onChange={(value) => set({ result: value as RunFilters["result"] })}
        value={filters.result}
      />
      <Filter
        choices={(products?.products ?? []).map(({ name, slug }) => ({ value: slug, label: name }))}
        noun="product"
        onChange={(product) => set({ product })}
        value={filters.product}
      />
      <Filter
        choices={(environments?.environments ?? []).map(({ name, slug }) => ({ value: slug, label: name }))}
        noun="environment"
        onChange={(environment) => set({ environment })}
        value={filters.environment}
      />
      <Filter
        choices={[{ value: "true", label: "me" }]}
        noun="publisher"
        onChange={(mine) => set({ mine: mine === undefined ? undefined : true })}
        value={filters.mine === true ? "true" : undefined}
      />
      <RareFilters filters={filters} onChange={set} />
      {isFiltered(filters) && (
        <Button icon="cross" look="quiet" onClick={() => void navigate({ search: {}, replace: true })}>
          Clear
        </Button>
      )}
    </FilterBar>
  )
}
