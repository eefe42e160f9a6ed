import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import type { SavedFilter, UpdateSavedFilter } from "@delivery/domain/runs/SavedFilter"
import { useEffect, useState } from "react"
import { client } from "../api/client.ts"
import { isMadeBy } from "../api/madeBy.ts"
import { tellPages } from "../api/pages.ts"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { productsQuery } from "../catalog/queries.ts"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu, type MenuItem } from "../ui/Menu.tsx"
import { type Filtered, filteredBy, hasFilters, isSame, savedFiltersQuery, toSave } from "./savedFilters.ts"

/** The filters that were saved of a list, and what is done with them. What is shown is the one whose filters stand in the address. */

const SavedFilterDialog = later(() => import("./SavedFilterDialog.tsx"))
const SureDialog = later(() => import("../api/SureDialog.tsx"))

interface Props {
  readonly slug: string
  readonly filtered: Filtered
}

/** More than are read at a glance: one is found by its letters. */
const mostRead = 12

/** The saved ones, the one that is shown, and the one from which what is shown was made since. */
const useSaved = (filters: ReadonlyArray<SavedFilter>, filtered: Filtered) => {
  const [lastId, setLast] = useState<string>()
  const last = filters.find(({ id }) => id === lastId)
  const same = (one: SavedFilter) => isSame(filteredBy(one), filtered)
  // Of several that are alike, the one that was chosen.
  const shown = last !== undefined && same(last) ? last : filters.find(same)
  const shownId = shown?.id
  useEffect(() => {
    if (shownId !== undefined) setLast(shownId)
  }, [shownId])
  return { filters, shown, changed: shown === undefined && hasFilters(filtered) ? last : undefined, choose: setLast }
}

const useChanges = (slug: string, onGone: () => void) => {
  const changes = [workspaceKey(slug, "filters")]
  const onDone = () => tellPages(slug, "filters")
  const update = useAction({
    act: ({ filter, ...payload }: UpdateSavedFilter & { readonly filter: SavedFilter }) =>
      client.savedFilters.update({ params: { slug, filter: filter.id }, payload }),
    changes,
    done: ({ name, visibility }, input) => ({
      title:
        input.visibility === undefined
          ? `${name} was saved`
          : visibility === "personal"
            ? `Only you see ${name} now`
            : `${name} is shared now`,
      tone: "success"
    }),
    failed: ({ filter }) => `${filter.name} could not be changed`,
    onDone
  })
  const remove = useAction({
    act: (filter: SavedFilter) => client.savedFilters.delete({ params: { slug, filter: filter.id } }),
    changes,
    done: (_, { name }) => ({ title: `${name} was deleted` }),
    onDone: () => {
      onDone()
      onGone()
    }
  })
  return { update, remove }
}

interface MenuProps {
  readonly slug: string
  readonly saved: ReadonlyArray<SavedFilter>
  readonly shown: SavedFilter | undefined
  readonly onChoose: (filter: SavedFilter) => void
  /** What is done with the one that is shown, or was. */
  readonly actions: ReadonlyArray<MenuItem>
}

const FilterMenu = ({ actions, onChoose, saved, shown, slug }: MenuProps) => {
  const { data } = useQuery(productsQuery(slug))
  const nameOf = (product: string | null) => data?.products.find(({ slug }) => slug === product)?.name ?? product
  const choices = saved.map((one): MenuItem => {
    const hints = [nameOf(one.product), one.visibility === "personal" ? "only you" : null]
    return {
      label: one.name,
      hint: hints.filter((hint) => hint !== null).join(", ") || undefined,
      isChosen: one.id === shown?.id,
      onSelect: () => onChoose(one)
    }
  })
  return (
    <Menu
      groups={[
        { items: choices, isSearched: choices.length > mostRead },
        ...(actions.length === 0 ? [] : [{ items: actions }])
      ]}
      label="Saved filters"
      trigger={(props) => (
        <button {...props} className={`${buttonClass("quiet")} min-w-0 shrink`} type="button">
          <Icon name="filter" size={14} />
          {shown === undefined ? (
            "Saved filters"
          ) : (
            <>
              <span className="sr-only">Saved filter</span>
              <span className="text-accent max-w-40 truncate sm:max-w-80">{shown.name}</span>
            </>
          )}
          <Icon name="chevronDown" size={12} />
        </button>
      )}
    />
  )
}

