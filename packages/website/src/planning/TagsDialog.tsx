import type { Tag } from "@delivery/domain/planning/Tag"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { Input } from "../ui/Field.tsx"
import { tagsQuery } from "./queries.ts"
import { TagBadge } from "./TagBadge.tsx"
import { colorOf } from "./tagColors.ts"

interface Props {
  readonly slug: string
  /** Whose tags there are to choose from. */
  readonly team: string
  readonly chosen: Ticket["tags"]
  readonly onSave: (tags: Ticket["tags"]) => void
  readonly onClose: () => void
}

const useTags = ({ chosen: before, onClose, onSave, slug, team }: Props) => {
  const query = useQuery(tagsQuery(slug, team))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(before.map(({ id }) => id)))
  const [typed, setTyped] = useState("")
  const name = typed.trim()
  // Those that there are not yet are made when they are set.
  const [added, setAdded] = useState<ReadonlyArray<string>>([])
  const isNamed = (name: string) => (tag: { readonly name: string }) => tag.name.toLowerCase() === name.toLowerCase()
  const made = query.data?.tags ?? []
  const missing = added.filter((one) => !made.some(isNamed(one)))
  const all = [...made, ...missing.map((one) => ({ id: one, name: one, color: colorOf(one) }))]
  const shown = all.filter((tag) => tag.name.toLowerCase().includes(name.toLowerCase()))
  const isNew = name !== "" && !all.some(isNamed(name))
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  const add = () => {
    setAdded([...added, name])
    setChosen(new Set([...chosen, name]))
    setTyped("")
  }
  // One that was made before another was refused is not made again.
  const isChosen = (tag: Tag) => chosen.has(tag.id) || added.some((one) => chosen.has(one) && isNamed(one)(tag))
  const make = useAction({
    act: (names: ReadonlyArray<string>) =>
      Promise.all(
        names.map((one) => client.tags.create({ params: { slug }, payload: { team, name: one, color: colorOf(one) } }))
      ),
    changes: [workspaceKey(slug, "tags")],
    onDone: (tags: ReadonlyArray<Tag>) => {
      onSave([...made.filter(isChosen), ...tags].map(({ color, id, name }) => ({ id, name, color })))
      onClose()
    }
  })
  const save = () => make.isPending || make.mutate(missing.filter((one) => chosen.has(one)))
  /** Enter adds the tag that was typed, or takes the only one that is left; without a word it is done. */
  const submit = () => {
    if (isNew && shown.length === 0) return add()
    if (name === "") return save()
    if (shown.length === 1) {
      toggle(shown[0]!.id)
      setTyped("")
    }
  }
  return { add, all, chosen, isNew, make, name, query, save, setTyped, shown, submit, toggle, typed }
}

/** Which tags a ticket has. One that there is not is made when they are set. */
const TagsDialog = (props: Props) => {
  const { add, all, chosen, isNew, make, name, query, save, setTyped, shown, submit, toggle, typed } = useTags(props)
  return (
    <Dialog
      actions={
        <>
          <Cancel />
          <Button disabled={query.data === undefined} isBusy={make.isPending} look="primary" onClick={save}>
            Set tags
          </Button>
        </>
      }
      onClose={props.onClose}
      title="Tags"
    >
      <form
        className="flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Input
          autoComplete="off"
          autoFocus
          issue={issueAt(make.error, "name")}
          label="Find or add a tag"
          maxLength={40}
          onChange={(event) => setTyped(event.target.value)}
          value={typed}
        />
        <Loaded query={query} rows={4}>
          {() => (
            <div className="max-h-72 overflow-y-auto">
              {shown.map((tag) => (
                <label className="hover:bg-hover flex min-h-7 items-center gap-2 rounded-sm px-1" key={tag.id}>
                  <input checked={chosen.has(tag.id)} onChange={() => toggle(tag.id)} type="checkbox" />
                  <TagBadge tag={tag} />
                </label>
              ))}
              {all.length === 0 && name === "" && (
                <p className="text-muted">There are no tags yet. Type the first one.</p>
              )}
            </div>
          )}
        </Loaded>
        {isNew && (
          <div>
            <Button icon="plus" look="quiet" onClick={add}>
              Add <span className="foreign max-w-60 truncate">{name}</span>
            </Button>
          </div>
        )}
        <button aria-hidden="true" className="hidden" tabIndex={-1} type="submit" />
      </form>
    </Dialog>
  )
}

export default TagsDialog
