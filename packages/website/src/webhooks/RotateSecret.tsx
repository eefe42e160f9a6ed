import { useState } from "react"
import { client } from "../api/client.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { type Overlap, OverlapField } from "../ui/Overlap.tsx"
import { ShownOnce } from "../ui/ShownOnce.tsx"

interface Props {
  readonly slug: string
  readonly webhook: string
  readonly onClose: () => void
}

/** Another secret for a webhook, beside which the old one signs for a while. */
const RotateSecret = ({ onClose, slug, webhook }: Props) => {
  const [overlap, setOverlap] = useState<Overlap>("86400")
  const rotate = useAction({
    act: () => client.webhooks.rotate({ params: { slug, webhook }, payload: { overlapSeconds: Number(overlap) } }),
    changes: [workspaceKey(slug, "webhooks")]
  })
  if (rotate.data !== undefined) {
    return <ShownOnce onClose={onClose} secret={rotate.data.secret} title="The new secret of your webhook" />
  }
  return (
    <FormDialog
      action="Rotate secret"
      description="Events are signed with both meanwhile. Give the new one to the receiver before the old one ends."
      doing={rotate}
      onClose={onClose}
      title="Rotate the secret"
    >
      <OverlapField label="The old secret signs, too, for" onChange={setOverlap} value={overlap} />
    </FormDialog>
  )
}

export default RotateSecret
