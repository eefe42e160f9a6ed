import { later } from "../ui/later.tsx"
import type { Overlay } from "../ui/overlay.ts"

/** What is shown over every screen, when it is asked for. */

const Palette = later(() => import("./Palette.tsx"))
const KeysHelp = later(() => import("./KeysHelp.tsx"))
const OrderPlaces = later(() => import("./OrderPlaces.tsx"))
const NewTicketHere = later(() => import("../planning/NewTicketHere.tsx"))

interface Props {
  readonly shown: Overlay
  readonly slug: string
  readonly onClose: () => void
}

const Overlays = ({ onClose, shown, slug }: Props) => (
  <>
    {shown === "palette" && <Palette onClose={onClose} slug={slug} />}
    {shown === "keys" && <KeysHelp onClose={onClose} />}
    {shown === "order" && <OrderPlaces onClose={onClose} slug={slug} />}
    {(shown === "ticket" || shown === "tickets") && (
      <NewTicketHere isList={shown === "tickets"} onClose={onClose} slug={slug} />
    )}
  </>
)

export default Overlays
