import type { View } from "@delivery/domain/planning/View"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { IconButton } from "../ui/Button.tsx"
import { visible } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"

const RenameView = later(() => import("./RenameView.tsx"))
const SureDialog = later(() => import("../api/SureDialog.tsx"))

/** What else is done with a view. */
const ViewMenu = ({ slug, view }: { readonly slug: string; readonly view: View }) => {
  const [overlay, setOverlay] = useState<"rename" | "delete">()
  const navigate = useNavigate()
  const close = () => setOverlay(undefined)
  const remove = useAction({
    act: () => client.views.delete({ params: { slug, view: view.id } }),
    changes: [workspaceKey(slug, "views")],
    done: () => ({ title: `${view.name} was deleted` }),
    onDone: () => void navigate({ to: "/w/$slug/tickets", params: { slug } })
  })
  return (
    <>
      <Menu
        groups={[
          {
            items: [
              { label: "Rename", onSelect: () => setOverlay("rename") },
              ...(view.isDefault ? [] : [{ label: "Delete", isDangerous: true, onSelect: () => setOverlay("delete") }])
            ]
          }
        ]}
        label={visible(view.name)}
        trigger={(props) => <IconButton {...props} icon="more" label="More" />}
      />
      {overlay === "rename" && <RenameView onClose={close} slug={slug} view={view} />}
      {overlay === "delete" && (
        <SureDialog action="Delete" doing={remove} onClose={close} title={`Delete ${visible(view.name)}?`}>
          <p>Everybody loses the view. Its tickets stay.</p>
        </SureDialog>
      )}
    </>
  )
}

export default ViewMenu
