import { useQuery } from "@tanstack/react-query"
import { useEffect, useId, useRef, useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Filter, pressedClass } from "../ui/Filter.tsx"
import { FilterToggle, foldedClass } from "../ui/FilterBar.tsx"
import { ManyFilter } from "../ui/ManyFilter.tsx"
import { useKeys } from "../ui/keys.ts"
import { SearchField } from "../ui/SearchField.tsx"
import { categories, categoryNames } from "./categories.ts"
import { isFiltered } from "./filters.ts"
import { useMilestoneChoices } from "./useMilestoneChoices.ts"
import { useOwners } from "./owners.ts"
import { projectsQuery, tagsQuery, teamsQuery } from "./queries.ts"
import { filterNames, type FilterName, type Grouping, groupings, type Sorting, type TicketsSearch } from "./search.ts"

/** The filters of tickets, and how they are shown: words in a row, kept in the address. */

interface Props {
  readonly slug: string
  readonly search: TicketsSearch
  /** The names of the statuses that there are to choose from. */
  readonly statuses: ReadonlyArray<string>
  readonly onChange: (change: { readonly [Name in keyof TicketsSearch]?: TicketsSearch[Name] | undefined }) => void
  readonly onClear: () => void
}

/** The address follows what is typed, once it rests. */
const typingMillis = 150

const Words = ({ onChange, search }: Pick<Props, "onChange" | "search">) => {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(search.q ?? "")
  const typed = useRef(text)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if ((search.q ?? "") === typed.current) return
    typed.current = search.q ?? ""
    setText(typed.current)
  }, [search.q])
  useEffect(() => () => clearTimeout(timer.current), [])
  useKeys([{ keys: "/", label: "Search tickets", group: "Tickets", run: () => field.current?.focus() }])
  return (
    <SearchField
      label="Words or identifier"
      onChange={(next) => {
        typed.current = next.trim()
        setText(next)
        clearTimeout(timer.current)
        timer.current = setTimeout(
          () => onChange({ q: typed.current === "" ? undefined : typed.current }),
          typingMillis
        )
      }}
      ref={field}
      value={text}
    />
  )
}

/** In place of another order: that of their ranks. */
const own = "own"

const layouts = { list: "List", board: "Board" } as const

const Layouts = ({ layout, onChange }: { readonly layout: "list" | "board"; readonly onChange: Props["onChange"] }) => (
  <span aria-label="Layout" className="flex items-center" role="group">
    {(["list", "board"] as const).map((one) => (
      <button
        aria-pressed={layout === one}
        className={pressedClass}
        key={one}
        onClick={() => onChange({ layout: one })}
        type="button"
      >
        {layouts[one]}
      </button>
    ))}
  </span>
)

/** How they are shown, whichever they are. */
const Shapes = ({ onChange, search }: Pick<Props, "onChange" | "search">) => (
  <>
    <Filter
      choices={groupings.map((value) => ({ value, label: value }))}
      isRequired
      noun="group"
      onChange={(value) => onChange({ group: value === "status" ? undefined : (value as Grouping) })}
      value={search.group ?? "status"}
    />
    <Filter
      choices={[
        { value: own, label: "own" },
        { value: "updated", label: "last changed" },
        { value: "created", label: "newest" }
      ]}
      isRequired
      noun="order"
      onChange={(value) => onChange({ sort: value === own ? undefined : (value as Sorting) })}
      value={search.sort ?? own}
    />
  </>
)

/** Those that are set, and of the group and the order. */
const countOf = (search: TicketsSearch): number =>
  ([...filterNames, "group", "sort"] as const).filter((name) => search[name] !== undefined).length

const TicketFilterBar = ({ onChange, onClear, search, slug, statuses }: Props) => {
  const owners = useOwners(slug)
  const { data: teams } = useQuery(teamsQuery(slug))
  const { data: projects } = useQuery(projectsQuery(slug))
  const { data: tags } = useQuery(tagsQuery(slug, undefined))
  const milestones = useMilestoneChoices(slug, search)
  const [isOpen, setOpen] = useState(false)
  const filters = useId()
  const many = (
    name: FilterName,
    noun: string,
    choices: ReadonlyArray<{ readonly value: string; readonly label: string }>
  ) => (
    <ManyFilter
      choices={choices}
      noun={noun}
      onChange={(values) => onChange({ [name]: values.length === 0 ? undefined : values })}
      values={search[name] ?? []}
    />
  )
  return (
    <search aria-label="Tickets" className="border-border flex items-start gap-1 border-b px-3 py-1.5 max-md:flex-wrap">
      {/* What there is on the right stays there, however many filters wrap. */}
      <div className="flex items-center gap-1 max-md:contents md:min-w-0 md:flex-1 md:flex-wrap">
        <div className="contents max-md:*:min-w-24 max-md:*:basis-24">
          <Words onChange={onChange} search={search} />
        </div>
        <FilterToggle controls={filters} count={countOf(search)} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
        <div className={foldedClass(isOpen)} id={filters}>
          {many(
            "statuses",
            "status",
            statuses.map((name) => ({ value: name, label: name }))
          )}
          {many(
            "categories",
            "category",
            categories.map((value) => ({ value, label: categoryNames[value] }))
          )}
          {many("owners", "owner", [
            { value: "me", label: "me" },
            { value: "none", label: "nobody" },
            ...owners.map(({ label, owner }) => ({ value: owner.id, label }))
          ])}
          {many(
            "teams",
            "team",
            (teams?.teams ?? []).map(({ key, name }) => ({ value: key, label: name }))
          )}
          {many(
            "projects",
            "project",
            (projects?.projects ?? []).map(({ name, slug: project }) => ({ value: project, label: name }))
          )}
          {(milestones.length > 1 || search.milestones !== undefined) && many("milestones", "milestone", milestones)}
          {many(
            "tags",
            "tag",
            (tags?.tags ?? []).map(({ id, name, team }) => ({
              value: id,
              label: team === null ? name : `${name} of ${team.key}`
            }))
          )}
          {isFiltered(search) && (
            <Button icon="cross" look="quiet" onClick={onClear}>
              Clear
            </Button>
          )}
        </div>
      </div>
      <span className={`items-center gap-1 max-md:order-2 md:flex ${isOpen ? "flex" : "hidden"}`}>
        <Shapes onChange={onChange} search={search} />
      </span>
      <Layouts layout={search.layout ?? "list"} onChange={onChange} />
    </search>
  )
}

export default TicketFilterBar
