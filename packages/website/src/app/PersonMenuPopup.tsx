import { useNavigate } from "@tanstack/react-router"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { useMe } from "../api/session.ts"
import { forgetDrafts } from "../planning/drafts.ts"
import type { MenuGroup, OpenMenu } from "../ui/Menu.tsx"
import MenuPopup from "../ui/MenuPopup.tsx"
import { overlay } from "../ui/overlay.ts"
import { setLooks, useLooks } from "./theme.ts"

const signOut = async () => {
  try {
    const { waysIn = [] } = await client.auth.session({})
    // Whoever could not sign in again is asked by the page of their account.
    if (waysIn.length > 0) await client.auth.signOut({})
    if (waysIn.length > 0) forgetDrafts()
    location.assign("/sign-in")
  } catch (error) {
    tellFailure("You are not signed out.", error)
  }
}

const choices = <Value extends string>(
  values: ReadonlyArray<readonly [Value, string]>,
  chosen: Value,
  set: (value: Value) => void
) => values.map(([value, label]) => ({ label, isChosen: value === chosen, onSelect: () => set(value) }))

interface Props extends OpenMenu {
  readonly slug: string
}

/** What the person does with their account and the looks of the pages. */
const PersonMenuPopup = ({ slug, ...menu }: Props) => {
  const me = useMe()
  const navigate = useNavigate()
  const { density, theme } = useLooks()
  const groups: ReadonlyArray<MenuGroup> = [
    {
      ...(me !== undefined && "email" in me ? { label: me.email } : {}),
      items: [
        {
          label: "Profile and sign-ins",
          icon: "person",
          shortcut: "g p",
          onSelect: () => void navigate({ to: "/w/$slug/settings/profile", params: { slug } })
        },
        { label: "Keys", icon: "key", shortcut: "?", onSelect: () => overlay.show("keys") },
        { label: "API description", icon: "external", onSelect: () => void open("/docs", "_blank", "noopener") }
      ]
    },
    {
      label: "Theme",
      items: choices(
        [
          ["system", "As the system"],
          ["light", "Light"],
          ["dark", "Dark"]
        ],
        theme,
        (theme) => setLooks({ theme })
      )
    },
    {
      label: "Rows",
      items: choices(
        [
          ["compact", "Compact"],
          ["default", "Usual"],
          ["comfortable", "Comfortable"]
        ],
        density,
        (density) => setLooks({ density })
      )
    },
    {
      items: [{ label: "Order of the sidebar…", icon: "sidebar", onSelect: () => overlay.show("order") }]
    },
    { items: [{ label: "Sign out", icon: "arrowRight", onSelect: () => void signOut() }] }
  ]
  return <MenuPopup {...menu} groups={groups} label="You and the looks" />
}

export default PersonMenuPopup
