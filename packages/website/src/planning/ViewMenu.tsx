import type { View } from "@delivery/domain/planning/View"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../api/client.ts"
import { isMadeBy } from "../api/madeBy.ts"
import { tellPages } from "../api/pages.ts"
import { workspaceKey } from "../api/queries.ts"
import { useMe } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { IconButton } from "../ui/Button.tsx"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { undone } from "../ui/toast.ts"

const RenameView = later(() => import("./RenameView.tsx"))
const SureDialog = later(() => import("../api/SureDialog.tsx"))

/** What else is done with a view. */
const ViewMenu = ({ slug, view }: { readonly slug: string; readonly view: View }) => {
  const [overlay, setOverlay] = useState<"rename" | "delete">()
  const navigate = useNavigate()
  const me = useMe()?.id
  const close = () => setOverlay(undefined)
  const tell = () => tellPages(slug, "views")
  const isPersonal = view.visibility === "personal"
  const show = useAction({
    act: () =>
      client.views.update({
        params: { slug, view: view.id },
        payload: { visibility: isPersonal ? "shared" : "personal" }
      }),
    changes: [workspaceKey(slug, "views")],
    done: (after) => ({
      title: after.visibility === "personal" ? `Only you see ${after.name} now` : `${after.name} is shared now`,
      tone: "success"
    }),
    failed: () => `${view.name} could not be changed`,
    onDone: tell
  })
  const bringBack = useAction({
    act: () => {
      const { filters, group, layout, name, scope, sort, visibility } = view
      return client.views.create({
        params: { slug },
        payload: { name, visibility, filters, layout, group, sort, scope }
      })
    },
    changes: [workspaceKey(slug, "views")],
    onDone: tell,
    failed: () => `${view.name} is not back`
  })
  const remove = useAction({
    act: () => client.views.delete({ params: { slug, view: view.id } }),
    changes: [workspaceKey(slug, "views")],
    // What another has made would be the person's own then, and what they do not see of its filters could not be brought back.
    done: () => ({
      title: `${view.name} was deleted`,
      ...(view.hiddenFilters.length === 0 && isMadeBy(me, view)
        ? { undo: () => undone(bringBack.mutateAsync(), `${view.name} is back, at a new address`) }
        : {})
    }),
    onDone: () => {
      tell()
      void navigate({ to: "/w/$slug/tickets", params: { slug } })
    }
  })
  return (
    <>
      <Menu
        groups={[
          {
            items: [
              { label: "Rename", onSelect: () => setOverlay("rename") },
              ...(isPersonal ? [{ label: "Share with others", onSelect: () => show.mutate() }] : []),
              ...(!isPersonal && !view.isDefault && isMadeBy(me, view)
                ? [{ label: "Show only to you", onSelect: () => show.mutate() }]
                : []),
              ...(view.isDefault ? [] : [{ label: "Delete", isDangerous: true, onSelect: () => setOverlay("delete") }])
            ]
          }
        ]}
        label={view.name}
        trigger={(props) => <IconButton {...props} icon="more" label="More" />}
      />
      {overlay === "rename" && <RenameView onClose={close} slug={slug} view={view} />}
      {overlay === "delete" && (
        <SureDialog action="Delete" doing={remove} onClose={close} title={`Delete ${view.name}?`}>
          <p>{isPersonal ? "Only you see the view." : "Everybody loses the view."} Its tickets stay.</p>
        </SureDialog>
      )}
    </>
  )
}

export default ViewMenu
