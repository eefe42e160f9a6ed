import type { VaultSecrets } from "@delivery/domain/vault/Secret"
import AddDialog from "./AddDialog.tsx"
import CellDialog from "./CellDialog.tsx"
import type { Place } from "./drafts.ts"
import PasteDialog from "./PasteDialog.tsx"
import type { Preferred } from "./preferred.ts"

/** What is open above the vault. */
export type Overlay =
  | { readonly kind: "cell"; readonly place: Place }
  | { readonly kind: "add" | "paste"; readonly from: Preferred }

interface Props {
  readonly overlay: Overlay
  readonly onClose: () => void
  readonly product: string | undefined
  readonly vault: VaultSecrets | undefined
  readonly slug: string
}

/** One module, so that the vault itself names no dialog. */
const VaultOverlay = ({ onClose, overlay, product, slug, vault }: Props) => {
  if (overlay.kind === "cell") return <CellDialog {...overlay.place} onClose={onClose} slug={slug} />
  const props = { onClose, preferred: { ...overlay.from, product: product ?? overlay.from.product }, slug }
  if (overlay.kind === "add") return <AddDialog {...props} />
  return <PasteDialog {...props} secrets={vault?.secrets ?? []} />
}

export default VaultOverlay
