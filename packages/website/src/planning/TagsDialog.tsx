import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { Button } from "../ui/Button.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { tagsQuery } from "./queries.ts"
import { TagBadge } from "./TagBadge.tsx"

interface Props {
  readonly slug: string
  /** Whose tags there are to choose from. */
  readonly team: string
  readonly chosen: Ticket["tags"]
  readonly onSave: (tags: Ticket["tags"]) => void
  readonly onClose: () => void
}

/** Which tags a ticket has. */
const TagsDialog = ({ chosen: before, onClose, onSave, slug, team }: Props) => {
  const query = useQuery(tagsQuery(slug, team))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(before.map(({ id }) => id)))
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  const save = () => {
    const tags = (query.data?.tags ?? []).filter(({ id }) => chosen.has(id))
    onSave(tags.map(({ color, id, name }) => ({ id, name, color })))
    onClose()
  }
  return (
    <Dialog
      actions={
        <>
          <Cancel />
          <Button disabled={query.data === undefined} look="primary" onClick={save}>
            Set tags
          </Button>
        </>
      }
      onClose={onClose}
      title="Tags"
    >
      <Loaded query={query} rows={4}>
        {({ tags }) =>
          tags.length === 0 ? (
            <p className="text-muted">
              There are no tags yet. They are made in the settings of the workspace and of teams.
            </p>
          ) : (
            <form
              onSubmit={(event) => {
                event.preventDefault()
                save()
              }}
            >
              {tags.map((tag, index) => (
                <label className="hover:bg-hover flex min-h-7 items-center gap-2 rounded-sm px-1" key={tag.id}>
                  <input
                    autoFocus={index === 0}
                    checked={chosen.has(tag.id)}
                    onChange={() => toggle(tag.id)}
                    type="checkbox"
                  />
                  <TagBadge tag={tag} />
                </label>
              ))}
              <button aria-hidden="true" className="hidden" tabIndex={-1} type="submit" />
            </form>
          )
        }
      </Loaded>
    </Dialog>
  )
}

export default TagsDialog
