import type { Tag } from "@delivery/domain/planning/Tag"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { later } from "../ui/later.tsx"
import { Item } from "../ui/Item.tsx"
import { Section } from "../ui/Section.tsx"
import { tagsQuery } from "./queries.ts"
import { TagBadge } from "./TagBadge.tsx"

/** The tags of a team, or of the whole workspace. */

const TagDialog = later(() => import("./TagDialog.tsx"))

interface Props {
  readonly slug: string
  /** The key of the team; undefined for those of the workspace. */
  readonly team: string | undefined
  readonly mayChange: boolean
}

const One = ({
  mayChange,
  onChange,
  slug,
  tag
}: Omit<Props, "team"> & { readonly tag: Tag; readonly onChange: () => void }) => {
  const name = tag.name
  const remove = useAction({
    act: () => client.tags.delete({ params: { slug, tag: tag.id } }),
    changes: ["tags", "tickets", "views"].map((kind) => workspaceKey(slug, kind))
  })
  return (
    <Item
      actions={
        mayChange && (
          <>
            <Button aria-label={`Change ${name}`} look="quiet" onClick={onChange}>
              Change
            </Button>
            <Sure doing={remove} subject={name} title={`Delete ${name}?`} verb="Delete">
              <p>It is taken off all tickets, and out of the filters of views. It cannot be brought back.</p>
            </Sure>
          </>
        )
      }
      name={<TagBadge tag={tag} />}
    />
  )
}

const Tags = (props: Props) => {
  const { mayChange, slug, team } = props
  const query = useQuery(tagsQuery(slug, team))
  const [changed, setChanged] = useState<Tag | "new">()
  const isOwn = (tag: Tag) => (team === undefined ? tag.team === null : tag.team?.key === team)
  return (
    <Section
      actions={
        mayChange && (
          <Button icon="plus" look="quiet" onClick={() => setChanged("new")}>
            Tag
          </Button>
        )
      }
      isFlush
      title={team === undefined ? "Tags of the workspace" : "Tags"}
    >
      <Loaded query={query} rows={3}>
        {({ tags }) =>
          tags.some(isOwn) ? (
            <ul>
              {tags.filter(isOwn).map((tag) => (
                <One key={tag.id} {...props} onChange={() => setChanged(tag)} tag={tag} />
              ))}
            </ul>
          ) : (
            <p className="text-muted px-4 py-3">
              {team === undefined
                ? "No tags yet. Tickets of every team can have those of the workspace."
                : "No tags of its own. Its tickets can have those of the workspace, too."}
            </p>
          )
        }
      </Loaded>
      {changed !== undefined && (
        <TagDialog
          onClose={() => setChanged(undefined)}
          slug={slug}
          team={team}
          {...(changed === "new" ? {} : { tag: changed })}
        />
      )}
    </Section>
  )
}

export default Tags
