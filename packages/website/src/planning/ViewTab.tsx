import type { View } from "@delivery/domain/planning/View"
import { Link } from "@tanstack/react-router"
import { tabClass } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"

interface Props {
  readonly slug: string
  readonly view: View
}

/** A saved view among its tabs. One that the person alone sees says so. */
export const ViewTab = ({ slug, view: { id, name, visibility } }: Props) => (
  <Link
    activeOptions={{ includeSearch: false }}
    className={tabClass}
    params={{ slug, view: id }}
    to="/w/$slug/views/$view"
  >
    {visibility === "personal" && <Icon name="person" size={14} />}
    {name}
    {visibility === "personal" && <span className="sr-only">, only for you</span>}
  </Link>
)
