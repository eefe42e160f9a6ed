import { serviceUrl } from "../api/client.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { ShownOnce } from "../ui/ShownOnce.tsx"
import { Ways } from "../ui/Ways.tsx"
import { waysOf } from "./lines.ts"

interface Props {
  readonly product: string
  /** Of a token that was just made; it is shown this once. */
  readonly token?: string
  readonly onClose: () => void
}

/** How a product uses a token, and the token itself where it was just made. */
const TokenLines = ({ onClose, product, token }: Props) => {
  const ways = <Ways label="Where the product runs" ways={waysOf({ serviceUrl, product })} />
  return token === undefined ? (
    <Dialog
      description="A token is shown when it is made, and never again. Rotate one to have another."
      isWide
      onClose={onClose}
      title="Use a token"
    >
      {ways}
    </Dialog>
  ) : (
    <ShownOnce isWide onClose={onClose} secret={token} title="Your new deployment token">
      {ways}
    </ShownOnce>
  )
}

export default TokenLines
