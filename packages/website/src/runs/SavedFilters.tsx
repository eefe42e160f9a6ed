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
import { Button, buttonClass } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu, type MenuItem } from "../ui/Menu.tsx"
import { undone } from "../ui/toast.ts"
import {
  type Filtered,
  filteredBy,
  filteredLink,
  hasFilters,
  isSame,
  savedFiltersQuery,
  toSave,
  wordsOf
} from "./savedFilters.ts"

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

/** What a filter is changed to: that of runs has no product. */
const keptOf = ({ product, query }: Pick<SavedFilter, "product" | "query">) => ({
  query,
  ...(product === null ? {} : { product })
})

const useChanges = (slug: string, onGone: () => void) => {
  const me = useMe()?.id
  const changes = [workspaceKey(slug, "filters")]
  const onDone = () => tellPages(slug, "filters")
  const act = ({ filter, ...payload }: UpdateSavedFilter & { readonly filter: SavedFilter }) =>
    client.savedFilters.update({ params: { slug, filter: filter.id }, payload })
  const takeBack = useAction({ act, changes, onDone, failed: ({ filter }) => `${filter.name} is not as it was` })
  const update = useAction({
    act,
    changes,
    done: ({ name, visibility }, { filter, visibility: change }) => ({
      title:
        change === undefined
          ? `${name} was saved`
          : visibility === "personal"
            ? `Only you see ${name} now`
            : `${name} is shared now`,
      tone: "success",
      ...(change === undefined
        ? { undo: () => undone(takeBack.mutateAsync({ filter, ...keptOf(filter) }), `${name} is as it was`) }
        : {})
    }),
    failed: ({ filter }) => `${filter.name} could not be changed`,
    onDone
  })
  const bringBack = useAction({
    act: ({ name, product, query, screen, visibility }: SavedFilter) =>
      client.savedFilters.create({ params: { slug }, payload: { name, product, query, screen, visibility } }),
    changes,
    onDone,
    failed: ({ name }) => `${name} is not back`
  })
  const remove = useAction({
    act: (filter: SavedFilter) => client.savedFilters.delete({ params: { slug, filter: filter.id } }),
    changes,
    done: (_, filter) => ({
      title: `${filter.name} was deleted`,
      // What another has made would be the person's own then.
      ...(isMadeBy(me, filter) ? { undo: () => undone(bringBack.mutateAsync(filter), `${filter.name} is back`) } : {})
    }),
    onDone: () => {
      onDone()
      onGone()
    }
  })
  return { update, remove }
}

interface MenuProps {
  readonly saved: ReadonlyArray<SavedFilter>
  readonly shown: SavedFilter | undefined
  readonly onChoose: (filter: SavedFilter) => void
  /** What is done with the one that is shown, or was. */
  readonly actions: ReadonlyArray<MenuItem>
}

const FilterMenu = ({ actions, onChoose, saved, shown }: MenuProps) => {
  const choices = saved.map((one): MenuItem => {
    return {
      label: one.name,
      hint: [...wordsOf(one), ...(one.visibility === "personal" ? ["only you"] : [])].join(", "),
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

/** What is asked of the person. It stays about the filter that it began with, whatever others change meanwhile. */
type Part = { readonly does: "save" } | { readonly does: "rename" | "delete"; readonly filter: SavedFilter }

/** The menu of what was saved, where something was. */
const SavedMenu = ({
  filtered,
  onPart,
  saved,
  slug,
  update
}: Props & {
  readonly saved: ReturnType<typeof useSaved>
  readonly onPart: (part: Part) => void
  readonly update: ReturnType<typeof useChanges>["update"]
}) => {
  const { changed, choose, filters, shown } = saved
  const navigate = useNavigate()
  const mayChange = mayAct(useRole(slug), "member")
  const me = useMe()?.id
  const ofShown = (filter: SavedFilter): ReadonlyArray<MenuItem> => [
    { label: "Rename", onSelect: () => onPart({ does: "rename", filter }) },
    ...(filter.visibility === "personal"
      ? [{ label: "Share with others", onSelect: () => update.mutate({ filter, visibility: "shared" }) }]
      : isMadeBy(me, filter)
        ? [{ label: "Show only to you", onSelect: () => update.mutate({ filter, visibility: "personal" }) }]
        : []),
    { label: "Delete", isDangerous: true, onSelect: () => onPart({ does: "delete", filter }) }
  ]
  const ofChanged = (filter: SavedFilter): ReadonlyArray<MenuItem> => {
    const change = { filter, ...keptOf(toSave(filtered)) }
    return [{ label: `Update ${filter.name}`, onSelect: () => update.mutate(change) }]
  }
  const actions = shown !== undefined ? ofShown(shown) : changed === undefined ? [] : ofChanged(changed)
  return (
    <FilterMenu
      actions={mayChange ? actions : []}
      onChoose={(one) => {
        choose(one.id)
        void navigate(filteredLink(slug, one))
      }}
      saved={filters}
      shown={shown}
    />
  )
}

const SavedFilters = ({ filtered, slug }: Props) => {
  const { screen } = filtered
  const { data } = useQuery(savedFiltersQuery(slug, screen))
  const mayChange = mayAct(useRole(slug), "member")
  const [part, setPart] = useState<Part>()
  const close = () => setPart(undefined)
  const saved = useSaved(data?.savedFilters ?? [], filtered)
  const { filters, shown } = saved
  const { remove, update } = useChanges(slug, close)
  const mayBeSaved = mayChange && data !== undefined && shown === undefined && hasFilters(filtered)
  const group = screen === "runs" ? "Runs" : "Tests"
  useKeys(mayBeSaved ? [{ keys: "S", label: "Save the filter", group, run: () => setPart({ does: "save" }) }] : [])
  return (
    <>
      {filters.length > 0 && (
        <SavedMenu filtered={filtered} onPart={setPart} saved={saved} slug={slug} update={update} />
      )}
      {mayBeSaved && (
        <Button onClick={() => setPart({ does: "save" })} shortcut="S">
          Save filter
        </Button>
      )}
      {(part?.does === "save" || part?.does === "rename") && (
        <SavedFilterDialog
          filtered={filtered}
          names={filters.map(({ name }) => name)}
          onClose={close}
          renamed={part.does === "rename" ? part.filter : undefined}
          slug={slug}
        />
      )}
      {part?.does === "delete" && (
        <SureDialog
          action="Delete"
          doing={{ ...remove, mutate: () => remove.mutate(part.filter) }}
          onClose={close}
          title={`Delete ${part.filter.name}?`}
        >
          <p>
            {part.filter.visibility === "personal" ? "Only you see the filter." : "Everybody loses the filter."} The{" "}
            {screen} stay.
          </p>
        </SureDialog>
      )}
    </>
  )
}

export default SavedFilters
