import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { membersQuery } from "../identity/queries.ts"
import { Button } from "../ui/Button.tsx"
import { withoutUndefined } from "../ui/address.ts"
import { Filter } from "../ui/Filter.tsx"
import { useKeys } from "../ui/keys.ts"
import { type AuditFilters, isFiltered } from "./filters.ts"

/** The filters of the audit: words in a row, kept in the address. */

const outcomes = [
  { value: "allowed", label: "allowed" },
  { value: "refused", label: "refused" }
]

/** The names of what can happen. The filter is there before them, and keeps its place and the keyboard when they come. */
const useActions = () => {
  const [actions, setActions] = useState<ReadonlyArray<{ readonly value: string; readonly label: string }>>([])
  useEffect(() => {
    const load = async () => setActions((await import("./actions.ts")).actions)
    load().catch(() => undefined)
  }, [])
  return actions
}

interface Props {
  readonly filters: AuditFilters
  readonly slug: string
  /** Names of actors and subjects that are filtered by, as far as entries tell. */
  readonly nameOf: (id: string) => string | undefined
}

export const AuditFilterBar = ({ filters, nameOf, slug }: Props) => {
  const navigate = useNavigate({ from: "/w/$slug/audit" })
  const { data } = useQuery(membersQuery(slug))
  const actions = useActions()
  const set = (name: keyof AuditFilters) => (value: string | undefined) =>
    void navigate({ search: withoutUndefined<AuditFilters>({ ...filters, [name]: value }), replace: true })
  useKeys([
    {
      keys: "f",
      label: "Only what was refused",
      group: "Audit",
      run: () => set("outcome")(filters.outcome === "refused" ? undefined : "refused")
    }
  ])
  const people = (data?.members ?? []).map(({ id, name }) => ({ value: id as string, label: name }))
  const others = (id: string | undefined) =>
    id === undefined || people.some(({ value }) => value === id) ? [] : [{ value: id, label: nameOf(id) ?? id }]
  return (
    <search aria-label="Audit" className="border-border flex flex-wrap items-center gap-1 border-b px-3 py-1.5">
      <Filter choices={actions} noun="action" onChange={set("action")} value={filters.action} />
      <Filter
        choices={[...others(filters.actor), ...people]}
        noun="actor"
        onChange={set("actor")}
        value={filters.actor}
      />
      <Filter choices={outcomes} noun="outcome" onChange={set("outcome")} value={filters.outcome} />
      {filters.subject !== undefined && (
        <Filter
          choices={[{ value: filters.subject, label: nameOf(filters.subject) ?? filters.subject }]}
          noun="subject"
          onChange={set("subject")}
          value={filters.subject}
        />
      )}
      {isFiltered(filters) && (
        <Button icon="cross" look="quiet" onClick={() => void navigate({ search: {}, replace: true })}>
          Clear
        </Button>
      )}
    </search>
  )
}
