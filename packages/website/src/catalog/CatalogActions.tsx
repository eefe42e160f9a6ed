import { useState } from "react"
import { Button, IconButton } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"

const dialogs = {
  product: later(() => import("./ProductDialog.tsx")),
  environment: later(() => import("./EnvironmentDialog.tsx")),
  archived: later(() => import("./ArchivedDialog.tsx"))
}

/** What an admin adds to the catalog, and brings back. */
export const CatalogActions = ({ slug }: { readonly slug: string }) => {
  const [shown, setShown] = useState<keyof typeof dialogs>()
  const Shown = shown === undefined ? undefined : dialogs[shown]
  useKeys([
    { keys: "c", label: "Add a product", group: "Deployments", run: () => setShown("product") },
    { keys: "e", label: "Add an environment", group: "Deployments", run: () => setShown("environment") }
  ])
  return (
    <>
      <Button icon="plus" look="primary" onClick={() => setShown("product")} shortcut="c">
        Add product
      </Button>
      <Menu
        groups={[
          { items: [{ label: "Add environment", shortcut: "e", onSelect: () => setShown("environment") }] },
          { items: [{ label: "Archived products and environments", onSelect: () => setShown("archived") }] }
        ]}
        label="More"
        trigger={(props) => <IconButton {...props} icon="more" label="More" />}
      />
      {Shown !== undefined && <Shown onClose={() => setShown(undefined)} slug={slug} />}
    </>
  )
}
