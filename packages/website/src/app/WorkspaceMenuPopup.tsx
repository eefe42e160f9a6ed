import { useNavigate } from "@tanstack/react-router"
import { useMe } from "../api/session.ts"
import type { OpenMenu } from "../ui/Menu.tsx"
import MenuPopup from "../ui/MenuPopup.tsx"

/** The workspaces of the person, to go to another one. */
const WorkspaceMenuPopup = ({ slug, ...menu }: OpenMenu & { readonly slug: string }) => {
  const me = useMe()
  const navigate = useNavigate()
  return (
    <MenuPopup
      {...menu}
      groups={[
        {
          label: "Workspaces",
          items: (me?.workspaces ?? []).map((one) => ({
            label: one.name,
            hint: one.role,
            isChosen: one.slug === slug,
            onSelect: () => void navigate({ to: "/w/$slug", params: { slug: one.slug } })
          }))
        }
      ]}
      label="Workspaces"
    />
  )
}

export default WorkspaceMenuPopup