/** The menu of what was saved, where something was. */
const SavedMenu = ({
  filtered,
  onPart,
  saved,
  slug,
  update
}: Props & {
  readonly saved: ReturnType<typeof useSaved>
  readonly onPart: (part: "rename" | "delete") => void
  readonly update: ReturnType<typeof useChanges>["update"]
}) => {
  const { changed, choose, filters, shown } = saved
  const navigate = useNavigate()
  const mayChange = mayAct(useRole(slug), "member")
  const me = useMe()?.id
  const ofShown = (filter: SavedFilter): ReadonlyArray<MenuItem> => [
    { label: "Rename", onSelect: () => onPart("rename") },
    ...(filter.visibility === "personal"
      ? [{ label: "Share with others", onSelect: () => update.mutate({ filter, visibility: "shared" }) }]
      : isMadeBy(me, filter)
        ? [{ label: "Show only to you", onSelect: () => update.mutate({ filter, visibility: "personal" }) }]
        : []),
    { label: "Delete", isDangerous: true, onSelect: () => onPart("delete") }
  ]
  const ofChanged = (filter: SavedFilter): ReadonlyArray<MenuItem> => {
    const { product, query } = toSave(filtered)
    const change = { filter, query, ...(product === null ? {} : { product }) }
    return [{ label: `Update ${filter.name}`, onSelect: () => update.mutate(change) }]
  }
  const actions = shown !== undefined ? ofShown(shown) : changed === undefined ? [] : ofChanged(changed)
  return (
    <FilterMenu
      actions={mayChange ? actions : []}
      onChoose={(one) => {
        choose(one.id)
        const to = one.screen === "runs" ? "/w/$slug/test-runs" : "/w/$slug/tests"
        void navigate({ to, params: { slug }, search: filteredBy(one).search })
      }}
      saved={filters}
      shown={shown}
      slug={slug}
    />
  )
}

const SavedFilters = ({ filtered, slug }: Props) => {
  const { screen } = filtered
  const { data } = useQuery(savedFiltersQuery(slug, screen))
  const mayChange = mayAct(useRole(slug), "member")
  const [part, setPart] = useState<"save" | "rename" | "delete">()
  const close = () => setPart(undefined)
  const saved = useSaved(data?.savedFilters ?? [], filtered)
  const { filters, shown } = saved
  const { remove, update } = useChanges(slug, close)
  const mayBeSaved = mayChange && data !== undefined && shown === undefined && hasFilters(filtered)
  const group = screen === "runs" ? "Runs" : "Tests"
  useKeys(mayBeSaved ? [{ keys: "S", label: "Save the filter", group, run: () => setPart("save") }] : [])
  return (
    <>
      {filters.length > 0 && (
        <SavedMenu filtered={filtered} onPart={setPart} saved={saved} slug={slug} update={update} />
      )}
      {mayBeSaved && (
        <Button onClick={() => setPart("save")} shortcut="S">
          Save filter
        </Button>
      )}
      {(part === "save" || part === "rename") && (
        <SavedFilterDialog
          filtered={filtered}
          onClose={close}
          renamed={part === "rename" ? shown : undefined}
          slug={slug}
        />
      )}
      {part === "delete" && shown !== undefined && (
        <SureDialog
          action="Delete"
          doing={{ ...remove, mutate: () => remove.mutate(shown) }}
          onClose={close}
          title={`Delete ${shown.name}?`}
        >
          <p>
            {shown.visibility === "personal" ? "Only you see the filter." : "Everybody loses the filter."} The {screen}{" "}
            stay.
          </p>
        </SureDialog>
      )}
    </>
  )
}

export default SavedFilters
